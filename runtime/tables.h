// The tables of core/abi.h, described by plain C++ values and built from them: for programs that
// run in the process that compiled them, and for the writer of exported artifacts.
#ifndef HEDDLE_RUNTIME_TABLES_H_
#define HEDDLE_RUNTIME_TABLES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/runtime/core/abi.h"
#include "heddle/runtime/dtype.h"

namespace heddle {

/// A tensor of a function; dense, row-major.
struct TensorDescription {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> dims;
  bool donated = false;  ///< inputs: overwritten by the output that shares its storage
  int shares = -1;       ///< outputs: number of that donated input
  std::uint32_t argument =
      0;  ///< the C argument that holds it; set by assign_arguments, or by hand for trees
  std::uint64_t offset = 0;  ///< bytes within that argument
};

/// One pointer of the C function.
struct ArgumentDescription {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t access = HD_IN;  ///< HD_IN, HD_OUT or both
  std::uint32_t alignment = 1;
};

struct SignatureDescription {
  std::string name;
  std::string doc;
  std::vector<ArgumentDescription> arguments;
  std::vector<TensorDescription> inputs, outputs;
};

/// One C argument per tensor: inputs in order, then the outputs that share no input.
void assign_arguments(SignatureDescription& signature);

struct BufferDescription {
  std::uint8_t space = HD_ARENA;  ///< HD_ARGUMENT, HD_CONSTANT, HD_PREPARED, HD_ARENA
  std::uint32_t index = 0;        ///< tensor of the signature (inputs, then outputs) or constant
  std::uint64_t offset = 0;       ///< bytes
  DType dtype = DType::f32;
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;  ///< elements; empty: dense row-major
};

struct StepDescription {
  std::uint16_t kind = HD_STEP_KERNEL;
  std::uint16_t flags = 0;
  std::vector<std::uint32_t> inputs, outputs;  ///< buffers of the function
  std::uint32_t kernel = 0;
  std::uint32_t wave = 0;
  std::uint32_t sub[2] = {0, 0};
  std::string source;  ///< "dot_general model.cpp:41"
  std::int32_t fault = -1;
  std::vector<std::uint32_t> nodes;
};

struct FunctionDescription {
  std::vector<BufferDescription> buffers;
  std::vector<StepDescription> steps;
  std::uint64_t arena_bytes = 0;
};

struct KernelDescription {
  std::string name;            ///< also the symbol's stem
  hd_kernel_fn run = nullptr;  ///< stays null in tables that are only written
  std::uint64_t flops = 0, bytes = 0, scratch_once = 0, scratch_task = 0, device_bytes = 0;
};

/// One per CPU feature set; `functions` in the order of the signatures, then sub-plans.
struct PlanDescription {
  std::string features;
  std::vector<FunctionDescription> functions;
  std::vector<KernelDescription> kernels;
  std::uint64_t prepared_bytes = 0;
  const hd_device* device = nullptr;
};

/// Bytes that outlive the tables, aligned for their elements.
struct ConstantDescription {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

struct ArtifactDescription {
  std::string name;
  std::vector<SignatureDescription> signatures;
  std::vector<PlanDescription> plans;  ///< best first
  std::vector<ConstantDescription> constants;
  int prepare = -1;  ///< the signature that fills the prepared block
};

/// Owns tables built from a description, with their checksum. Instances hold pointers into it.
class ArtifactTables {
 public:
  explicit ArtifactTables(const ArtifactDescription& description);
  ~ArtifactTables();
  ArtifactTables(ArtifactTables&&) noexcept;
  ArtifactTables& operator=(ArtifactTables&&) noexcept;
  const hd_artifact& artifact() const;

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_TABLES_H_
