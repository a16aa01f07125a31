// Numbers of twice the digits of f32: the sum of two, for devices without f64. Relative errors are
// about 2^-44. Every step is a single IEEE operation; contracted to fused ones they stay as exact.
// (T. J. Dekker, A floating-point technique for extending the available precision, 1971.)
#ifndef HEDDLE_BACKENDS_HALIDE_MATH_PAIR_H_
#define HEDDLE_BACKENDS_HALIDE_MATH_PAIR_H_

#include "heddle/backends/halide/exact.h"

namespace heddle::halide::math {

struct Pair {
  Expr high, low;  ///< |low| <= half a unit in the last place of high
};

/// Of an f64 constant.
Pair pair_of(double value);
/// The exact sum, and product, of two f32.
Pair two_sum(const Expr& a, const Expr& b);
Pair two_product(const Expr& a, const Expr& b);

Pair add(const Pair& a, const Pair& b);
Pair add(const Pair& a, const Expr& b);
Pair negated(const Pair& a);
Pair mul(const Pair& a, const Pair& b);
Pair mul(const Pair& a, const Expr& b);
Pair div(const Pair& a, const Pair& b);
/// Of a positive number.
Pair root(const Pair& a);

/// log2 of a number from 2^-126 to 2^126.
Pair log2(const Pair& x);
/// 2^z for z in [-160, 160], to one unit in the last place, subnormal results too.
Expr exp2(const Pair& z);

}  // namespace heddle::halide::math

#endif  // HEDDLE_BACKENDS_HALIDE_MATH_PAIR_H_
