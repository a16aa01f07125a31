#include "heddle/backends/halide/fibres.h"

#include <algorithm>
#include <numeric>

#include "heddle/backends/halide/exact.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {
namespace {

FibreAxes axes_of(const KernelBuilder& b, const Node& node, int strip) {
  FibreAxes a{
      static_cast<std::size_t>(fibre_axis(node)), b.elements.extents(node.operands[0]), {}, strip};
  a.others = make_vars("o", a.extents.size() - 1);
  return a;
}

// The fibre's place first, or second behind the fibres that lie side by side.
std::vector<Expr> ordered(std::vector<Expr> others, const Expr& i, bool strips) {
  std::reverse(others.begin(), others.end());
  others.insert(others.begin() + (strips ? 1 : 0), i);
  return others;
}

// How two neighbouring parts of a fibre become one.
Expr joined(const Node& node, const Expr& left, const Expr& right) {
  if (node.op == &op_cumsum) return exact_add(left, right);
  if (node.op == &op_cumprod) return exact_mul(left, right);
  return node.op == &op_cummax ? larger(right, left) : smaller(right, left);
}
Expr of_nothing(const Node& node, Halide::Type t) {
  if (node.op == &op_cumsum) return Halide::Internal::make_zero(t);
  if (node.op == &op_cumprod) return Halide::Internal::make_one(t);
  return node.op == &op_cummax ? lowest(t) : highest(t);
}

}  // namespace

Index FibreAxes::index(const Expr& i) const {
  Index result;
  for (std::size_t a = 0, k = 0; a < extents.size(); ++a) {
    if (a == axis) {
      result.push_back(i);
      continue;
    }
    const Var& o = others[k++];
    const bool side_by_side = strip > 1 && k == others.size();
    result.push_back(side_by_side ? inside(o, extents[a], strip)
                                  : min(Expr(o), constant(extents[a] - 1)));
  }
  return result;
}

std::vector<Expr> FibreAxes::arguments(const Expr& i) const {
  return ordered(std::vector<Expr>(others.begin(), others.end()), i, strip > 1);
}

std::vector<Expr> FibreAxes::arguments_at(const Index& index, const Expr& i) const {
  std::vector<Expr> rest = index;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  return ordered(std::move(rest), i, strip > 1);
}

FibreStage::FibreStage(KernelBuilder& b, ValueId v, int strip, bool whole)
    : b_(b),
      v_(v),
      whole_(whole),
      node_(b.node(v)),
      name_(std::to_string(v.index)),
      axes_(axes_of(b, node_, strip)) {
  if (node_.op->strict.pattern == Pattern::scan) {
    make_scan();
  } else {
    make_sort();
  }
}

void FibreStage::compute_at(Func consumer, Var at, const Extent& side) {
  for (Func& f : held_) f.compute_at(consumer, at);
  for (Func& f : sorted_) {
    f.bound(f.args()[0], 0, constant(axes_.length()));
    for (std::size_t a = 1; a < f.args().size(); ++a) {
      f.bound_extent(f.args()[a], constant(a == 1 ? side : Extent(1)));
    }
  }
}
void FibreStage::compute_root() {
  for (Func& f : held_) f.compute_root();
  for (Func& f : sorted_) {
    Extents extents = axes_.extents;  // the fibre first, then the others from the innermost on
    std::rotate(extents.begin() + static_cast<std::ptrdiff_t>(axes_.axis),
                extents.begin() + static_cast<std::ptrdiff_t>(axes_.axis) + 1, extents.end());
    for (std::size_t a = 0; a < extents.size(); ++a) {
      f.bound(f.args()[a], 0, constant(extents[extents.size() - 1 - a]));
    }
  }
}

void FibreStage::make_scan() {
  const auto a = node_.attributes.as<CumulativeAttributes>();
  const int lanes = b_.lanes_of(v_);
  const Extent n = axes_.length();
  const bool chunks =
      !whole_ && axes_.axis + 1 == axes_.extents.size() && lanes >= 4 && !n.below(2 * lanes);
  const Inclusive inclusive = chunks ? make_chunked_scan(lanes) : make_plain_scan();
  const DType dtype = b_.elements.type(v_).dtype;
  // What a narrow float adds up to is rounded when it is read.
  b_.elements.stage(v_, [=, nothing = nothing(), axis = axes_.axis](const Index& index) {
    const Expr i = index[axis], first = a.reverse ? constant(n - 1) : constant(0);
    if (!a.exclusive) return rounded(inclusive(index, i), dtype);
    const Expr before = a.reverse ? min(i + 1, first) : max(i - 1, first);
    return select(i == first, nothing, rounded(inclusive(index, before), dtype));
  });
}

bool FibreStage::reverse() const { return node_.attributes.as<CumulativeAttributes>().reverse; }
Expr FibreStage::nothing() const {
  return of_nothing(node_, expression_type(b_.elements.type(v_).dtype));
}

FibreStage::Inclusive FibreStage::make_plain_scan() {
  const Extent n = axes_.length();
  Func f("scan" + name_);
  f(axes_.arguments(i_)) = element(i_);
  const int lanes = std::gcd(b_.lanes_of(v_), axes_.strip);
  if (lanes > 1) {
    const Var x = axes_.others.back();
    f.bound_extent(x, axes_.strip).vectorize(x, lanes, Halide::TailStrategy::RoundUp).unroll(x);
  }
  if (!n.at_most(1)) {
    RDom r(1, constant(n - 1), "r" + name_);
    const Expr here = reverse() ? constant(n - 1) - r : Expr(r);
    const Expr before = reverse() ? constant(n) - r : r - 1;
    f(axes_.arguments(here)) = joined(node_, f(axes_.arguments(before)), f(axes_.arguments(here)));
    if (lanes > 1) {
      const Var x = axes_.others.back();
      f.update().reorder(x, r).vectorize(x, lanes, Halide::TailStrategy::RoundUp).unroll(x);
    }
  }
  hold(f);
  return [f, axes = axes_](const Index& index, const Expr& i) {
    return Expr(f(axes.arguments_at(index, i)));
  };
}

// Along the contiguous axis: a prefix inside each vector in steps of doubling distance, then what
// the vectors before it add up to.
FibreStage::Inclusive FibreStage::make_chunked_scan(int lanes) {
  const Extent n = axes_.length(), chunks = ceil_div(n, lanes);
  Var u("u"), k("k");
  const std::vector<Expr> of_k = axes_.arguments(k);
  const auto of_chunk = [&](const Expr& c) {
    std::vector<Expr> arguments = of_k;
    arguments[0] = c;
    return arguments;
  };
  const auto at = [&](const Expr& lane, const Expr& c) {
    std::vector<Expr> arguments = of_chunk(c);
    arguments.insert(arguments.begin(), lane);
    return arguments;
  };
  // Lanes past the end hold nothing: a reverse scan begins with them.
  const auto lane_element = [&](const Expr& lane) {
    const Expr i = k * lanes + lane;
    if (n.divisible_by(lanes)) return element(i);
    return select(likely(i < constant(n)), element(min(likely(i), constant(n - 1))), nothing());
  };
  std::vector<Func> steps;
  for (int distance = 1; distance < lanes; distance *= 2) {
    Func step("steps" + std::to_string(distance) + "_" + name_);
    const Expr lane = reverse() ? min(u + distance, lanes - 1) : max(u - distance, 0);
    const Expr joins = reverse() ? u < lanes - distance : u >= distance;
    const bool first = steps.empty();
    const Expr here = first ? lane_element(u) : Expr(steps.back()(at(u, k)));
    const Expr before = first ? lane_element(lane) : Expr(steps.back()(at(lane, k)));
    step(at(u, k)) = select(joins, joined(node_, before, here), here);
    steps.push_back(step);
  }
  for (Func& step : steps) step.bound_extent(u, lanes).vectorize(u, lanes);
  Func chunk = steps.back(), carry("carry" + name_);
  for (std::size_t s = 0; s + 1 < steps.size(); ++s) steps[s].compute_at(chunk, k);
  RDom r(1, constant(chunks - 1), "r" + name_);
  const Expr here = reverse() ? constant(chunks - 1) - r : Expr(r);
  const Expr before = reverse() ? constant(chunks) - r : r - 1;
  carry(of_k) = nothing();
  carry(of_chunk(here)) =
      joined(node_, carry(of_chunk(before)), chunk(at(reverse() ? 0 : lanes - 1, before)));
  hold(chunk), hold(carry);
  return [=, &node = node_, axes = axes_](const Index& index, const Expr& i) {
    std::vector<Expr> arguments = axes.arguments_at(index, i / lanes);
    const Expr sum = carry(arguments);
    arguments.insert(arguments.begin(), i % lanes);
    return joined(node, sum, chunk(arguments));
  };
}

namespace {

constexpr std::int64_t kBlock = 4096;  // elements: of short fibres, many are a task

struct FibreLoops {
  Func f;
  std::size_t axis;
  Extents extents;
  std::vector<Var> others;  ///< innermost first
  const Fibres& recipe;

  const Extent& length() const { return extents[axis]; }
};

Var fuse_others(FibreLoops& l) {
  Var at = l.others[0];
  for (std::size_t a = 1; a < l.others.size(); ++a) {
    Var fused("fibres" + std::to_string(a));
    l.f.fuse(at, l.others[a], fused);
    at = fused;
  }
  return at;
}

// What a fibre takes outweighs asking whether it is there: one form of the loops will do.
void keep_whole(Func f, const std::vector<Var>& loops) {
  for (const Var& v : loops) f.partition(v, Halide::Partition::Never);
}

// How many fibres that lie side by side along the innermost of the other axes are sorted at a time.
Extent block_of(const FibreLoops& l, const Extent& side) {
  if (l.length().is_constant() && side.is_constant()) {
    return std::clamp<std::int64_t>(kBlock / l.length().number(), 1, side.number());
  }
  const Expr most = constant(kBlock) / max(constant(l.length()), 1);
  return Extent(clamp(most, 1, max(1, constant(side))));
}

Var loop_over_blocks(FibreLoops& l, const Extent& fibres) {
  Var own("fibre"), block("block");
  l.f.split(l.others[0], block, own, constant(fibres), Halide::TailStrategy::GuardWithIf);
  l.others[0] = block;
  const Var at = fuse_others(l);
  l.f.parallel(at);
  keep_whole(l.f, {at, own});
  return at;
}

// One fibre, or one strip of them, at a time; tasks of `grain`.
Var loop_over_fibres(FibreLoops& l) {
  const Fibres& recipe = l.recipe;
  Extent count = 1;  // loops over fibres, or strips of them
  for (std::size_t a = 0; a < l.extents.size(); ++a) {
    const bool strips = recipe.strip > 1 && a + 1 == l.extents.size();
    if (a != l.axis) {
      count = count * (strips ? ceil_div(l.extents[a], recipe.strip) : l.extents[a]);
    }
  }
  const Var at = fuse_others(l);
  if (count.at_most(recipe.grain)) return at;
  Var task("task"), own("fibre");
  l.f.split(at, task, own, constant(recipe.grain), tail(count, recipe.grain)).parallel(task);
  keep_whole(l.f, {task, own});
  return own;
}

// The order of the loops, and vectors along the innermost.
void order_loops(FibreLoops& l, const Var& along, int lanes) {
  std::vector<Halide::VarOrRVar> order{along};
  const Fibres& recipe = l.recipe;
  if (recipe.strip > 1) {
    Var xo("xo"), xi("xi");
    l.f.split(l.others[0], xo, xi, recipe.strip, tail(l.extents.back(), recipe.strip));
    l.others[0] = xo;
    order.insert(order.begin(), xi);
    order.insert(order.end(), l.others.begin(), l.others.end());
    l.f.reorder(order).vectorize(xi, std::gcd(lanes, recipe.strip)).unroll(xi);
    return;
  }
  order.insert(order.end(), l.others.begin(), l.others.end());
  l.f.reorder(order);
  if (l.axis + 1 == l.extents.size()) vectorize(l.f, along, l.length(), lanes, 1);
}

}  // namespace

void apply(KernelBuilder& b, const Fibres& recipe) {
  const Node& node = *fibre_node(b.kernel.body);
  const ValueId v = node.results[0];
  std::optional<FibreStage> fibres;
  for (const Stage& stage : b.kernel.stages) {
    if (stage.values[0] == v) {
      fibres.emplace(b, v, recipe.strip, false);
    } else {
      b.make_stage_once(stage);
    }
  }
  b.make_outputs();
  OutputGroup& out = b.outputs[0];
  FibreLoops loops{
      out.f, static_cast<std::size_t>(fibre_axis(node)), b.elements.extents(v), {}, recipe};
  Extent side = 1;  // of the innermost other axis
  for (std::size_t a = 0; a < out.args.size(); ++a) {
    if (a == loops.axis) continue;
    loops.others.insert(loops.others.begin(), out.args[a]);
    side = loops.extents[a];
  }
  order_loops(loops, out.args[loops.axis], b.lanes);
  if (loops.others.empty()) return fibres->compute_at(out.f, Var::outermost());
  if (node.op->strict.pattern == Pattern::scan) {
    return fibres->compute_at(out.f, loop_over_fibres(loops));
  }
  const Extent block = block_of(loops, side);
  fibres->compute_at(out.f, loop_over_blocks(loops, block), block);
}

}  // namespace heddle::halide
