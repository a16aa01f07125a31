// The elementary functions of math.h that compute in f64 on their way, without it: for devices that
// have none. Special values are the same. Bounds in units in the last place:
//
//   sin 2.5   cos 2.5   tan 2.5   atan2 3.0   cbrt 1.0   pow 1.5   erfc 3.0
//   asinh 1.0   acosh 1.0   atanh 1.0
//
// Arguments of sin, cos and tan are reduced up to the largest, by integers of 32 bits.
#ifndef HEDDLE_BACKENDS_HALIDE_MATH_SINGLE_H_
#define HEDDLE_BACKENDS_HALIDE_MATH_SINGLE_H_

#include "heddle/backends/halide/exact.h"

namespace heddle::halide::math::single {

Expr sin(const Expr& x);
Expr cos(const Expr& x);
Expr tan(const Expr& x);
Expr atan2(const Expr& y, const Expr& x);
Expr cbrt(const Expr& x);
Expr pow(const Expr& x, const Expr& y);
Expr erfc(const Expr& x);
Expr asinh(const Expr& x);
Expr acosh(const Expr& x);
Expr atanh(const Expr& x);

}  // namespace heddle::halide::math::single

#endif  // HEDDLE_BACKENDS_HALIDE_MATH_SINGLE_H_
