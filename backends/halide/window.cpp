#include "heddle/backends/halide/window.h"

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/ops/window.h"

namespace heddle::halide {
namespace {

// One axis of windows: extents as the loops have them.
struct Axis {
  Extent operand, result, window;
  std::int64_t stride, low, high, base_dilation, window_dilation;
};

// Every place of every window is an element. Where extents are symbols, the attributes know:
// windows end where the operand does.
bool all_inside(const Axis& a) {
  if (a.base_dilation != 1 || a.low > 0) return false;
  if (!a.operand.is_constant() || !a.result.is_constant() || !a.window.is_constant()) {
    return a.high <= 0;
  }
  const std::int64_t reach = ops::spread(a.window.number(), a.window_dilation);
  return (a.result.number() - 1) * a.stride + reach - 1 - a.low < a.operand.number();
}

// Where tap k of window o lies in the operand, moved inside, and whether it was there.
struct Place {
  Expr index, inside = Halide::Internal::const_true();
};
// `steady`: most places are inside, so the loop gets a part of its own for them.
Place place_of(const Axis& a, const Expr& o, const Expr& k, bool steady) {
  Expr p = a.stride == 1 ? o : o * constant(a.stride);
  if (!a.window.at_most(1)) {
    p = p + (a.window_dilation == 1 ? k : k * constant(a.window_dilation));
  }
  if (a.low != 0) p = p - constant(a.low);
  if (all_inside(a)) return {p};
  const Expr end = constant((a.operand - 1) * a.base_dilation);
  Expr inside = p >= 0 && p <= end;
  if (a.base_dilation > 1) {
    inside = inside && p % constant(a.base_dilation) == 0;
    return {clamp(p / constant(a.base_dilation), 0, constant(a.operand - 1)), inside};
  }
  if (!steady) return {clamp(p, 0, end), inside};
  return {clamp(likely(p), 0, end), likely(inside)};
}

// Appends the places of all axes to `index`; whether the element is one of the operand's.
Expr add_places(Index& index, const std::vector<Axis>& axes, const Index& result,
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
  const auto w = node.attributes.as<WindowAttributes>();
  const Extents from = elements.extents(x), to = elements.extents(node.results[0]);
  std::vector<Axis> axes;
  for (std::size_t a = 0; a < from.size(); ++a) {
    axes.push_back({from[a], to[a], w.window[a], w.strides[a], w.low[a], w.high[a],
                    w.base_dilation[a], w.window_dilation[a]});
  }
  Index index;
  const Expr inside = add_places(index, axes, result, tap);
  return chosen(inside, elements.at(x, index), otherwise);
}

Expr conv_element(Elements& elements, const Node& node, const Expr& image, const Expr& channel,
                  const Index& result, const Index& tap) {
  const ValueId x = node.operands[0];
  const auto c = node.attributes.as<ConvAttributes>();
  const Extents from = elements.extents(x), taps = elements.extents(node.operands[1]),
                to = elements.extents(node.results[0]);
  std::vector<Axis> axes;
  for (std::size_t s = 0; s + 2 < from.size(); ++s) {
    axes.push_back({from[s + 2], to[s + 2], taps[s + 2], c.strides[s], c.low[s], c.high[s],
                    c.lhs_dilation[s], c.rhs_dilation[s]});
  }
  Index index{image, channel};
  const Expr inside = add_places(index, axes, result, tap);
  const Expr element = elements.at(x, index);
  return chosen(inside, element, Halide::Internal::make_zero(element.type()));
}

}  // namespace heddle::halide
