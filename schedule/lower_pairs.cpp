#include "heddle/schedule/lower_pairs.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/node_key.h"
#include "heddle/graph/passes/rewrite.h"
#include "heddle/schedule/pair_trees.h"

namespace heddle {
namespace {

using emit::Axes;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

bool is_identity(const Axes& permutation) {
  return std::is_sorted(permutation.begin(), permutation.end());
}

Axes inverse(const Axes& permutation) {
  Axes result(permutation.size());
  for (std::size_t a = 0; a < permutation.size(); ++a) {
    result[at(permutation[a])] = static_cast<std::int64_t>(a);
  }
  return result;
}

// How a zero of the wrong sign in an operand shows in the result.
enum class ZeroSign : std::uint8_t { passes, vanishes, matters };

ZeroSign zero_sign(const Node& node, std::size_t operand) {
  if (node.op == &op_abs) return ZeroSign::vanishes;
  if (node.op == &op_mul && node.operands[0] == node.operands[1]) return ZeroSign::vanishes;
  const bool linear = node.op == &op_neg || node.op == &op_add || node.op == &op_sub ||
                      node.op == &op_mul || node.op == &op_reduce_sum ||
                      node.op == &op_broadcast_in_dim || (node.op == &op_div && operand == 0);
  return linear ? ZeroSign::passes : ZeroSign::matters;
}

// Makes each node once, and finds trees with their axes in another order.
class Pairs {
 public:
  explicit Pairs(Builder& build) : build_(build) {}

  Values copy(const Node& node, Ids operands) {
    if (node.op->strict.traits & kHasSideEffect) {
      return build_.add(*node.op, operands, node.attributes, node.where);
    }
    if (node.op == &op_broadcast_in_dim) return {broadcast(node, operands[0])};
    auto [it, fresh] = known_.try_emplace(key_of(node, operands));
    if (fresh) {
      it->second = node.literal ? Values{build_.constant(*node.literal, node.where)}
                                : build_.add(*node.op, operands, node.attributes, node.where);
    }
    return it->second;
  }

  ValueId sum(ValueId x, const PairSum& how) {
    Axes order = how.outer;
    order.insert(order.end(), how.kept.begin(), how.kept.end());
    order.insert(order.end(), how.few.begin(), how.few.end());
    ValueId v = transposed(x, order, false);
    const auto rank = static_cast<std::int64_t>(how.outer.size() + how.kept.size());
    Axes few(how.few.size());
    std::iota(few.begin(), few.end(), rank);
    v = sum_of(sum_of(v, few), emit::all_axes(how.outer.size()));
    return how.total ? sum_of(v, emit::all_axes(how.kept.size())) : v;
  }

 private:
  ValueId make(const Operation& op, Values operands, Attributes attributes = {}) {
    Node node{.op = &op, .operands = std::move(operands), .attributes = std::move(attributes)};
    return copy(node, node.operands)[0];
  }

  ValueId sum_of(ValueId x, const Axes& axes) {
    if (axes.empty()) return x;
    if (const auto y = negated(x)) return make(op_neg, {sum_of(*y, axes)});
    if (const auto y = doubled(x)) {
      const ValueId half = sum_of(*y, axes);
      return make(op_add, {half, half});
    }
    return make(op_reduce_sum, {x}, Attributes::of(AxesAttributes{axes}));
  }

  // An operand without the axes of extent 1 that are stretched: a value broadcast from either side
  // is then the same value.
  ValueId broadcast(const Node& node, ValueId x) {
    auto a = node.attributes.as<BroadcastAttributes>();
    Dims dims;
    Axes axes;
    for (std::size_t i = 0; i < a.axes.size(); ++i) {
      const Dim& d = build_.type(x).dims[i];
      if (d == Dim(1) && a.dims[at(a.axes[i])] != d) continue;
      dims.push_back(d);
      axes.push_back(a.axes[i]);
    }
    return spread(reshaped(x, dims), {a.dims, axes});
  }
  ValueId reshaped(ValueId x, const Dims& dims) {
    if (build_.type(x).dims == dims) return x;
    const Node* maker = build_.definition(x);
    if (maker && maker->op == &op_reshape) return reshaped(maker->operands[0], dims);
    return make(op_reshape, {x}, Attributes::of(ReshapeAttributes{dims}));
  }
  ValueId spread(ValueId x, const BroadcastAttributes& a) {
    const Attributes attributes = Attributes::of(a);
    Node node{.op = &op_broadcast_in_dim, .operands = {x}, .attributes = attributes};
    auto [it, fresh] = known_.try_emplace(key_of(node, node.operands));
    if (fresh) it->second = build_.add(*node.op, node.operands, attributes);
    return it->second[0];
  }

  std::optional<ValueId> negated(ValueId v) const {
    const Node* maker = build_.definition(v);
    return maker && maker->op == &op_neg ? std::optional(maker->operands[0]) : std::nullopt;
  }

  // Twice a sum is the sum of what is twice as much, bit for bit.
  std::optional<ValueId> doubled(ValueId v) const {
    const Node* maker = build_.definition(v);
    const bool twice = maker && maker->op == &op_add && maker->operands[0] == maker->operands[1];
    return twice ? std::optional(maker->operands[0]) : std::nullopt;
  }

  // Axis a of the result is axis order[a] of v, which may be all as they are: then too are signs
  // moved. exact: else zeros may have the other sign.
  ValueId transposed(ValueId v, const Axes& order, bool exact) {
    const auto key = std::tuple(v, order, exact);
    if (auto it = turned_.find(key); it != turned_.end()) return it->second;
    const ValueId result = turn(v, order, exact);
    return turned_[key] = result;
  }

  ValueId turn(ValueId v, const Axes& order, bool exact) {
    const Node* maker = build_.definition(v);
    if (maker == nullptr || maker->literal || maker->results.size() != 1) return moved(v, order);
    const Node node = *maker;
    if (node.op->strict.pattern == Pattern::elementwise) return turn_elements(node, order, exact);
    if (node.op == &op_broadcast_in_dim) return turn_broadcast(node, order, exact);
    if (node.op == &op_iota) return turn_iota(node, order);
    if (node.op->strict.pattern == Pattern::reduce && node.attributes.find("axes")) {
      return turn_reduction(node, order, exact);
    }
    return moved(v, order);
  }

  ValueId moved(ValueId v, const Axes& order) {
    if (is_identity(order)) return v;
    return make(op_transpose, {v}, Attributes::of(TransposeAttributes{order}));
  }

  bool exactly(const Node& node, std::size_t operand, bool exact) const {
    const ZeroSign sign = zero_sign(node, operand);
    return sign == ZeroSign::matters || (sign == ZeroSign::passes && exact);
  }

  ValueId turn_elements(const Node& node, const Axes& order, bool exact) {
    Values operands;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      operands.push_back(transposed(node.operands[i], order, exactly(node, i, exact)));
    }
    return signed_elements(node, operands, exact);
  }

  // Signs move out as far as they go, so that what is equal but for its sign is found.
  ValueId signed_elements(const Node& node, const Values& x, bool exact) {
    const auto again = [&](const Values& operands) {
      return make(*node.op, operands, node.attributes);
    };
    const std::optional<ValueId> first = negated(x[0]);
    if (!is_floating(build_.type(x[0]).dtype)) return again(x);
    if (x.size() == 1) {
      if (node.op == &op_neg && first) return *first;
      return again(node.op == &op_abs && first ? Values{*first} : x);
    }
    const std::optional<ValueId> second = negated(x[1]);
    if (node.op == &op_mul || node.op == &op_div) {
      if (!first && !second) return again(x);
      const ValueId size = again({first.value_or(x[0]), second.value_or(x[1])});
      return first && second ? size : make(op_neg, {size});
    }
    if (exact || (node.op != &op_add && node.op != &op_sub)) return again(x);
    if (first && second) return make(op_neg, {again({*first, *second})});
    const Node swapped{.op = node.op, .operands = {x[1], x[0]}, .attributes = node.attributes};
    if (node.op == &op_sub && known_.contains(key_of(swapped, swapped.operands))) {
      return make(op_neg, {again(swapped.operands)});
    }
    return again(x);
  }

  ValueId turn_broadcast(const Node& node, const Axes& order, bool exact) {
    auto a = node.attributes.as<BroadcastAttributes>();
    const Axes place = inverse(order);
    Axes inner = emit::all_axes(a.axes.size()), axes;
    std::sort(inner.begin(), inner.end(), [&](std::int64_t i, std::int64_t j) {
      return place[at(a.axes[at(i)])] < place[at(a.axes[at(j)])];
    });
    for (std::int64_t i : inner) axes.push_back(place[at(a.axes[at(i)])]);
    Dims dims;
    for (std::int64_t o : order) dims.push_back(a.dims[at(o)]);
    const ValueId x = transposed(node.operands[0], inner, exact);
    if (const auto y = negated(x)) return make(op_neg, {spread(*y, {dims, axes})});
    return spread(x, {dims, axes});
  }

  ValueId turn_iota(const Node& node, const Axes& order) {
    auto a = node.attributes.as<IotaAttributes>();
    const Dims dims = a.dims;
    for (std::size_t i = 0; i < order.size(); ++i) a.dims[i] = dims[at(order[i])];
    a.axis = inverse(order)[at(a.axis)];
    return make(op_iota, {}, Attributes::of(a));
  }

  // What is kept in the new order, then what is reduced.
  ValueId turn_reduction(const Node& node, const Axes& order, bool exact) {
    const Axes reduced = node.attributes.as<AxesAttributes>().axes;
    const std::size_t rank = build_.type(node.operands[0]).rank();
    const Axes kept = emit::other_axes(rank, reduced);
    Axes inner, axes;
    for (std::int64_t o : order) inner.push_back(kept[at(o)]);
    for (std::int64_t r : reduced) {
      axes.push_back(static_cast<std::int64_t>(inner.size()));
      inner.push_back(r);
    }
    const ValueId x = transposed(node.operands[0], inner, exactly(node, 0, exact));
    if (node.op == &op_reduce_sum && !exact) return sum_of(x, axes);
    return make(*node.op, {x}, Attributes::of(AxesAttributes{axes}));
  }

  Builder& build_;
  std::map<NodeKey, Values> known_;
  std::map<std::tuple<ValueId, Axes, bool>, ValueId> turned_;
};

Function lower_pairs(const Function& f, const Program& callees) {
  const auto trees = pair_trees(f);
  std::map<ValueId, PairSum> sums;
  for (const Node& node : f.nodes) {
    if (const auto how = pair_sum(f, node, trees)) sums[node.results[0]] = *how;
  }
  if (sums.empty()) return f;
  std::optional<Pairs> pairs;
  return rewrite(f, &callees,
                 [&](Builder& build, const Node& node, Ids operands) -> std::optional<Values> {
                   if (!pairs) pairs.emplace(build);
                   const auto it = node.results.empty() ? sums.end() : sums.find(node.results[0]);
                   if (it == sums.end()) return pairs->copy(node, operands);
                   return Values{pairs->sum(operands[0], it->second)};
                 });
}

}  // namespace

Program lower_pairs(const Program& program) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const Program before(functions);
    functions.push_back(lower_pairs(f, before));
  }
  return Program(std::move(functions));
}

}  // namespace heddle
