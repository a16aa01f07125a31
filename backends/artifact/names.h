// C names for the parts of an artifact.
#ifndef HEDDLE_BACKENDS_ARTIFACT_NAMES_H_
#define HEDDLE_BACKENDS_ARTIFACT_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "heddle/runtime/dtype.h"
#include "heddle/runtime/tables.h"

namespace heddle {

/// "params.w1" -> "params_w1": what stands behind "mlp_".
std::string c_spelling(std::string_view name);
/// The same as a name by itself, of a parameter: a word that C, C++ or a macro of their headers
/// has ("class", "linux", "I", whatever is spelled as macros are: "EOF"), that ends with "_t" or
/// that the library's own code has gets a final underscore; one that C keeps (_X, a__b) an x in
/// front.
std::string c_name(std::string_view name);
/// "PARAMS_W1".
std::string c_constant(std::string_view name);
/// "float", "int32_t"; f16 and bf16 are uint16_t, bool is uint8_t.
std::string_view c_type(DType dtype);

/// What lies in a tree, in C: "mlp_params_w1", and "mlp_params_count", or "mlp_params_bytes" when
/// its tensors differ in dtype.
std::string leaf_name(const std::string& library, const TensorDescription& tensor);
std::string size_name(const std::string& library, const SignatureDescription& signature,
                      std::uint32_t argument);

/// Whether its functions exist for tensors in a device's own buffers, too: "train_step_buffers".
bool takes_buffers(const ArtifactDescription& description);

/// Throws ValueError when the artifact's name cannot be one in C, and when two things have one name
/// there, with both: functions, leaves and sizes of trees, and the identifiers of `fixed`, the text
/// that every header begins with.
void check_names(const ArtifactDescription& description, std::string_view fixed);

/// Tensors (inputs, then outputs that lie elsewhere) of one argument.
std::vector<const TensorDescription*> tensors_of(const SignatureDescription& signature,
                                                 std::uint32_t argument);
/// True when the argument is one tensor of its name, not a tree.
bool is_single(const SignatureDescription& signature, std::uint32_t argument);
/// "float" when all tensors of the argument have one dtype, else "void".
std::string_view pointee_type(const SignatureDescription& signature, std::uint32_t argument);
/// Names of the C function's parameters: c_name, and "_in" or "_out" behind one that is taken.
std::vector<std::string> parameter_names(const SignatureDescription& signature);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_NAMES_H_
