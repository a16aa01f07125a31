#include "heddle/schedule/lower_picks.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {
namespace {

// Shorter rows are added up as fast.
constexpr std::int64_t kShortRow = 64;
// Operations that stand between what is in memory and the element, at most.
constexpr int kDeepest = 8;

bool is_elementwise(const Node* node) {
  return node != nullptr && node->op->strict.pattern == Pattern::elementwise;
}
bool is_broadcast(const Node* node) { return node != nullptr && node->op == &op_broadcast_in_dim; }

// One sum of rows [rows, columns], in the function that is being made.
class Pick {
 public:
  Pick(Builder& build, ValueId rows) : build_(build), dims_(build.type(rows).dims) {}

  std::optional<ValueId> of(ValueId rows) {
    const Node* choice = build_.definition(rows);
    if (choice == nullptr || choice->op != &op_select) return std::nullopt;
    const Values operands = choice->operands;
    const std::optional<ValueId> label = label_of(operands[0]);
    if (!label || !emit::is_zero(build_, operands[2]) || !can_read(operands[1], kDeepest)) {
      return std::nullopt;
    }
    label_ = *label;
    const ValueId element = read(operands[1]);
    const ValueId is_inside =
        emit::logical_and(build_, emit::compare(build_, "ge", label_, 0),
                          emit::compare(build_, "lt", label_, double(columns())));
    return emit::select(build_, is_inside, element, emit::zeros_like(build_, element));
  }

 private:
  std::int64_t rows() const { return dims_[0].constant(); }
  std::int64_t columns() const { return dims_[1].constant(); }

  // The label of each row, of "column == label".
  std::optional<ValueId> label_of(ValueId predicate) const {
    const Node* equal = build_.definition(predicate);
    if (equal == nullptr || equal->op != &op_compare ||
        equal->attributes.as<CompareAttributes>().direction != "eq")
      return std::nullopt;
    for (std::size_t side : {0, 1}) {
      const Node* column = build_.definition(equal->operands[side]);
      const Node* label = build_.definition(equal->operands[1 - side]);
      if (column != nullptr && column->op == &op_iota && is_number_of_row(label) &&
          column->attributes.as<IotaAttributes>().axis == 1 &&
          build_.type(label->operands[0]).dtype == DType::i32)
        return label->operands[0];
    }
    return std::nullopt;
  }
  // One number for all rows, stretched, is none of a row.
  bool is_number_of_row(const Node* node) const {
    return is_broadcast(node) &&
           node->attributes.as<BroadcastAttributes>().axes == std::vector<std::int64_t>{0} &&
           build_.type(node->operands[0]).dims[0] == dims_[0];
  }
  bool is_constant(const Node* node) const {
    return is_broadcast(node) && build_.type(node->operands[0]).rank() == 0;
  }

  // A product with what inputs and constants make of it: its kernel stores the result.
  bool is_product(ValueId v, int depth) const {
    const Node* node = build_.definition(v);
    if (node == nullptr || depth == 0) return false;
    if (node->op == &op_dot_general) return true;
    if (!is_elementwise(node)) return false;
    const auto is_part = [&](ValueId o) { return is_product(o, depth - 1); };
    return std::any_of(node->operands.begin(), node->operands.end(), is_part) &&
           std::all_of(node->operands.begin(), node->operands.end(), [&](ValueId o) {
             const Node* maker = build_.definition(o);
             return maker == nullptr || is_part(o) ||
                    (is_broadcast(maker) && build_.definition(maker->operands[0]) == nullptr) ||
                    is_constant(maker);
           });
  }
  bool is_in_memory(ValueId v) const {
    return build_.definition(v) == nullptr || is_product(v, kDeepest);
  }

  bool can_read(ValueId v, int depth) const {
    if (is_in_memory(v)) return true;
    const Node* node = build_.definition(v);
    if (is_number_of_row(node) || is_constant(node)) return true;
    return is_elementwise(node) && depth > 0 &&
           std::all_of(node->operands.begin(), node->operands.end(),
                       [&](ValueId o) { return can_read(o, depth - 1); });
  }
  // The element of each row of `v` at its label.
  ValueId read(ValueId v) {
    if (is_in_memory(v)) {
      const ValueId all = emit::reshape(build_, v, {rows() * columns()});
      return emit::gather(build_, all, position(), {.axis = 0, .mode = "clip"});
    }
    const Node node = *build_.definition(v);  // what is added moves it
    if (is_number_of_row(&node)) return node.operands[0];
    if (is_broadcast(&node)) {
      return emit::broadcast_scalar(build_, node.operands[0], {dims_[0]});
    }
    Values operands;
    for (ValueId o : node.operands) operands.push_back(read(o));
    return build_.emit(*node.op, operands, node.attributes);
  }
  ValueId position() {
    const ValueId row = emit::iota(build_, DType::i32, {dims_[0]}, 0);
    return emit::add(build_, emit::mul(build_, row, double(columns())), label_);
  }

  Builder& build_;
  const Dims dims_;
  ValueId label_{};
};

bool sums_long_rows(const Function& f, const Node& node) {
  if (node.op != &op_reduce_sum) return false;
  const Type& type = f.type(node.operands[0]);
  return type.rank() == 2 && node.attributes.as<AxesAttributes>().axes == emit::Axes{1} &&
         type.dims[1].constant() >= kShortRow &&
         element_count(type) <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

Program lower_picks(const Program& program) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const Program before(functions);
    functions.push_back(rewrite(
        f, &before, [&](Builder& build, const Node& node, Ids operands) -> std::optional<Values> {
          if (!sums_long_rows(f, node)) return std::nullopt;
          const std::optional<ValueId> element = Pick(build, operands[0]).of(operands[0]);
          return element ? std::optional(Values{*element}) : std::nullopt;
        }));
  }
  return Program(std::move(functions));
}

}  // namespace heddle
