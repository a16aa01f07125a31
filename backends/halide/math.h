// Elementary functions of f32 as expressions, vectorised, with every special value right. Bounds
// in units in the last place against the exact value, over all arguments (tests/backends sweeps
// them):
//
//   exp 1.3   expm1 1.8   log 1.0   log1p 1.7   tanh 2.5   logistic 2.5   erf 1.4   pow 0.6
//
// Polynomials: weighted minimax fits, rounded to f32 one coefficient at a time. pow computes in
// f64.
#ifndef HEDDLE_BACKENDS_HALIDE_MATH_H_
#define HEDDLE_BACKENDS_HALIDE_MATH_H_

#include "heddle/backends/halide/exact.h"

namespace heddle::halide::math {

Expr exp(const Expr& x);
Expr expm1(const Expr& x);
Expr log(const Expr& x);
Expr log1p(const Expr& x);
Expr tanh(const Expr& x);
Expr logistic(const Expr& x);
Expr erf(const Expr& x);
/// As C's pow: pow(x, 0) = 1 and pow(1, y) = 1 for NaN too; NaN for x < 0 and y not an integer.
Expr pow(const Expr& x, const Expr& y);

}  // namespace heddle::halide::math

#endif  // HEDDLE_BACKENDS_HALIDE_MATH_H_
