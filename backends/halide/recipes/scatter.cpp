// result = operand, then the updates added one after another: the sum's order is that of the
// indices, whatever the number of threads.
#include <algorithm>

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle::halide {

void stage_scatter(KernelBuilder& b, ValueId v, const Scatter& scatter) {
  const Node& n = b.node(v);
  const auto g = n.attributes.as<GatherAttributes>();
  const auto axis = static_cast<std::size_t>(g.axis);
  const Extents extents = b.elements.extents(v), indices = b.elements.extents(n.operands[1]);
  Func f("scatter" + std::to_string(v.index));
  const std::vector<Var> args = make_vars("i", extents.size());
  f(reversed(as_index(args))) = b.elements.at(n.operands[0], as_index(args));
  std::vector<Halide::Range> ranges;
  for (std::size_t a = indices.size(); a-- > 0;) ranges.push_back({0, constant(indices[a])});
  if (ranges.empty()) ranges.push_back({0, 1});
  RDom r(ranges, "r" + std::to_string(v.index));
  Index at;
  for (std::size_t a = indices.size(); a-- > 0;) at.push_back(r[static_cast<int>(a)]);
  const Expr picked = Halide::cast<std::int32_t>(b.elements.at(n.operands[1], at));
  Index target = as_index(args);
  target[axis] = clamp(picked, 0, constant(extents[axis] - 1));
  Index source(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(axis));
  source.insert(source.end(), at.begin(), at.end());
  source.insert(source.end(), args.begin() + static_cast<std::ptrdiff_t>(axis) + 1, args.end());
  const Expr old = f(reversed(target)), update = b.elements.at(n.operands[2], source);
  const Expr sum = old.type().is_bool() ? old || update : exact_add(old, update);
  const Expr valid = picked >= 0 && picked < constant(extents[axis]);
  define_over(r, f, reversed(target), {g.mode == "clip" ? sum : select(valid, sum, old)});
  f.compute_root();
  const int lanes = std::min(scatter.vector, b.lanes_of(v));
  const bool vectors = axis + 1 < args.size() && !extents.back().below(lanes);
  if (vectors) f.update().vectorize(args.back(), lanes, tail(extents.back(), lanes));
  if (!extents.back().below(lanes)) f.vectorize(args.back(), lanes, tail(extents.back(), lanes));
  // The sum of a narrow float is rounded when it is read.
  b.elements.stage(v, [f, dtype = b.elements.type(v).dtype](const Index& i) {
    return rounded(f(reversed(i)), dtype);
  });
}

void apply(KernelBuilder& b, const Scatter& scatter) {
  for (const Stage& stage : b.kernel.stages) b.make_stage_once(stage);
  b.make_outputs();
  Map map = choose_map(b.kernel.body, b.kernel.target);
  map.grain = scatter.grain;
  for (OutputGroup& group : b.outputs) b.schedule_map(group, map);
}

}  // namespace heddle::halide
