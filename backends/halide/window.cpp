#include "heddle/backends/halide/window.h"

#include <algorithm>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
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

// The windows' axes of the operand; `skip` before them are images and channels.
struct Windows {
  std::vector<Axis> axes;
  std::size_t skip = 0;
};
Windows windows_of(const Elements& elements, const Node& node) {
  const Extents from = elements.extents(node.operands[0]), to = elements.extents(node.results[0]);
  Windows result;
  if (node.op != &op_conv_general) {
    const auto w = node.attributes.as<WindowAttributes>();
    for (std::size_t a = 0; a < from.size(); ++a) {
      result.axes.push_back({from[a], to[a], w.window[a], w.strides[a], w.low[a], w.high[a],
                             w.base_dilation[a], w.window_dilation[a]});
    }
    return result;
  }
  const auto c = node.attributes.as<ConvAttributes>();
  const Extents taps = elements.extents(node.operands[1]);
  result.skip = 2;
  for (std::size_t s = 0; s + 2 < from.size(); ++s) {
    result.axes.push_back({from[s + 2], to[s + 2], taps[s + 2], c.strides[s], c.low[s], c.high[s],
                           c.lhs_dilation[s], c.rhs_dilation[s]});
  }
  return result;
}

// Element of the operand at `index` (images and channels) and tap `tap` of window `result`.
Expr element_at(Elements& elements, const Node& node, const Windows& w, Index index,
                const Index& result, const Index& tap, const Expr& otherwise) {
  if (const Elements::Reader* places = elements.places(node)) {
    for (std::size_t a = 0; a < w.axes.size(); ++a) {
      index.push_back(result[a] * constant(w.axes[a].stride) +
                      tap[a] * constant(w.axes[a].window_dilation));
    }
    return (*places)(index);
  }
  const Expr inside = add_places(index, w.axes, result, tap);
  const Expr element = elements.at(node.operands[0], index);
  return chosen(inside, element, otherwise);
}

}  // namespace

Expr window_element(Elements& elements, const Node& node, const Index& result, const Index& tap,
                    const Expr& otherwise) {
  return element_at(elements, node, windows_of(elements, node), {}, result, tap, otherwise);
}

Expr conv_element(Elements& elements, const Node& node, const Expr& image, const Expr& channel,
                  const Index& result, const Index& tap) {
  const Halide::Type t = expression_type(elements.type(node.operands[0]).dtype);
  return element_at(elements, node, windows_of(elements, node), {image, channel}, result, tap,
                    Halide::Internal::make_zero(t));
}

namespace {

Extent smaller(const Extent& a, const Extent& b) {
  if (a.is_constant() && b.is_constant()) return std::min(a.number(), b.number());
  return Extent(min(constant(a), constant(b)));
}

// `extent` places under all windows; what is cut off lies before the first or behind the last.
Places::Axis elements_under(const Axis& a, const Extent& extent) {
  if (all_inside(a) && a.low == 0 && a.high == 0) return {0, extent};
  const std::int64_t d = a.base_dilation, first = a.low < 0 ? (-a.low + d - 1) / d : 0;
  const Extent end = smaller(a.operand, (extent - 1 - a.low + d) / d);
  return {first, end - first, a.low, d, false};
}

}  // namespace

std::optional<Places> places_under(Elements& elements, const Node& node) {
  const Windows w = windows_of(elements, node);
  if (std::all_of(w.axes.begin(), w.axes.end(), all_inside)) return std::nullopt;
  Places places;
  places.extents = elements.extents(node.operands[0]);
  places.extents.resize(w.skip);
  for (const Extent& e : places.extents) places.axes.push_back({0, e});
  for (const Axis& a : w.axes) {
    const Extent reach = (a.window - 1) * a.window_dilation + 1;
    places.extents.push_back((a.result - 1) * a.stride + reach);
    places.axes.push_back(elements_under(a, places.extents.back()));
  }
  return places;
}

}  // namespace heddle::halide
