// What a derivative rule sees and returns. Rules emit strict operations through the builder; they
// never run anything and never see a backend. An absent value is zero: it is not computed.
#ifndef HEDDLE_GRAPH_AD_RULES_H_
#define HEDDLE_GRAPH_AD_RULES_H_

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "heddle/graph/builder.h"

namespace heddle {

using MaybeValue = std::optional<ValueId>;
using MaybeValues = std::vector<MaybeValue>;

/// Forward mode of one node: `primal_in` and `primal_out` are its operands and results as values of
/// `build`.
struct RuleContext {
  Builder& build;
  const Node& node;
  Ids primal_in, primal_out;
};
/// One tangent per operand (absent: zero) -> one tangent per result. A tangent has its primal's
/// type.
using Linearize = MaybeValues (*)(RuleContext&, std::span<const MaybeValue> tangents);

/// An operand of a linear node: known when the transposed program runs ...
struct Residual {
  ValueId value;
};
/// ... or the linear flow itself, whose value does not exist: only its type does.
struct Linear {
  Type type;
};
using TransposeInput = std::variant<Residual, Linear>;

struct TransposeContext {
  Builder& build;
  const Node& node;  ///< its operand ids are of the linear function: use `inputs`
  std::span<const TransposeInput> inputs;

  bool is_linear(std::size_t operand) const {
    return std::holds_alternative<Linear>(inputs[operand]);
  }
  /// UnsupportedAdError when the operand is linear: its value cannot be used.
  ValueId residual(std::size_t operand) const;
  Type type(std::size_t operand) const;
};
/// One cotangent per result (absent: zero; never all absent) -> one per operand (absent for
/// residual operands and for zero).
using Transpose = MaybeValues (*)(TransposeContext&, std::span<const MaybeValue> cotangents);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_AD_RULES_H_
