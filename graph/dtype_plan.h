// The dtypes of one call: what each operand is converted to, in what the call computes and
// accumulates, what comes out.
//
// 000's names for these: BINARY32 is ieee (each operation rounds; every float dtype has it),
// INT32_EXACT_CHECKED is checked, INT32_EXACT (no result can leave the dtype: relu) is wrapping,
// FLOATING is floating, EXACT_INTEGER exact_integer, SEQUENTIAL_* sequential, MAXIMUM, MINIMUM,
// ARGMAX and ARGMIN extremum. reduce_prod, cumsum, conv_general and scatter, sequential there, are
// not here: their order is fixed by the recipe, whatever the number of threads, and free to be
// another one than the elements'. Kernels that reorder refuse sequential plans.
#ifndef HEDDLE_GRAPH_DTYPE_PLAN_H_
#define HEDDLE_GRAPH_DTYPE_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/runtime/dtype.h"

namespace heddle {

enum class OperandKind : std::uint8_t;
enum class Arithmetic : std::uint8_t { ieee, wrapping, checked };
enum class Accumulation : std::uint8_t { none, floating, sequential, exact_integer, extremum };

struct OperandPlan {
  OperandKind role;
  std::optional<DType> dtype;  ///< the tensor's own; absent for a weak scalar
  DType convert_to;
  bool operator==(const OperandPlan&) const = default;
};

/// Compared by value. (000 calls it OperationPlan.)
struct DtypePlan {
  std::string operation;
  std::vector<OperandPlan> operands;
  DType compute = DType::f32;
  Arithmetic arithmetic = Arithmetic::ieee;
  Accumulation accumulation = Accumulation::none;
  std::optional<DType> accumulator;
  DType output = DType::f32;
  bool operator==(const DtypePlan&) const = default;
};

/// The plan, then the same plan with every other accumulator that a call can ask for: f32 and f64
/// where the operation has the option `accumulator` and sums floats. Nothing else differs.
std::vector<DtypePlan> accumulator_variants(const DtypePlan& plan);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_DTYPE_PLAN_H_
