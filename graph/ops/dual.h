// A value with its tangent, folded in pairs along an axis: how the derivatives of products and
// extremes over prefixes and windows are emitted, without a division and for any order.
#ifndef HEDDLE_GRAPH_OPS_DUAL_H_
#define HEDDLE_GRAPH_OPS_DUAL_H_

#include <algorithm>

#include "heddle/graph/emit.h"

namespace heddle::ops {

struct Dual {
  ValueId x, t;
};
/// What stands left and right becomes one.
using Combine = Dual (*)(Builder&, Dual left, Dual right);

inline Dual product_of(Builder& b, Dual l, Dual r) {
  const ValueId left = emit::mul(b, l.t, r.x), right = emit::mul(b, l.x, r.t);
  return {emit::mul(b, l.x, r.x), emit::add(b, left, right)};
}
/// The better one with its tangent: the first of equal ones, the first NaN.
template <bool kMax>
Dual best_of(Builder& b, Dual l, Dual r) {
  const ValueId better = emit::compare(b, kMax ? "ge" : "le", l.x, r.x);
  const ValueId first = emit::logical_or(b, better, emit::compare(b, "ne", l.x, l.x));
  return {emit::select(b, first, l.x, r.x), emit::select(b, first, l.t, r.t)};
}

inline Dual slice_axis(Builder& b, Dual d, std::int64_t axis, std::int64_t start,
                       std::int64_t limit, std::int64_t stride = 1) {
  return {emit::slice_axis(b, d.x, axis, start, limit, stride),
          emit::slice_axis(b, d.t, axis, start, limit, stride)};
}
/// Element i with element i + distance, as long as there is one.
inline Dual pairs_along(Builder& b, Dual d, std::int64_t axis, std::int64_t distance, Combine f) {
  const std::int64_t n = b.type(d.x).dims[static_cast<std::size_t>(axis)].constant();
  return f(b, slice_axis(b, d, axis, 0, n - distance), slice_axis(b, d, axis, distance, n));
}
/// Element i with all before it, in steps of doubling distance (Hillis and Steele 1986).
inline Dual prefixes(Builder& b, Dual d, std::int64_t axis, Combine f) {
  const std::int64_t n = b.type(d.x).dims[static_cast<std::size_t>(axis)].constant();
  for (std::int64_t distance = 1; distance < n; distance *= 2) {
    const Dual start = slice_axis(b, d, axis, 0, distance);
    const Dual rest = pairs_along(b, d, axis, distance, f);
    d = {emit::concatenate(b, Values{start.x, rest.x}, axis),
         emit::concatenate(b, Values{start.t, rest.t}, axis)};
  }
  return d;
}
/// Element i with the window - 1 that follow it, `dilation` apart: for an f that may meet an
/// element twice.
inline Dual windows(Builder& b, Dual d, std::int64_t axis, std::int64_t window,
                    std::int64_t dilation, Combine f) {
  for (std::int64_t covered = 1, step; covered < window; covered += step) {
    step = std::min(covered, window - covered);
    d = pairs_along(b, d, axis, step * dilation, f);
  }
  return d;
}

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_DUAL_H_
