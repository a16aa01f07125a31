#include "heddle/backends/halide/window.h"

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/ops/window.h"

namespace heddle::halide {
namespace {

using ops::WindowAxis;

// Where tap k of window o lies in the operand, moved inside, and whether it was there.
struct Place {
  Expr index, inside = Halide::Internal::const_true();
};
// `steady`: most places are inside, so the loop gets a part of its own for them.
Place place_of(const WindowAxis& a, const Expr& o, const Expr& k, bool steady) {
  Expr p = a.stride == 1 ? o : o * constant(a.stride);
  if (a.window > 1) p = p + (a.window_dilation == 1 ? k : k * constant(a.window_dilation));
  if (a.low != 0) p = p - constant(a.low);
  const std::int64_t last = (a.result() - 1) * a.stride + a.reach() - 1 - a.low;
  if (a.base_dilation == 1 && a.low <= 0 && last < a.extent) return {p};
  const Expr end = constant((a.extent - 1) * a.base_dilation);
  Expr inside = p >= 0 && p <= end;
  if (a.base_dilation > 1) {
    inside = inside && p % constant(a.base_dilation) == 0;
    return {clamp(p / constant(a.base_dilation), 0, constant(a.extent - 1)), inside};
  }
  if (!steady) return {clamp(p, 0, end), inside};
  return {clamp(likely(p), 0, end), likely(inside)};
}

// Appends the places of all axes to `index`; whether the element is one of the operand's.
Expr add_places(Index& index, const std::vector<WindowAxis>& axes, const Index& result,
                const Index& tap) {
  Expr inside = Halide::Internal::const_true();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const Place p = place_of(axes[a], result[a], tap[a], a + 1 == axes.size());
    index.push_back(p.index);
    inside = Halide::Internal::is_const_one(inside)     ? p.inside
             : Halide::Internal::is_const_one(p.inside) ? inside
                                                        : inside && p.inside;
  }
  return inside;
}

Expr chosen(const Expr& inside, const Expr& element, const Expr& otherwise) {
  return Halide::Internal::is_const_one(inside) ? element : select(inside, element, otherwise);
}

}  // namespace

Expr window_element(Elements& elements, const Node& node, const Index& result, const Index& tap,
                    const Expr& otherwise) {
  const ValueId x = node.operands[0];
  Index index;
  const Expr inside =
      add_places(index, ops::window_axes(elements.type(x), node.attributes.as<WindowAttributes>()),
                 result, tap);
  return chosen(inside, elements.at(x, index), otherwise);
}

Expr conv_element(Elements& elements, const Node& node, const Expr& image, const Expr& channel,
                  const Index& result, const Index& tap) {
  const ValueId x = node.operands[0];
  Index index{image, channel};
  const Expr inside = add_places(index,
                                 ops::window_axes(elements.type(x), elements.type(node.operands[1]),
                                                  node.attributes.as<ConvAttributes>()),
                                 result, tap);
  const Expr element = elements.at(x, index);
  return chosen(inside, element, Halide::Internal::make_zero(element.type()));
}

}  // namespace heddle::halide
