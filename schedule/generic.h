// Kernels whose extents are symbols: compiled once, run on tensors of any extents. A plan keeps its
// numbers; only its kernels and the descriptors they are called with change.
#ifndef HEDDLE_SCHEDULE_GENERIC_H_
#define HEDDLE_SCHEDULE_GENERIC_H_

#include <optional>
#include <vector>

#include "heddle/schedule/plan.h"

namespace heddle {

struct GenericKernel {
  Kernel kernel;  ///< in ports: the kernel's own, then one for each of `constants`
  std::vector<Literal> constants;
  Kernel collapsed;  ///< what it stands for: port types and strides as numbers, axes collapsed
};

/// The kernel with each iteration dimension a symbol (s0, s1 ...), each constant an input, and each
/// stride a symbol (t0, t1 ...) unless it is 0 or the innermost 1. Nothing when an operation of
/// the body has numbers that follow from extents (a slice, a window ...).
std::optional<GenericKernel> generalize(const Kernel& kernel);

/// The plan with every kernel that can be in its generic form. Its steps have buffers of their own:
/// views of the plan's, with the collapsed extents. A slice, pad, broadcast or concatenate that is
/// alone becomes copies.
Plan generalize(const Plan& plan);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_GENERIC_H_
