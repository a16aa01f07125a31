// Functions whose f32 result is computed in f64 and rounded once.
#include <cmath>

#include "heddle/backends/halide/math.h"
#include "heddle/backends/halide/math_parts.h"
#include "heddle/backends/halide/rare.h"

namespace heddle::halide::math {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

Expr wide(const Expr& x) { return Halide::cast<double>(x); }
Expr narrow(const Expr& x) { return Halide::cast<float>(x); }
Expr limit(double low, double high, const Expr& x) { return at_least(low, at_most(high, x)); }

}  // namespace

namespace {

// In every case.
Expr any_pow(const Expr& x, const Expr& y) {
  const Expr one = Expr(1.f), zero = Expr(0.f), a = without_sign(x);
  const Expr finite = less(zero, a) && less(a, Expr(INFINITY));
  const Expr log2_a = select(finite, log2_wide(wide(select(finite, a, one))),
                             select(equal(a, zero), Expr(-double(INFINITY)),
                                    Halide::cast<double>(a)));  // inf or NaN
  const Expr product = exact_mul(Halide::cast<double>(y), log2_a);
  return pow_cases(x, y, exact_cast(exp2_wide(limit(-160, 160, product))));
}

}  // namespace

// Of positive normal x, and a result that does not come near the largest: else behind a branch.
Expr pow(const Expr& x, const Expr& y) {
  const Expr inf = Expr(INFINITY);
  const Expr product = exact_mul(wide(y), log2_wide(wide(x)));
  const Expr near = narrow(exp2_wide(limit(-160, 127.99, product)));
  const Expr usual = less(Expr(0x1.fffffcp-127f), x) && less(x, inf) &&
                     less(without_sign(y), inf) && less(near, Expr(0x1p127f));
  return unless_rare(!usual, any_pow(x, y), near);
}

Expr pow_cases(const Expr& x, const Expr& y, const Expr& magnitude) {
  const Expr one = Expr(1.f), zero = Expr(0.f), inf = Expr(INFINITY);
  const Expr a = without_sign(x), b = without_sign(y);
  const Expr size = select(not_a_number(x) || not_a_number(y), Expr(NAN), magnitude);
  // Integers: floats from 2^23 on all are; from 2^24 on they are even.
  const Expr whole = !less(b, Expr(8388608.f)) || equal(floor(b), b);
  const Expr half = exact_mul(b, Expr(0.5f));
  const Expr odd = less(b, Expr(16777216.f)) && whole && !equal(floor(half), half);
  const Expr negative = (bits_of(x) & u32(0x80000000u)) != u32(0);
  Expr result = select(negative && odd, float_of(bits_of(size) | u32(0x80000000u)), size);
  result = select(less(x, zero) && less(a, inf) && !whole && !not_a_number(y), Expr(NAN), result);
  result = select(equal(a, one) && equal(b, inf), one, result);
  return select(equal(y, zero) || equal(x, one), one, result);
}

// erfc(a) e^(a^2) for a >= 0 is a polynomial in (a-3)/(a+3), to 4e-11 of it; erfc(-a) = 2 -
// erfc(a).
Expr erfc(const Expr& x) {
  const Expr a = wide(at_most(11, without_sign(x)));
  const Expr u = exact_div(exact_sub(a, Expr(3.0)), a + Expr(3.0));
  const Expr q = poly_wide(
      u, {-6.7666131156207709e-06, -9.7410185193602672e-06, 6.3839107837651565e-05,
          4.3358062340875803e-05, -0.00059718335371911069, 0.00070831867200686627,
          0.0042691843410202074, -0.024392586029690765, 0.071665832301980592, -0.15011593071961232,
          0.24560380181277883, -0.32623356015347976, 0.17900115118187113});
  const Expr y = exp2_wide(a * a * Expr(-1 / kLn2)) * q;
  const Expr value = narrow(select(less(x, Expr(0.f)), exact_sub(Expr(2.0), y), y));
  return select(not_a_number(x), x, value);
}

namespace {

// Below 2^-12 the logarithm would lose digits, and x + c x^3 is right.
Expr odd_inverse(const Expr& x, float c, const Expr& logarithm) {
  const Expr a = without_sign(x), near = exact_add(a, (a * a) * (a * c));
  const Expr y = select(less(a, Expr(0x1p-12f)), near, narrow(logarithm));
  return with_sign_of(y, x);
}

}  // namespace

Expr asinh(const Expr& x) {
  const Expr a = wide(without_sign(x));
  const Expr y = odd_inverse(x, -1.f / 6, log2_wide(a + sqrt(a * a + Expr(1.0))) * Expr(kLn2));
  return select(less(without_sign(x), Expr(INFINITY)), y, x);
}

Expr acosh(const Expr& x) {
  const Expr one = Expr(1.f), a = wide(select(less(x, one), one, x));
  const Expr y = narrow(log2_wide(a + sqrt(exact_sub(a * a, Expr(1.0)))) * Expr(kLn2));
  return select(less(x, one), Expr(NAN), select(less(x, Expr(INFINITY)), y, x));
}

Expr atanh(const Expr& x) {
  const Expr one = Expr(1.f), a = without_sign(x), inside = less(a, one);
  const Expr d = wide(select(inside, a, Expr(0.5f)));
  const Expr ratio = exact_div(d + Expr(1.0), exact_sub(Expr(1.0), d));
  const Expr y = odd_inverse(x, 1.f / 3, log2_wide(ratio) * Expr(kLn2 / 2));
  return select(inside, y, select(equal(a, one), with_sign_of(Expr(INFINITY), x), Expr(NAN)));
}

}  // namespace heddle::halide::math
