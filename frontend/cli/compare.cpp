#include "heddle/frontend/cli/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::cli {
namespace {

double unit_in_the_last_place(DType dtype, double x) {
  if (!is_floating(dtype)) return 1;
  struct Format {
    int digits, lowest;
  };
  const Format f = dtype == DType::f64   ? Format{53, -1074}
                   : dtype == DType::f32 ? Format{24, -149}
                   : dtype == DType::f16 ? Format{11, -24}
                                         : Format{8, -133};
  const int exponent = x == 0 ? f.lowest : std::ilogb(x) - f.digits + 1;
  return std::ldexp(1.0, std::max(exponent, f.lowest));
}

}  // namespace

Difference compare(const Literal& found, const Literal& reference) {
  Difference d;
  double largest = 0, distance = 0;
  for (std::int64_t i = 0; i < element_count(reference.type); ++i) {
    const double a = element_as_double(found, i), b = element_as_double(reference, i);
    if ((std::isnan(a) && std::isnan(b)) || a == b) {
      if (std::isfinite(b)) largest = std::max(largest, std::fabs(b));
      continue;
    }
    if (!std::isfinite(a) || !std::isfinite(b)) {
      constexpr double kInfinite = std::numeric_limits<double>::infinity();
      return {kInfinite, kInfinite};
    }
    largest = std::max(largest, std::fabs(b));
    distance = std::max(distance, std::fabs(a - b));
    d.ulp = std::max(d.ulp, std::fabs(a - b) / unit_in_the_last_place(reference.type.dtype, b));
  }
  d.relative = largest > 0 ? distance / largest : distance;
  return d;
}

}  // namespace heddle::cli
