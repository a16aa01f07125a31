// From plans and compiled kernels to the runtime's tables.
#ifndef HEDDLE_BACKENDS_ARTIFACT_DESCRIBE_H_
#define HEDDLE_BACKENDS_ARTIFACT_DESCRIBE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heddle/backends/kernel_object.h"
#include "heddle/runtime/tables.h"
#include "heddle/schedule/plan.h"

namespace heddle {

/// One feature set's plan and its kernels, in the order of Plan::kernels. Both outlive what is made
/// of them.
struct CompiledPlan {
  const Plan* plan = nullptr;
  std::span<const KernelObject> objects;
};

/// The tables' description; plans best first, all with the same functions. Kernels' `run` is null:
/// see bind_kernels.
///
/// C arguments: inputs in order, then trees, then outputs that share no input. A tree is all
/// tensors of a function whose names begin with the same word before a dot ("params.w1",
/// "params.w2"): one argument, in which they lie one behind the other in the order of the
/// signature, each aligned to its element. Function "@prepare" fills the prepared block: its
/// outputs lie there one behind the other, each at a multiple of 64. NotImplementedError for
/// symbolic extents; InternalError when plans and objects do not fit.
ArtifactDescription describe(std::string name, std::span<const CompiledPlan> plans);

/// Sets every kernel's entry by its symbol; CompileError names one that is not found.
void bind_kernels(ArtifactDescription& description,
                  const std::function<void*(const std::string&)>& find);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_DESCRIBE_H_
