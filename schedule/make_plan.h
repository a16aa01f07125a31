// From a program to its plan: groups, kernels, the order of steps, memory.
#ifndef HEDDLE_SCHEDULE_MAKE_PLAN_H_
#define HEDDLE_SCHEDULE_MAKE_PLAN_H_

#include "heddle/schedule/group.h"
#include "heddle/schedule/plan.h"

namespace heddle {

struct PlanOptions {
  /// Constant factors are packed by a last function "@prepare", which the plan has beside the
  /// program's.
  bool prepare = false;
  bool winograd = false;  ///< convolutions in this form where it suits (schedule/winograd.h)
  /// Ranges of leading axes are views of what they are part of, and parts that are joined along
  /// leading axes are computed where they belong. Buffers then lie anywhere, aligned for their
  /// elements alone.
  bool slices = false;
};

/// `program`: static, primitives and what `external` takes, no empty operands. A donated input is
/// updated in place by the output of the same name (equal types: ValueError else): directly where
/// every other read of it can come first, else by a copy at the end. A node that `external` has a
/// kernel for is a step of its own. The output "@fault" (lower_faults) is none of the plan's: it is
/// the flag of the step that computes it.
Plan make_plan(const Program& program, const Target& target,
               const ExternalKernels& external = nullptr, const PlanOptions& options = {});

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_MAKE_PLAN_H_
