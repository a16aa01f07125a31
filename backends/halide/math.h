// Elementary functions of f32 as expressions, vectorised, with every special value right. Bounds
// in units in the last place against the exact value, over all arguments (tests/backends sweeps
// them):
//
//   exp 1.3   exp2 1.4   expm1 1.8   log 1.3   log2 1.6   log1p 1.9   logistic 2.5   cbrt 1.0
//   sin 3.0   cos 3.0    tan 2.0     asin 2.5   acos 2.0   atan 2.0   atan2 1.5
//   cosh 2.0  tanh 2.5   asinh 0.6   acosh 0.6  atanh 0.6  erf 1.6    erfc 0.6   pow 0.6
//
// gelu is wrong by 7e-7 where x < 0 (there it is a difference), by 3 ulp where x > 0; by tanh ...
//
// With fused multiplications and without. sin, cos and tan reduce every argument up to the largest.
// math_wide.cpp computes in f64.
#ifndef HEDDLE_BACKENDS_HALIDE_MATH_H_
#define HEDDLE_BACKENDS_HALIDE_MATH_H_

#include "heddle/backends/halide/exact.h"

namespace heddle::halide::math {

Expr exp(const Expr& x);
Expr exp2(const Expr& x);
Expr expm1(const Expr& x);
Expr log(const Expr& x);
Expr log2(const Expr& x);
Expr log1p(const Expr& x);
Expr logistic(const Expr& x);
Expr cbrt(const Expr& x);
Expr erf(const Expr& x);
Expr erfc(const Expr& x);
Expr gelu(const Expr& x);
Expr gelu_tanh(const Expr& x);

Expr sin(const Expr& x);
Expr cos(const Expr& x);
Expr tan(const Expr& x);
Expr asin(const Expr& x);
Expr acos(const Expr& x);
Expr atan(const Expr& x);
/// As C's atan2: the angle of (x, y), signed zeros and infinities included.
Expr atan2(const Expr& y, const Expr& x);

Expr cosh(const Expr& x);
Expr tanh(const Expr& x);
Expr asinh(const Expr& x);
Expr acosh(const Expr& x);
Expr atanh(const Expr& x);

/// As C's pow: pow(x, 0) = 1 and pow(1, y) = 1 for NaN too; NaN for x < 0 and y not an integer.
Expr pow(const Expr& x, const Expr& y);

}  // namespace heddle::halide::math

#endif  // HEDDLE_BACKENDS_HALIDE_MATH_H_
