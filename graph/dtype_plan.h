// The dtypes of one call: what each operand is converted to, in what the call computes and
// accumulates, what comes out.
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

/// Immutable, compared by value. (000 calls it OperationPlan.)
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

}  // namespace heddle

#endif  // HEDDLE_GRAPH_DTYPE_PLAN_H_
