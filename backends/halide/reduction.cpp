#include "heddle/backends/halide/reduction.h"

#include <algorithm>
#include <limits>

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/window.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {
namespace {

bool is_argument(const Node& node) { return node.op == &op_argmax || node.op == &op_argmin; }
bool is_sum(const Node& node) {
  return node.op == &op_reduce_sum || node.op == &op_reduce_window_sum ||
         node.op->strict.pattern == Pattern::contract;
}
bool is_max(const Node& node) {
  return node.op == &op_reduce_max || node.op == &op_reduce_window_max;
}
bool is_min(const Node& node) {
  return node.op == &op_reduce_min || node.op == &op_reduce_window_min;
}

// Windows and convolutions reduce no axis of their operand.
bool has_axes(const Node& node) {
  return node.op->strict.pattern == Pattern::reduce || node.op == &op_dot_general;
}

// A product under a floating-point sum may become an FMA, as in a contraction.
Expr multiply_add(const Expr& total, const Expr& a, const Expr& b) {
  if (total.type().is_float()) return total + a * b;
  return exact_add(total, exact_mul(a, b));
}

}  // namespace

Expr lowest(Halide::Type t) {
  return t.is_float() ? Halide::Internal::make_const(t, -std::numeric_limits<double>::infinity())
                      : t.min();
}
Expr highest(Halide::Type t) {
  return t.is_float() ? Halide::Internal::make_const(t, std::numeric_limits<double>::infinity())
                      : t.max();
}

Reduction::Reduction(Elements& elements, ValueId value)
    : elements_(&elements),
      value_(value),
      node_(elements.maker(value)),
      kept_(elements.extents(node_->results[0])),
      reduced_(elements.extents(reduced_dims(elements.body(), *node_))),
      axes_(has_axes(*node_) ? reduced_axes(*node_) : std::vector<std::int64_t>{}) {}

State Reduction::initial() const {
  const Halide::Type t = expression_type(elements_->type(node_->operands[0]).dtype);
  if (is_sum(*node_)) return {Halide::Internal::make_zero(t)};
  if (node_->op == &op_reduce_prod) return {Halide::Internal::make_one(t)};
  if (is_max(*node_)) return {lowest(t)};
  if (is_min(*node_)) return {highest(t)};
  if (node_->op == &op_reduce_any) return {Halide::Internal::const_false()};
  if (node_->op == &op_reduce_all) return {Halide::Internal::const_true()};
  // Worse than any element: its index lies past all others.
  const Expr last = Expr(std::numeric_limits<std::int32_t>::max());
  return {node_->op == &op_argmax ? lowest(t) : highest(t), last};
}

Index Reduction::operand_index(const Index& kept, const Index& r) const {
  Index index;
  std::size_t k = 0, j = 0;
  for (std::size_t a = 0; a < kept.size() + r.size(); ++a) {
    const bool is_reduced = std::count(axes_.begin(), axes_.end(), static_cast<std::int64_t>(a));
    index.push_back(is_reduced ? r[j++] : kept[k++]);
  }
  return index;
}
Expr Reduction::operand(const Index& kept, const Index& r) const {
  return elements_->at(node_->operands[0], operand_index(kept, r));
}

State Reduction::step_conv(const State& state, const Index& kept, const Index& r) const {
  const Dims& taps = elements_->type(node_->operands[1]).dims;
  const std::int64_t groups = node_->attributes.as<ConvAttributes>().groups;
  Expr channel = r[0];
  if (groups > 1) {
    const Expr group = kept[1] / constant(taps[0].constant() / groups);
    channel = group * constant(taps[1].constant()) + channel;
  }
  const Expr x = conv_element(*elements_, *node_, kept[0], channel,
                              Index(kept.begin() + 2, kept.end()), Index(r.begin() + 1, r.end()));
  Index tap{kept[1]};
  tap.insert(tap.end(), r.begin(), r.end());
  return {multiply_add(state[0], x, elements_->at(node_->operands[1], tap))};
}

State Reduction::step(const State& state, const Index& kept, const Index& r) const {
  if (node_->op == &op_conv_general) return step_conv(state, kept, r);
  if (node_->op->strict.pattern == Pattern::window) {
    return combine(state, {window_element(*elements_, *node_, kept, r, initial()[0])});
  }
  if (node_->op == &op_dot_general) {
    const DotShape s = dot_shape(elements_->body(), *node_);
    Index lhs(s.batch.size() + s.rows.size() + s.inner.size());
    Index rhs(s.batch.size() + s.columns.size() + s.inner.size());
    auto put = [](Index& to, const std::vector<std::int64_t>& axes, auto from) {
      for (std::int64_t a : axes) to[static_cast<std::size_t>(a)] = *from++;
    };
    const auto b = kept.begin(), m = b + static_cast<std::ptrdiff_t>(s.batch.size());
    put(lhs, s.lhs_batch, b), put(rhs, s.rhs_batch, b);
    put(lhs, s.lhs_rows, m);
    put(rhs, s.rhs_columns, m + static_cast<std::ptrdiff_t>(s.rows.size()));
    put(lhs, s.lhs_inner, r.begin()), put(rhs, s.rhs_inner, r.begin());
    return {multiply_add(state[0], elements_->at(node_->operands[0], lhs),
                         elements_->at(node_->operands[1], rhs))};
  }
  if (is_argument(*node_)) {
    return combine(state, {operand(kept, r), Halide::cast<std::int32_t>(r[0])});
  }
  const ValueId x = node_->operands[0];
  const Node* maker = elements_->maker(x);
  const bool product = maker != nullptr && maker->op == &op_mul && !elements_->staged(x) &&
                       !is_narrow(elements_->type(x).dtype);  // whose products are rounded
  if (is_sum(*node_) && product) {
    const Index i = operand_index(kept, r);
    return {multiply_add(state[0], elements_->at(maker->operands[0], i),
                         elements_->at(maker->operands[1], i))};
  }
  return combine(state, {operand(kept, r)});
}

// The first of the best elements; a NaN is better than any number.
State Reduction::better(const State& a, const State& b) const {
  const bool most = node_->op == &op_argmax;
  const Expr above = most ? less(a[0], b[0]) : less(b[0], a[0]);
  const Expr a_nan = not_a_number(a[0]), b_nan = not_a_number(b[0]);
  const Expr tie = equal(a[0], b[0]) || (a_nan && b_nan);
  const Expr take_b = (above && !a_nan) || (b_nan && !a_nan) || (tie && b[1] < a[1]);
  return {select(take_b, b[0], a[0]), select(take_b, b[1], a[1])};
}

State Reduction::combine(const State& a, const State& b) const {
  if (is_argument(*node_)) return better(a, b);
  if (is_sum(*node_)) return {exact_add(a[0], b[0])};
  if (node_->op == &op_reduce_prod) return {exact_mul(a[0], b[0])};
  if (is_max(*node_)) return {larger(b[0], a[0])};
  if (is_min(*node_)) return {smaller(b[0], a[0])};
  if (node_->op == &op_reduce_any) return {a[0] || b[0]};
  return {a[0] && b[0]};
}

Expr Reduction::result(const State& state) const {
  return is_argument(*node_) ? state[1] : rounded(state[0], elements_->type(value_).dtype);
}

Expr written_out(Elements& elements, ValueId value, const Index& kept) {
  constexpr std::int64_t kMost = 64;
  const Reduction reduction(elements, value);
  std::vector<std::int64_t> extents;
  for (const Extent& e : reduction.reduced()) extents.push_back(e.number());
  const std::int64_t count = heddle::product(extents);
  internal_check(count <= kMost, "a long reduction inside a kernel needs a stage");
  State state = reduction.initial();
  for (std::int64_t i = 0; i < count; ++i) {
    Index r(extents.size());
    std::int64_t rest = i;
    for (std::size_t a = r.size(); a-- > 0; rest /= extents[a]) r[a] = constant(rest % extents[a]);
    state = reduction.step(state, kept, r);
  }
  return reduction.result(state);
}

}  // namespace heddle::halide
