// gather; scatter is a stage of its own (backends/halide/recipes/scatter.cpp).
#include "heddle/backends/halide/elements.h"
#include "heddle/graph/op_attributes.h"

namespace heddle::halide {

Expr lower_gather(const Element& e) {
  const auto g = e.node.attributes.as<GatherAttributes>();
  const auto axis = static_cast<std::size_t>(g.axis);
  const std::size_t count = e.operand_type(1).rank();
  const Extent extent = e.operand_extents(0)[axis];
  const auto first = e.index.begin() + static_cast<std::ptrdiff_t>(axis);
  const Index at(first, first + static_cast<std::ptrdiff_t>(count));
  const Expr picked = Halide::cast<std::int32_t>(e.operand(1, at));
  Index i(e.index.begin(), first);
  i.push_back(clamp(picked, 0, constant(extent - 1)));
  i.insert(i.end(), first + static_cast<std::ptrdiff_t>(count), e.index.end());
  const Expr value = e.operand(0, i);
  if (g.mode == "clip") return value;
  return select(picked >= 0 && picked < constant(extent), value,
                Halide::Internal::make_zero(value.type()));
}

Expr lower_scatter(const Element&) {
  throw InternalError({.message = "a scatter inside a kernel needs a stage"});
}

}  // namespace heddle::halide
