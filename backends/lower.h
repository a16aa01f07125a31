// The front of the spine: a program, stage by stage, down to its plan.
#ifndef HEDDLE_BACKENDS_LOWER_H_
#define HEDDLE_BACKENDS_LOWER_H_

#include <string>
#include <vector>

#include "heddle/backends/pipeline.h"
#include "heddle/schedule/plan.h"

namespace heddle {

struct Lowered {
  Program
      program;  ///< what the plan computes: primitives only; Step::nodes index its functions' nodes
  Plan plan;
};

/// Stages in order. To the form that the others expect: input, expand, empty, windows, faults. The
/// nine passes: canonicalize, shape_inference, constant_folding, common_subexpression_elimination,
/// dead_node_elimination, layout_assignment, operator_fusion, memory_planning, backend_lowering;
/// before dead_node_elimination comes pairs. NotImplementedError names an extent or an operation
/// that the carrier does not compile, CompileError a dtype that it has not.
Lowered lower(const Program& program, const Target& target, const StageObserver& observer = nullptr,
              bool generic = false);
std::vector<std::string> stage_names();

/// What the environment asks for: HEDDLE_DUMP=all or a list of stages prints their texts to stderr,
/// HEDDLE_TIME=1 their seconds.
StageObserver environment_observer();

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_LOWER_H_
