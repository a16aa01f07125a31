// A plan as the tables of the runtime: the same description serves the running process and an
// exported artifact.
#ifndef HEDDLE_BACKENDS_DESCRIBE_H_
#define HEDDLE_BACKENDS_DESCRIBE_H_

#include <span>
#include <string>
#include <vector>

#include "heddle/backends/kernel_object.h"
#include "heddle/runtime/tables.h"
#include "heddle/schedule/plan.h"

namespace heddle {

/// What a caller of the function sees. Tensors whose names share what stands before their first dot
/// ("params.w1", "params.b1") are one tree: one C argument, the leaves one after the other in their
/// order. A donated input and the output that replaces it are one argument, in place. An output
/// with the name of an argument that stays is called "new_<name>".
SignatureDescription describe_signature(const FunctionPlan& function);

/// One feature set's plan with its compiled kernels, in the order of Plan::kernels.
struct CompiledPlan {
  const Plan* plan = nullptr;
  std::span<const KernelObject> objects;
};

/// `plans`: the same program for one or several feature sets, best first; they share the constants
/// of the first. The constants' bytes stay the plan's.
ArtifactDescription describe_artifact(const std::string& name, std::span<const CompiledPlan> plans);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_DESCRIBE_H_
