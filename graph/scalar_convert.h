// Conversion of one element between any two element types: the meaning of operation `convert`, the
// same on every carrier. Float to integer truncates toward zero, saturates out of range, and gives
// 0 for NaN. Integer to integer wraps. Anything to bool is "not equal to zero" (NaN is true).
#ifndef HEDDLE_GRAPH_SCALAR_CONVERT_H_
#define HEDDLE_GRAPH_SCALAR_CONVERT_H_

#include <cmath>
#include <limits>
#include <type_traits>

#include "heddle/runtime/half.h"

namespace heddle {

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class To, class From>
To convert_element(From value) {
  if constexpr (is_small_float<From>) {
    return convert_element<To>(static_cast<float>(value));
  } else if constexpr (is_small_float<To>) {
    // Through float: an f64 is rounded twice, which is documented and what the carriers do.
    return To(convert_element<float>(value));
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
