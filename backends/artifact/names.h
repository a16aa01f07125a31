// C names for the parts of an artifact.
#ifndef HEDDLE_BACKENDS_ARTIFACT_NAMES_H_
#define HEDDLE_BACKENDS_ARTIFACT_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "heddle/runtime/dtype.h"
#include "heddle/runtime/tables.h"

namespace heddle {

/// "params.w1" -> "params_w1"; a keyword of C or C++ gets a final underscore, a leading digit a
/// leading one.
std::string c_name(std::string_view name);
/// "PARAMS_W1".
std::string c_constant(std::string_view name);
/// "float", "int32_t"; f16 and bf16 are uint16_t, bool is uint8_t.
std::string_view c_type(DType dtype);

/// Throws ValueError when the artifact's name is no C identifier, or a function has the name of a
/// generated one.
void check_names(const ArtifactDescription& description);

/// Tensors (inputs, then outputs that lie elsewhere) of one argument.
std::vector<const TensorDescription*> tensors_of(const SignatureDescription& signature,
                                                 std::uint32_t argument);
/// True when the argument is one tensor of its name, not a tree.
bool is_single(const SignatureDescription& signature, std::uint32_t argument);
/// "float" when all tensors of the argument have one dtype, else "void".
std::string_view pointee_type(const SignatureDescription& signature, std::uint32_t argument);
/// Names of the C function's parameters, made unique.
std::vector<std::string> parameter_names(const SignatureDescription& signature);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_NAMES_H_
