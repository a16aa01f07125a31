// Sums of many terms in the form that kernels are good at: derivatives of what is used in parts, or
// again and again, have them.
#ifndef HEDDLE_SCHEDULE_LOWER_SUMS_H_
#define HEDDLE_SCHEDULE_LOWER_SUMS_H_

#include "heddle/graph/program.h"

namespace heddle {

/// Terms that zeros pad along one axis, and that lie side by side, become one concatenation:
/// gradients of slices. Products over their operands' first axes, which are short, become one
/// product of what the operands are joined along them: gradients of weights used in every step.
/// Zeros may have another sign, and products add up in another order.
Program lower_sums(const Program& program);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_LOWER_SUMS_H_
