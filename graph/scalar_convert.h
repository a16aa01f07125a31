// Conversion of one element between any two element types: the meaning of operation `convert`, the
// same on every carrier. Float to integer truncates toward zero, saturates out of range, and gives
// 0 for NaN. Integer to integer wraps. Anything to bool is "not equal to zero" (NaN is true). To a
// float rounds once, to nearest even.
#ifndef HEDDLE_GRAPH_SCALAR_CONVERT_H_
#define HEDDLE_GRAPH_SCALAR_CONVERT_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "heddle/runtime/half.h"

namespace heddle {

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// Rounding to odd (what is inexact gets a last bit of 1) keeps on which side of every shorter
// number and of every midpoint a value lies: rounding again is then as good as rounding once (Boldo
// and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
inline float round_to_odd(double value) {
  const float near = static_cast<float>(value);
  const double back = static_cast<double>(near);
  if (back == value || std::isnan(value)) return near;
  const auto bits = std::bit_cast<std::uint32_t>(near);
  return std::bit_cast<float>((std::fabs(back) > std::fabs(value) ? bits - 1 : bits) | 1u);
}
/// An integer as a double that is rounded to odd.
template <class T>
double to_odd_double(T value) {
  if constexpr (sizeof(T) == 8) {
    constexpr T kExact = T(1) << 53, kLow = 0x7ff;
    const bool exact = value <= kExact && (std::is_unsigned_v<T> || value >= T(0) - kExact);
    if (!exact) value = (value & ~kLow) | (value & kLow ? kLow + 1 : 0);
  }
  return static_cast<double>(value);
}

template <class To, class From>
To convert_element(From value) {
  if constexpr (is_small_float<From>) {
    return convert_element<To>(static_cast<float>(value));
  } else if constexpr (is_small_float<To>) {
    if constexpr (std::is_integral_v<From>) {
      return To(round_to_odd(to_odd_double(value)));
    } else {
      return To(round_to_odd(static_cast<double>(value)));
    }
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return To(0);
    constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
    // The maximum itself may round up to a power of two; at or above it saturates either way.
    constexpr From kHigh = static_cast<From>(std::numeric_limits<To>::max());
    if (value <= kLow) return std::numeric_limits<To>::min();
    if (value >= kHigh) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace heddle

#endif  // HEDDLE_GRAPH_SCALAR_CONVERT_H_
