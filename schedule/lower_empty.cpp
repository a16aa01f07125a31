#include "heddle/schedule/lower_empty.h"

#include "heddle/graph/interpret.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {
namespace {

bool is_empty(const Type& type) { return element_count(type) == 0; }

ValueId broadcast(Builder& build, ValueId one, const Type& type) {
  if (type.dims.empty()) return one;
  return build.emit(op_broadcast_in_dim, {one}, Attributes::of(BroadcastAttributes{type.dims, {}}));
}

// Every element of a reduction or contraction over nothing is the identity; the reference knows
// that of max and min.
ValueId identity(Builder& build, const Node& node, const Type& type) {
  const bool most = node.op == &op_reduce_max || node.op == &op_reduce_window_max;
  const bool least = node.op == &op_reduce_min || node.op == &op_reduce_window_min;
  if (!most && !least) {
    return build.filled(type, node.op == &op_reduce_prod || node.op == &op_reduce_all ? 1 : 0);
  }
  const Node over_nothing{.op = most ? &op_reduce_max : &op_reduce_min,
                          .attributes = Attributes::of(AxesAttributes{{0}})};
  const std::vector<Literal> nothing{literal_from_bytes({type.dtype, {0}}, {})};
  return broadcast(build, build.constant(interpret_node(over_nothing, nothing, nullptr)[0]), type);
}

std::optional<Values> lower(Builder& build, const Node& node, Ids operands, const Type& type) {
  switch (node.op->strict.pattern) {
    case Pattern::reduce:
    case Pattern::contract:
    case Pattern::window:
      return Values{identity(build, node, type)};
    case Pattern::gather:
      if (node.op == &op_dynamic_slice) return Values{operands[0]};  // of no axes
      if (node.op == &op_dynamic_update_slice) {
        return Values{is_empty(build.type(operands[2])) ? operands[0] : operands[2]};
      }
      return Values{build.filled(type, 0)};
    case Pattern::scatter:
      return Values{operands[0]};
    default:
      break;
  }
  if (node.op == &op_pad) return Values{broadcast(build, operands[1], type)};
  if (node.op == &op_concatenate) {
    Values kept;
    for (ValueId o : operands) {
      if (!is_empty(build.type(o))) kept.push_back(o);
    }
    return Values{build.emit(op_concatenate, kept, node.attributes)};
  }
  return std::nullopt;
}

}  // namespace

Program lower_empty(const Program& program) {
  return rewrite(program,
                 [](Builder& build, const Node& node, Ids operands) -> std::optional<Values> {
                   bool empty = false;
                   for (ValueId o : operands) empty |= is_empty(build.type(o));
                   if (!empty) return std::nullopt;
                   std::vector<Type> types;
                   for (ValueId o : operands) types.push_back(build.type(o));
                   const std::vector<Type> results = node.op->strict.infer(
                       {*node.op, types, node.attributes, nullptr, build.callees(), node.where});
                   if (results.size() != 1 || is_empty(results[0])) return std::nullopt;
                   return lower(build, node, operands, results[0]);
                 });
}

}  // namespace heddle
