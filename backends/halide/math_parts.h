// What the elementary functions are built of. Polynomials whose origin is not said are minimax fits
// of the relative error (least squares on Chebyshev points, reweighted by the error until it is
// level), rounded to f32 one coefficient at a time from the top with the rest fitted again.
#ifndef HEDDLE_BACKENDS_HALIDE_MATH_PARTS_H_
#define HEDDLE_BACKENDS_HALIDE_MATH_PARTS_H_

#include <vector>

#include "heddle/backends/halide/exact.h"

namespace heddle::halide::math {

/// max and min with a constant that keep a NaN in x (the operand order matters on x86). f32 or f64.
Expr at_least(double low, const Expr& x);
Expr at_most(double high, const Expr& x);
Expr u32(std::uint32_t v);
/// f32: the sign bit of x on a magnitude.
Expr with_sign_of(const Expr& magnitude, const Expr& x);

/// Highest power first, by Estrin's scheme: few steps wait for each other.
Expr poly(const Expr& x, const std::vector<float>& c);
Expr poly_wide(const Expr& x, const std::vector<double>& c);

/// f32: z -> n (the integer nearest to z / ln2, as float), the bits n + offset (low 9 bits), and
/// r = z - n ln2.
struct Reduced {
  Expr n, b, r;
};
Reduced reduce_ln2(const Expr& z, int offset, bool one_constant = false);
/// 2^n y as two factors, so that overflow and subnormal results come out right: `scaled` gives y
/// times its argument, a power of two; b = n + 254, each half has its bias of 127.
template <class F>
Expr in_two_factors(const Expr& b, F scaled) {
  const Expr half = b >> 1;
  return exact_mul(scaled(float_of(half << 23)), float_of((b - half) << 23));
}
/// e^r times the power of two s.
Expr scaled_exp(const Expr& r, const Expr& s);

/// The cube root; `residual(y, z)` is y^3 - z, small against z.
Expr cbrt_by(const Expr& x, Expr (*residual)(const Expr& y, const Expr& z));
/// pow(x, y) where |x|^y is `magnitude`, special values included.
Expr pow_cases(const Expr& x, const Expr& y, const Expr& magnitude);

/// In f64: log2 of a normal finite x > 0, to 2e-11 of it; 2^z for z in [-1000, 1000], to 2e-9.
Expr log2_wide(const Expr& x);
Expr exp2_wide(const Expr& z);

}  // namespace heddle::halide::math

#endif  // HEDDLE_BACKENDS_HALIDE_MATH_PARTS_H_
