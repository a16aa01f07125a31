// The front of the spine: a program, stage by stage, down to its plan.
#ifndef HEDDLE_BACKENDS_LOWER_H_
#define HEDDLE_BACKENDS_LOWER_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/graph/program.h"
#include "heddle/schedule/plan.h"

namespace heddle {

/// Called after each stage with its name, the seconds it took, and a function that gives the
/// stage's result as text.
using StageObserver = std::function<void(std::string_view stage, double seconds,
                                         const std::function<std::string()>& text)>;

struct Lowered {
  Program
      program;  ///< what the plan computes: primitives only; Step::nodes index its functions' nodes
  Plan plan;
};

/// Stages in order: input, expand, empty, canonicalize, fold, cse, dce, faults, groups, plan, kernels. Each
/// result is verified in builds with HEDDLE_VERIFY. NotImplementedError names a dtype, an extent or
/// an operation that the carrier does not compile.
Lowered lower(const Program& program, const Target& target,
              const StageObserver& observer = nullptr);
std::vector<std::string> stage_names();

/// What the environment asks for: HEDDLE_DUMP=all or a list of stages prints their texts to stderr,
/// HEDDLE_TIME=1 their seconds.
StageObserver environment_observer();

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_LOWER_H_
