// Kernels whose extents are symbols: compiled once, run on tensors of any extents. A plan keeps its
// numbers; only its kernels and the descriptors they are called with change.
#ifndef HEDDLE_SCHEDULE_GENERIC_H_
#define HEDDLE_SCHEDULE_GENERIC_H_

#include <optional>
#include <vector>

#include "heddle/schedule/plan.h"

namespace heddle {

struct GenericKernel {
  Kernel kernel;  ///< in ports: the kernel's own, then those of `constants` and of `shapes`
  std::vector<Literal> constants;
  std::vector<std::vector<std::int64_t>> shapes;  ///< ports that are there for their extents
  Kernel collapsed;  ///< what it stands for: port types and strides as numbers, axes collapsed
};

/// The kernel over symbols (see symbols.h), each stride a symbol too (t0, t1 ...) unless it is 0 or
/// the innermost 1. Nothing for a kernel from outside, or whose sums have an order.
std::optional<GenericKernel> generalize(const Kernel& kernel);

/// The plan with every kernel that can be in its generic form. Its steps have buffers of their own:
/// views of the plan's, with the collapsed extents. A slice, pad, broadcast or concatenate that is
/// alone becomes copies.
Plan generalize(const Plan& plan);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_GENERIC_H_
