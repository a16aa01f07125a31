// In gather form: each element takes the updates that are its own, in the order of the indices. So
// there is nothing atomic, and sums are those of the CPU bit by bit.
#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/launch.h"
#include "heddle/graph/op_attributes.h"

namespace heddle::halide::gpu {

void launch_scatter(KernelBuilder& b, ValueId v) {
  const Node& n = b.node(v);
  const auto g = n.attributes.as<GatherAttributes>();
  const auto axis = static_cast<std::size_t>(g.axis);
  const Extents extents = b.elements.extents(v), indices = b.elements.extents(n.operands[1]);
  const std::string name = std::to_string(v.index);
  const std::vector<Var> axes = make_vars("i", extents.size());
  const std::vector<Expr> arguments = reversed(as_index(axes));
  std::vector<Halide::Range> ranges;
  for (std::size_t a = indices.size(); a-- > 0;) ranges.push_back({0, constant(indices[a])});
  if (ranges.empty()) ranges.push_back({0, 1});
  RDom r(ranges, "r" + name);
  Index at;
  for (std::size_t a = indices.size(); a-- > 0;) at.push_back(r[static_cast<int>(a)]);
  Expr picked = Halide::cast<std::int32_t>(b.elements.at(n.operands[1], at));
  if (g.mode == "clip") picked = clamp(picked, 0, constant(extents[axis] - 1));
  Index source(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(axis));
  source.insert(source.end(), at.begin(), at.end());
  source.insert(source.end(), axes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, axes.end());
  Func acc("acc" + name), all("scatter" + name);
  acc(arguments) = b.elements.at(n.operands[0], as_index(axes));
  const Expr old = acc(arguments), update = b.elements.at(n.operands[2], source);
  const Expr sum = old.type().is_bool() ? old || update : exact_add(old, update);
  define_over(r, acc, arguments, {select(picked == axes[axis], sum, old)});
  all(arguments) = acc(arguments);
  all.compute_root();
  acc.compute_at(all, launch(all, axes, extents));
  // The sum of a narrow float is rounded when it is read.
  b.elements.stage(v, [all, dtype = b.elements.type(v).dtype](const Index& i) {
    return rounded(all(reversed(i)), dtype);
  });
}

}  // namespace heddle::halide::gpu
