#include "heddle/schedule/axis_classes.h"

#include <algorithm>
#include <numeric>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

namespace heddle {

AxisClasses::AxisClasses(const Function& body) : body_(body), first_(body.types.size() + 1, 0) {
  for (std::size_t v = 0; v < body.types.size(); ++v) {
    first_[v + 1] = first_[v] + body.types[v].rank();
  }
  parent_.resize(first_.back());
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  opaque_.resize(parent_.size());
  for (const Node& node : body.nodes) tie_node(node);
}

std::vector<std::size_t> AxisClasses::of(ValueId v) {
  std::vector<std::size_t> classes;
  for (std::size_t a = 0; a < body_.type(v).rank(); ++a) classes.push_back(find(item(v, a)));
  return classes;
}

bool AxisClasses::opaque(std::size_t root) const { return opaque_[root]; }

std::size_t AxisClasses::item(ValueId v, std::size_t axis) const { return first_[v.index] + axis; }

std::size_t AxisClasses::find(std::size_t i) {
  while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
  return i;
}

void AxisClasses::tie(ValueId a, std::size_t a_axis, ValueId b, std::size_t b_axis) {
  const std::size_t x = find(item(a, a_axis)), y = find(item(b, b_axis));
  opaque_[std::min(x, y)] = opaque_[x] || opaque_[y];
  parent_[std::max(x, y)] = std::min(x, y);
}

void AxisClasses::mark(ValueId v, std::size_t axis) { opaque_[find(item(v, axis))] = true; }

void AxisClasses::mark_all(ValueId v) {
  for (std::size_t a = 0; a < body_.type(v).rank(); ++a) mark(v, a);
}

const Dim& AxisClasses::extent(ValueId v, std::size_t axis) const {
  return body_.type(v).dims[axis];
}

// Operand axes that are not in `axes`, against the result's axes in order.
void AxisClasses::tie_kept(const Node& n, const Axes& axes) {
  std::size_t r = 0;
  for (std::size_t a = 0; a < body_.type(n.operands[0]).rank(); ++a) {
    if (!std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(a))) {
      tie(n.operands[0], a, n.results[0], r++);
    }
  }
}

// Same axes; those where the two differ in extent, or that `special` names, are opaque.
void AxisClasses::tie_same(ValueId operand, ValueId result, const std::vector<bool>& special) {
  for (std::size_t a = 0; a < body_.type(result).rank(); ++a) {
    if (extent(operand, a) == extent(result, a)) {
      tie(operand, a, result, a);
      if (!special.empty() && special[a]) mark(result, a);
    } else {
      mark(operand, a), mark(result, a);
    }
  }
}

void AxisClasses::tie_broadcast(const Node& n) {
  const Axes axes = n.attributes.as<BroadcastAttributes>().axes;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const auto r = static_cast<std::size_t>(axes[a]);
    if (extent(n.operands[0], a) == extent(n.results[0], r)) {
      tie(n.operands[0], a, n.results[0], r);
    } else {  // stretched
      mark(n.operands[0], a), mark(n.results[0], r);
    }
  }
}

// Groups of axes with equal products: one against one is tied, other groups are opaque.
void AxisClasses::tie_reshape(const Node& n) {
  const ValueId from = n.operands[0], to = n.results[0];
  const std::size_t nf = body_.type(from).rank(), nt = body_.type(to).rank();
  std::size_t f = 0, t = 0;
  while (f < nf || t < nt) {
    const std::size_t f0 = f, t0 = t;
    Dim pf = f < nf ? extent(from, f++) : Dim(1), pt = t < nt ? extent(to, t++) : Dim(1);
    while (pf != pt && (f < nf || t < nt)) {
      if (t == nt || (f < nf && pf < pt)) {
        pf = pf * extent(from, f++);
      } else {
        pt = pt * extent(to, t++);
      }
    }
    if (f - f0 == 1 && t - t0 == 1) {
      tie(from, f0, to, t0);
    } else {
      for (std::size_t a = f0; a < f; ++a) mark(from, a);
      for (std::size_t a = t0; a < t; ++a) mark(to, a);
    }
  }
}

void AxisClasses::tie_dot(const Node& n) {
  const auto d = n.attributes.as<DotAttributes>();
  const ValueId lhs = n.operands[0], rhs = n.operands[1], result = n.results[0];
  auto axis = [](std::int64_t a) { return static_cast<std::size_t>(a); };
  std::size_t r = 0;
  for (std::size_t i = 0; i < d.lhs_batch.size(); ++i, ++r) {
    tie(lhs, axis(d.lhs_batch[i]), result, r);
    tie(rhs, axis(d.rhs_batch[i]), result, r);
  }
  for (std::size_t i = 0; i < d.lhs_contract.size(); ++i) {
    tie(lhs, axis(d.lhs_contract[i]), rhs, axis(d.rhs_contract[i]));
  }
  auto tie_free = [&](ValueId operand, const Axes& batch, const Axes& contract) {
    for (std::size_t a = 0; a < body_.type(operand).rank(); ++a) {
      const auto i = static_cast<std::int64_t>(a);
      if (std::count(batch.begin(), batch.end(), i) == 0 &&
          std::count(contract.begin(), contract.end(), i) == 0) {
        tie(operand, a, result, r++);
      }
    }
  };
  tie_free(lhs, d.lhs_batch, d.lhs_contract);
  tie_free(rhs, d.rhs_batch, d.rhs_contract);
}

// gather(x, indices) -> a.. i.. b..; scatter(x, indices, updates a.. i.. b..) -> x.
void AxisClasses::tie_indexed(ValueId x, ValueId indices, ValueId picked, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  const std::size_t count = body_.type(indices).rank();
  for (std::size_t a = 0; a < body_.type(x).rank(); ++a) {
    if (a != at) tie(x, a, picked, a < at ? a : a + count - 1);
  }
  for (std::size_t a = 0; a < count; ++a) tie(indices, a, picked, at + a);
  mark(x, at);
}

std::vector<bool> AxisClasses::flags(std::size_t rank, const Axes& axes) {
  std::vector<bool> set(rank);
  for (std::int64_t a : axes) set[static_cast<std::size_t>(a)] = true;
  return set;
}

void AxisClasses::tie_node(const Node& n) {
  const ValueId result = n.results[0];
  const std::size_t rank = body_.type(result).rank();
  if (n.op->strict.pattern == Pattern::elementwise) {
    for (ValueId o : n.operands) {
      if (body_.type(o).rank() == rank) tie_same(o, result);
    }
  } else if (n.op == &op_broadcast_in_dim) {
    tie_broadcast(n);
  } else if (n.op == &op_transpose) {
    const Axes p = n.attributes.as<TransposeAttributes>().permutation;
    for (std::size_t a = 0; a < rank; ++a) {
      tie(n.operands[0], static_cast<std::size_t>(p[a]), result, a);
    }
  } else if (n.op == &op_reshape) {
    tie_reshape(n);
  } else if (n.op == &op_argmax || n.op == &op_argmin) {
    const std::int64_t axis = n.attributes.as<AxisAttributes>().axis;
    tie_kept(n, {axis});
    mark(n.operands[0], static_cast<std::size_t>(axis));
  } else if (n.op->strict.pattern == Pattern::reduce) {
    tie_kept(n, n.attributes.as<AxesAttributes>().axes);
  } else if (n.op == &op_dot_general) {
    tie_dot(n);
  } else if (n.op == &op_slice) {
    tie_same(n.operands[0], result);
  } else if (n.op == &op_pad) {
    tie_pad(n);
  } else if (n.op == &op_concatenate) {
    const std::int64_t axis = n.attributes.as<AxisAttributes>().axis;
    for (ValueId o : n.operands) tie_same(o, result, flags(rank, {axis}));
  } else if (n.op == &op_reverse) {
    tie_same(n.operands[0], result, flags(rank, n.attributes.as<AxesAttributes>().axes));
  } else if (n.op == &op_iota) {
    mark(result, static_cast<std::size_t>(n.attributes.as<IotaAttributes>().axis));
  } else if (n.op == &op_gather) {
    tie_indexed(n.operands[0], n.operands[1], result, n.attributes.as<GatherAttributes>().axis);
  } else if (n.op == &op_scatter) {
    const std::int64_t axis = n.attributes.as<GatherAttributes>().axis;
    tie_same(n.operands[0], result);
    tie_indexed(n.operands[0], n.operands[1], n.operands[2], axis);
  } else if (n.op->strict.pattern == Pattern::scan || n.op == &op_argsort) {
    tie_same(n.operands[0], result, flags(rank, {n.attributes.get<std::int64_t>("axis")}));
  } else if (n.op->strict.pattern == Pattern::window) {
    tie_window(n);
  } else if (n.op == &op_conv_general) {
    tie_conv(n);
  } else if (n.op != &op_rng_bits) {  // its elements are counted in order: any axes will do
    for (ValueId o : n.operands) mark_all(o);
    for (ValueId r : n.results) mark_all(r);
  }
}

// Axes along which the window is one element go along; the others are opaque.
void AxisClasses::tie_window(const Node& n) {
  const auto w = n.attributes.as<WindowAttributes>();
  for (std::size_t a = 0; a < w.window.size(); ++a) {
    const bool plain = w.window[a] == 1 && w.strides[a] == 1 && w.low[a] == 0 && w.high[a] == 0 &&
                       w.base_dilation[a] == 1;
    if (plain) {
      tie(n.operands[0], a, n.results[0], a);
    } else {
      mark(n.operands[0], a), mark(n.results[0], a);
    }
  }
}

// Images and outputs are the result's; channels are both operands' when there is one group. None of
// them merges with another axis.
void AxisClasses::tie_conv(const Node& n) {
  const ValueId x = n.operands[0], w = n.operands[1], result = n.results[0];
  tie(x, 0, result, 0);
  tie(w, 0, result, 1);
  if (n.attributes.as<ConvAttributes>().groups == 1) tie(x, 1, w, 1);
  for (ValueId v : {x, w, result}) mark_all(v);
}

void AxisClasses::tie_pad(const Node& n) {
  const auto p = n.attributes.as<PadAttributes>();
  std::vector<bool> padded(p.low.size());
  for (std::size_t a = 0; a < padded.size(); ++a) {
    padded[a] = p.low[a] != 0 || p.high[a] != 0 || p.interior[a] != 0;
  }
  tie_same(n.operands[0], n.results[0], padded);
}

}  // namespace heddle
