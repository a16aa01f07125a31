// How far an f32 is from the exact value.
#ifndef HEDDLE_TESTS_SUPPORT_ULPS_H_
#define HEDDLE_TESTS_SUPPORT_ULPS_H_

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::testing {

/// Distance in units in the last place of the exact value; infinity when a NaN or an infinity is
/// wrong. Signs of zeros are not looked at.
inline double float_ulps(float got, double exact) {
  const double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(got) ? 0 : wrong;
  if (std::isnan(got)) return wrong;
  if (std::isinf(exact)) return got == exact ? 0 : wrong;
  const double limit = 0x1p128;  // where infinity stands when values round up to it
  const double x = std::isinf(got) ? std::copysign(limit, got) : static_cast<double>(got);
  if (std::fabs(exact) > limit) exact = std::copysign(limit, exact);
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(x - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_SUPPORT_ULPS_H_
