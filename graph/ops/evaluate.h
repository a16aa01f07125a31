// What reference evaluators are written with. Integers wrap; f16 and bf16 are computed in float and
// rounded per operation; the transcendental functions of f16, bf16 and f32 are computed in double
// and rounded once.
#ifndef HEDDLE_GRAPH_OPS_EVALUATE_H_
#define HEDDLE_GRAPH_OPS_EVALUATE_H_

#include <cmath>
#include <limits>
#include <vector>

#include "heddle/graph/ops/record.h"
#include "heddle/graph/scalar_convert.h"

namespace heddle::ops {

/// dispatch_dtype for the dtypes of `kKinds` only; others are InternalError (inference refused
/// them).
template <int kKinds, class F>
Literal dispatch_kinds(DType dtype, F&& f) {
  return dispatch_dtype(dtype, [&](auto t) -> Literal {
    using T = typename decltype(t)::type;
    if constexpr ((kind_of(dtype_of<T>) & kKinds) != 0) {
      return f(t);
    } else {
      internal_check(false, "evaluated on a dtype that inference refuses");
      return {};
    }
  });
}

/// A literal whose element i is f(i).
template <class T, class F>
Literal generate(Type type, F f) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
  T* out = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) out[i] = f(i);
  return literal_from_bytes(std::move(type), std::move(bytes));
}

/// What arithmetic on T is done in: float for the 16-bit floats.
template <class T>
using Computed = std::conditional_t<is_small_float<T>, float, T>;
template <class T>
Computed<T> computed(T x) {
  return static_cast<Computed<T>>(x);
}
/// An integer's bits for wrapping arithmetic.
template <class T>
std::uint64_t wrapped(T x) {
  return static_cast<std::uint64_t>(x);
}
template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

/// NaN if either is; -0 is below 0.
inline constexpr auto kMaximum = [](auto x, auto y) {
  if (is_nan(x) || is_nan(y)) return is_nan(x) ? x : y;
  if constexpr (std::is_floating_point_v<decltype(x)>) {
    if (x == y) return std::signbit(x) ? y : x;
  }
  return x < y ? y : x;
};
inline constexpr auto kMinimum = [](auto x, auto y) {
  if (is_nan(x) || is_nan(y)) return is_nan(x) ? x : y;
  if constexpr (std::is_floating_point_v<decltype(x)>) {
    if (x == y) return std::signbit(x) ? x : y;
  }
  return y < x ? y : x;
};

/// What every element beats: infinity for floats, the farthest integer else.
template <class C>
C worst(bool of_max) {
  using Limits = std::numeric_limits<C>;
  if constexpr (std::is_floating_point_v<C>)
    return of_max ? -Limits::infinity() : Limits::infinity();
  return of_max ? Limits::lowest() : Limits::max();
}
/// What sums and products are taken in: floats in double, integers modulo 2^64.
template <class T>
using Total =
    std::conditional_t<is_small_float<T> || std::is_floating_point_v<T>, double, std::uint64_t>;

/// result[i] = kF(x[i]) in the dtype's own arithmetic.
template <int kKinds, auto kF>
Literals evaluate_unary(At, Inputs in) {
  return {dispatch_kinds<kKinds>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]);
    return generate<T>(in[0].type, [&](std::size_t i) { return T(kF(computed(x[i]))); });
  })};
}

/// result[i] = kF(x[i]) of a function of real numbers: in double, rounded once.
template <auto kF>
Literals evaluate_real(At, Inputs in) {
  return {dispatch_kinds<kFloat>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]);
    return generate<T>(in[0].type, [&](std::size_t i) {
      return convert_element<T>(static_cast<double>(kF(convert_element<double>(x[i]))));
    });
  })};
}

/// result[i] = kF(x[i], y[i]) in the dtype's own arithmetic.
template <int kKinds, auto kF>
Literals evaluate_binary(At, Inputs in) {
  return {dispatch_kinds<kKinds>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]), y = view<T>(in[1]);
    return generate<T>(in[0].type,
                       [&](std::size_t i) { return T(kF(computed(x[i]), computed(y[i]))); });
  })};
}

/// Extents of a literal.
inline std::vector<std::int64_t> extents_of(const Literal& literal) {
  return constant_extents(literal.type.dims);
}

/// Moves a multi-index to the next in row-major order; false after the last.
inline bool next_index(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& extents) {
  for (std::size_t a = extents.size(); a-- > 0;) {
    if (++index[a] < extents[a]) return true;
    index[a] = 0;
  }
  return false;
}

/// Row-major strides, in elements.
inline std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t a = extents.size(); a-- > 1;) strides[a - 1] = strides[a] * extents[a];
  return strides;
}

/// Calls f(ordinal, index) for every index of `extents`, in row-major order.
template <class F>
void for_each_index(const std::vector<std::int64_t>& extents, F f) {
  for (std::int64_t e : extents) {
    if (e == 0) return;
  }
  std::vector<std::int64_t> index(extents.size(), 0);
  std::size_t ordinal = 0;
  do {
    f(ordinal++, index);
  } while (next_index(index, extents));
}

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_EVALUATE_H_
