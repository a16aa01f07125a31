// How far a result is from its reference.
#ifndef HEDDLE_FRONTEND_CLI_COMPARE_H_
#define HEDDLE_FRONTEND_CLI_COMPARE_H_

#include "heddle/graph/literal.h"

namespace heddle::cli {

struct Difference {
  double ulp = 0;       ///< largest distance in units in the last place of the reference's dtype
  double relative = 0;  ///< largest distance over the reference's largest element
  bool matches(double tolerance) const { return relative <= tolerance; }
};

/// NaN equals NaN, infinity itself; anything else against them is an infinite difference. Integers
/// and bools differ by their distance.
Difference compare(const Literal& found, const Literal& reference);

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_COMPARE_H_
