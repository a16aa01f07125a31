#include "heddle/backends/tiled/plan.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/extension.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"

namespace heddle {
namespace {

using emit::Axes;

[[noreturn]] void refuse(const Node& node, const std::string& why) {
  throw NotImplementedError({.message = absl::StrCat(std::string(node.op->name), " ", why)});
}

bool is_view(const Node& n) { return n.op == &op_broadcast_in_dim || n.op == &op_transpose; }
bool is_reduction(const Node& n) {
  for (const Operation* op : {&op_reduce_sum, &op_reduce_prod, &op_reduce_max, &op_reduce_min,
                              &op_reduce_any, &op_reduce_all}) {
    if (n.op == op) return true;
  }
  return false;
}

class Planner {
 public:
  explicit Planner(Function f) {
    plan_.definitions = definitions(f);
    plan_.stored.assign(f.types.size(), false);
    plan_.views.resize(f.types.size());
    plan_.last_use.assign(f.types.size(), 0);
    marked_.assign(f.types.size(), 0);
    plan_.function = std::move(f);
  }

  TiledPlan plan() {
    for (const Input& in : plan_.function.inputs) plan_.stored[in.value.index] = true;
    for (const Node& n : plan_.function.nodes) check(n);
    for (const Output& o : plan_.function.outputs) plan_.stored[o.value.index] = true;
    for (const Node& n : plan_.function.nodes) see(n);
    for (const Node& n : plan_.function.nodes) add_step(n);
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) mark_uses(plan_.steps[s].result, s, true);
    for (const Output& o : plan_.function.outputs) {
      plan_.last_use[o.value.index] = plan_.steps.size();
    }
    return std::move(plan_);
  }

 private:
  // What a node asks of its operands: views and reshapes read tensors, the others anything.
  void check(const Node& n) {
    if (n.literal) {
      plan_.stored[n.results[0].index] = true;
      return;
    }
    if (is_view(n)) return want_tensor(n.operands[0]);
    if (n.op == &op_reshape) {
      plan_.stored[n.operands[0].index] = true;
      plan_.stored[n.results[0].index] = true;
      return;
    }
    if (is_reduction(n) || n.op == &op_dot_general) {
      plan_.stored[n.results[0].index] = true;
      return;
    }
    const Type& result = plan_.function.type(n.results[0]);
    if (n.op->strict.pattern != Pattern::elementwise || n.results.size() != 1) {
      refuse(n, "has no form on tiles");
    }
    for (ValueId o : n.operands) {
      if (plan_.function.type(o).dims != result.dims) refuse(n, "has operands of several shapes");
    }
  }
  // A view of a view is one view; anything else that is seen must be a tensor.
  void want_tensor(ValueId v) {
    if (!plan_.is_node(v) || !is_view(plan_.node(v))) plan_.stored[v.index] = true;
  }

  View view_of(ValueId v) const {
    if (!plan_.stored[v.index]) return *plan_.views[v.index];
    View whole{v, std::vector<int>(plan_.function.type(v).rank())};
    std::iota(whole.axes.begin(), whole.axes.end(), 0);
    return whole;
  }

  void see(const Node& n) {
    if (n.literal || !is_view(n)) return;
    View view = view_of(n.operands[0]);
    const Extents before = plan_.extents(n.operands[0]), after = plan_.extents(n.results[0]);
    std::vector<int> to(before.size());  // of each axis of the operand
    if (n.op == &op_transpose) {
      const Axes permutation = n.attributes.as<TransposeAttributes>().permutation;
      for (std::size_t a = 0; a < to.size(); ++a) {
        to[static_cast<std::size_t>(permutation[a])] = static_cast<int>(a);
      }
    } else {
      const Axes axes = n.attributes.as<BroadcastAttributes>().axes;
      for (std::size_t a = 0; a < to.size(); ++a) {
        const bool stretched = before[a] != after[static_cast<std::size_t>(axes[a])];
        to[a] = stretched ? -1 : static_cast<int>(axes[a]);
      }
    }
    for (int& a : view.axes) {
      if (a >= 0) a = to[static_cast<std::size_t>(a)];
    }
    plan_.views[n.results[0].index] = std::move(view);
  }

  void add_step(const Node& n) {
    using Kind = TiledStep::Kind;
    if (n.literal || !plan_.stored[n.results[0].index]) return;
    const Kind kind = n.op == &op_reshape       ? Kind::reshape
                      : n.op == &op_dot_general ? Kind::contract
                      : is_reduction(n)         ? Kind::reduce
                                                : Kind::map;
    plan_.steps.push_back({kind, n.results[0]});
  }

  // The tensors that computing `v` reads; `forced`: v itself is what is computed.
  void mark_uses(ValueId v, std::size_t step, bool forced) {
    if (!forced && marked_[v.index] == step + 1) return;
    marked_[v.index] = step + 1;
    if (plan_.stored[v.index] && !forced) {
      plan_.last_use[v.index] = step;
    } else if (plan_.views[v.index]) {
      plan_.last_use[plan_.views[v.index]->tensor.index] = step;
    } else if (plan_.is_node(v)) {
      for (ValueId o : plan_.node(v).operands) mark_uses(o, step, false);
    }
  }

  TiledPlan plan_;
  std::vector<std::size_t> marked_;  // by value: one more than the last step that came by
};

std::vector<std::size_t> range(std::size_t count, std::size_t from = 0) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), from);
  return all;
}

bool among(const Axes& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

Loops map_loops(const TiledPlan& plan, ValueId result) {
  Loops l{.dims = plan.extents(result), .outer = {}, .inner = {}, .axes = {}, .shrink = {}};
  l.outer = range(l.dims.size());
  l.axes = {l.outer};
  return l;
}

Loops reduce_loops(const TiledPlan& plan, const Node& n) {
  Loops l{.dims = plan.extents(n.operands[0]), .outer = {}, .inner = {}, .axes = {}, .shrink = {}};
  const Axes axes = n.attributes.as<AxesAttributes>().axes;
  for (std::size_t a = 0; a < l.dims.size(); ++a) (among(axes, a) ? l.inner : l.outer).push_back(a);
  l.axes = {range(l.dims.size())};
  return l;
}

// Loops: batches, free ones of x, free ones of y, contracted ones.
Loops contract_loops(const TiledPlan& plan, const Node& n) {
  const auto at = n.attributes.as<DotAttributes>();
  const Extents x = plan.extents(n.operands[0]), y = plan.extents(n.operands[1]);
  Loops l{.dims = {}, .outer = {}, .inner = {}, .axes = {}, .shrink = {}};
  l.axes = {std::vector<std::size_t>(x.size()), std::vector<std::size_t>(y.size())};
  const auto add = [&](std::int64_t extent) {
    l.dims.push_back(extent);
    return l.dims.size() - 1;
  };
  const auto pairs = [&](const Axes& lhs, const Axes& rhs) {
    for (std::size_t i = 0; i < lhs.size(); ++i) {
      const auto a = static_cast<std::size_t>(lhs[i]);
      l.axes[0][a] = l.axes[1][static_cast<std::size_t>(rhs[i])] = add(x[a]);
    }
  };
  const auto frees = [&](std::size_t side, const Extents& dims, const Axes& batch,
                         const Axes& contract) {
    for (std::size_t a = 0; a < dims.size(); ++a) {
      if (!among(batch, a) && !among(contract, a)) l.axes[side][a] = add(dims[a]);
    }
  };
  pairs(at.lhs_batch, at.rhs_batch);
  const std::size_t batches = l.dims.size();
  frees(0, x, at.lhs_batch, at.lhs_contract);
  frees(1, y, at.rhs_batch, at.rhs_contract);
  const std::size_t kept = l.dims.size();
  pairs(at.lhs_contract, at.rhs_contract);
  l.outer = range(kept);
  l.inner = range(l.dims.size() - kept, kept);
  l.shrink = {range(batches), range(l.dims.size() - batches, batches)};
  return l;
}

}  // namespace

Loops TiledPlan::loops(const TiledStep& step) const {
  switch (step.kind) {
    case TiledStep::Kind::reduce:
      return reduce_loops(*this, node(step.result));
    case TiledStep::Kind::contract:
      return contract_loops(*this, node(step.result));
    case TiledStep::Kind::map:
    case TiledStep::Kind::reshape:
      break;
  }
  return map_loops(*this, step.result);
}

TiledPlan plan_tiles(const Function& function) {
  const Program expanded = expand_composites(Program({function}), [](const NodeContext& node) {
    check_order(node);
    return false;
  });
  return Planner(dead_node_elimination(canonicalize(expanded)).entry()).plan();
}

}  // namespace heddle
