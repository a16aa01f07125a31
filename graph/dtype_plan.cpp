#include "heddle/graph/dtype_plan.h"

#include <algorithm>

#include "heddle/graph/operation.h"

namespace heddle {
namespace {

bool takes_accumulator(const Operation& op) {
  for (const OperationSchema& s : op.surface.overloads) {
    for (const OptionSpec& o : s.options) {
      if (o.name == "accumulator" && o.kind == OptionKind::dtype) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<DtypePlan> accumulator_variants(const DtypePlan& plan) {
  std::vector<DtypePlan> plans{plan};
  const Operation* op = find_operation(plan.operation);
  const bool floats = plan.accumulation == Accumulation::floating;
  if (op == nullptr || !floats || !takes_accumulator(*op)) return plans;
  for (const DType other : {DType::f32, DType::f64}) {
    if (other == plan.accumulator) continue;
    plans.push_back(plan);
    plans.back().accumulator = other;
  }
  return plans;
}

}  // namespace heddle
