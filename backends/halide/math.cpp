#include "heddle/backends/halide/math.h"

#include <cmath>

#include "heddle/backends/halide/math_parts.h"
#include "heddle/backends/halide/rare.h"

namespace heddle::halide::math {
namespace {

constexpr float kLn2 = 0.693147182f;

// For arguments that are rounded anyway: one constant, one factor, z in [-87, 87]. Relative error
// 1.5e-7 + 3e-9 |z|.
Expr exp_rough(const Expr& z) {
  const Reduced e = reduce_ln2(z, 127, true);
  return exact_mul(poly(e.r, {0.0083124321f, 0.04189099f, 0.166671187f, 0.499992251f, 1.f, 1.f}),
                   float_of(e.b << 23));
}

Expr expm1_poly(const Expr& r) {
  const Expr q = poly(r, {0.00138824945f, 0.00836664718f, 0.0416672044f, 0.16666542f, 0.49999997f});
  return exact_add((r * r) * q, r);
}

// (ln(1+f) - f) / f^2, f in [-1/3, 1/3].
Expr log_quotient(const Expr& f) {
  return poly(f, {-0.12892285f, 0.139851436f, -0.121841401f, 0.14005737f, -0.166804954f,
                  0.200104132f, -0.249997973f, 0.333332151f, -0.5f});
}
// ln of 1+f times 2^i, by the quotient q.
Expr log_core(const Expr& f, const Expr& i, const Expr& q) {
  // exact, else i ln2 + f comes first
  return i * kLn2 + exact_add((f * f) * q, f);
}
Expr log_specials(const Expr& x, const Expr& y) {
  const Expr inf = Expr(INFINITY);
  return select(less(Expr(0.f), x), select(less(x, inf), y, x),
                select(equal(x, Expr(0.f)), -inf, Expr(NAN)));
}
// The exponent bits that bring x into [2/3, 4/3).
Expr exponent_bits(const Expr& x) { return (bits_of(x) - u32(0x3f2aaaabu)) & u32(0xff800000u); }
Expr exponent_value(const Expr& bits) {
  return Halide::cast<float>(Halide::reinterpret<std::int32_t>(bits)) * 1.1920929e-7f;
}
// x = (1 + f) 2^i, f in [-1/3, 1/3].
struct Split {
  Expr f, i;
};
Split split_normal(const Expr& x) {
  const Expr e = exponent_bits(x);
  return {exact_sub(float_of(bits_of(x) - e), Expr(1.f)), exponent_value(e)};
}
constexpr float kLeastNormal = 1.17549435e-38f;
Split split(const Expr& x) {
  const Expr tiny = less(x, Expr(kLeastNormal));
  const Split s = split_normal(select(tiny, exact_mul(x, Expr(8388608.f)), x));
  return {s.f, s.i + select(tiny, Expr(-23.f), Expr(0.f))};
}
// A logarithm by `of`; what is not normal and finite stands behind a branch.
template <class F>
Expr logarithm(const Expr& x, F of) {
  const Expr usual = less(Expr(std::nextafter(kLeastNormal, 0.f)), x) && less(x, Expr(INFINITY));
  return unless_rare(!usual, log_specials(x, of(split(x))), of(split_normal(x)));
}

}  // namespace

// One factor where results are normal; else two, behind a branch.
Expr exp(const Expr& x) {
  const Reduced near = reduce_ln2(x, 127);
  const Reduced e = reduce_ln2(at_least(-104.f, at_most(88.8f, x)), 254);
  const Expr far = in_two_factors(e.b, [&](const Expr& s) { return scaled_exp(e.r, s); });
  return unless_rare(!less(without_sign(x), Expr(87.f)), far,
                     scaled_exp(near.r, float_of(near.b << 23)));
}

// 2^f by a polynomial in f itself: x - f is exact.
Expr exp2(const Expr& x) {
  const Expr z = at_least(-152, at_most(128.5, x)), magic = Expr(12582912.f + 254.f);
  const Expr t = exact_add(z, magic), f = exact_sub(z, exact_sub(t, magic));
  const Expr p = poly(f, {0.000153533605f, 0.0013398875f, 0.00961843692f, 0.0555033237f,
                          0.240226477f, 0.693147182f});
  return in_two_factors(bits_of(t), [&](const Expr& s) { return (f * s) * p + s; });
}

// e^|x|/2 and a quarter of its inverse: no part overflows before the sum does.
Expr cosh(const Expr& x) {
  const Reduced e = reduce_ln2(at_most(90, without_sign(x)), 253);
  const Expr half = in_two_factors(e.b, [&](const Expr& s) { return scaled_exp(e.r, s); });
  return exact_add(half, exact_div(Expr(0.25f), half));
}

Expr expm1(const Expr& x) {
  const Expr z = at_least(-18.f, at_most(89.f, x));
  const Reduced e = reduce_ln2(z, 126);  // 2^(n-1): n = 128 must not overflow
  const Expr s = float_of(e.b << 23);
  const Expr half = expm1_poly(e.r) * s + exact_sub(s, Expr(0.5f));
  return select(equal(x, Expr(0.f)) || not_a_number(x), x, exact_mul(half, Expr(2.f)));
}

Expr tanh(const Expr& x) {  // e/(e+2), e = expm1(2|x|)
  const Reduced e = reduce_ln2(at_most(9.1f, abs(x)) * 2.f, 127, true);
  const Expr s = float_of(e.b << 23);
  const Expr m = expm1_poly(e.r) * s + exact_sub(s, Expr(1.f));
  return with_sign_of(exact_div(m, exact_add(m, Expr(2.f))), x);
}

// 1/(1+e), e = exp(-x) = 2^n + 2^n (exp(r) - 1), both by 2^-64, so that e does not overflow; where
// it is less than 2^-62, the sum is 1.
Expr logistic(const Expr& x) {
  const Expr one = Expr(0x1p-64f);
  const Reduced e = reduce_ln2(at_least(-43.f, at_most(105.f, -x)), 127 - 64);
  const Expr s = float_of(e.b << 23);
  const Expr y = exact_div(one, expm1_poly(e.r) * s + exact_add(s, one));
  return select(not_a_number(x), x, y);  // y is NaN, too, but not known to be
}

Expr erf(const Expr& x) {  // two branches, both computed
  const Expr t = at_most(4.f, abs(x)), s = t * t;
  const Expr near = exact_add(  // exact, else t (1 + p): 3 ulp
      t, t * poly(s, {-0.000595373916f, 0.00498594018f, -0.02676172f, 0.112816826f, -0.376124799f,
                      0.128379136f}));
  const Expr g = poly(t, {0.000213645995f, -0.00321215228f, 0.0228809416f, -0.105247714f,
                          -0.635729074f, -0.128511176f});
  const Expr far = exact_sub(Expr(1.f), exp_rough(t * g - t));
  return with_sign_of(select(less(t, Expr(0.93f)), near, far), x);
}

// max(x, 0) - |x| Phi(-|x|). Phi(a) - 1/2 is a P(a^2)/Q(a^2), all of whose coefficients are
// positive, to 5 ulp; it reaches 1/2 before the bound on a.
Expr gelu(const Expr& x) {
  const Expr a = at_most(5.8f, without_sign(x)), s = a * a;
  const Expr p = poly(s, {2.26504664e-08f, 6.29509759e-06f, 0.000166419515f, 0.00466237962f,
                          0.0336595289f, 0.398942262f});
  const Expr q =
      poly(s, {1.19036724e-06f, 7.2658906e-05f, 0.00187115872f, 0.0285273399f, 0.251038313f, 1.f});
  const Expr tail = exact_sub(Expr(0.5f), at_most(0.5f, exact_div(exact_mul(a, p), q)));
  return select(not_a_number(x), x, exact_sub(at_least(0, x), exact_mul(a, tail)));
}

// The same with Phi(-a) = 1/(1 + e^2u), u = sqrt(2/pi) (a + 0.044715 a^3); from 88.4 on the
// exponential is infinite.
Expr gelu_tanh(const Expr& x) {
  const Expr a = at_most(16, without_sign(x));
  const Expr e = exp_rough(at_most(88.8f, a * ((a * a) * 0.0713548163f + 1.59576912f)));
  const Expr part = exact_div(a, exact_add(e, Expr(1.f)));
  return select(not_a_number(x), x, exact_sub(at_least(0, x), part));
}

// A coefficient less than log_quotient.
Expr log(const Expr& x) {
  return logarithm(x, [](const Split& m) {
    const Expr q = poly(m.f, {0.140296653f, -0.153918996f, 0.13995187f, -0.164154038f, 0.20011203f,
                              -0.25007844f, 0.333331972f, -0.499999344f});
    return log_core(m.f, m.i, q);
  });
}

// f log2(e) + f^2 q log2(e), the constant of the first term in two parts.
Expr log2(const Expr& x) {
  return logarithm(x, [](const Split& m) {
    const Expr tail =
        (m.f * m.f) * (log_quotient(m.f) * 1.44269502f) + exact_mul(m.f, Expr(1.92596303e-8f));
    return exact_add(m.i, exact_add(exact_mul(m.f, Expr(1.44269502f)), tail));
  });
}

// 1 + x = (1 + f) 2^i, f without the error of the sum; beyond 1e10 that of the sum does.
Expr log1p(const Expr& x) {
  const Expr u = exact_add(x, Expr(1.f)), e = exponent_bits(u), i = exponent_value(e);
  const Expr scale = float_of(u32(0x3f800000u) - e);  // 2^-i
  const Expr small = x * scale + exact_sub(scale, Expr(1.f));
  const Expr large = exact_sub(float_of(bits_of(u) - e), Expr(1.f));
  const Expr f = select(less(Expr(1e10f), u), large, small);
  const auto keep_zero = [&](const Expr& y) { return select(equal(x, Expr(0.f)), x, y); };
  const Expr usual = less(Expr(-1.f), x) && less(x, Expr(1e10f));
  return unless_rare(!usual, keep_zero(log_specials(u, log_core(f, i, log_quotient(f)))),
                     keep_zero(log_core(small, i, log_quotient(small))));
}

// A third of the exponent for a start (3.5 %), Halley's step, then Newton's with a residual of more
// digits.
Expr cbrt_by(const Expr& x, Expr (*residual)(const Expr&, const Expr&)) {
  const Expr a = without_sign(x), tiny = less(a, Expr(1.17549435e-38f)),
             huge = less(Expr(0x1p100f), a);
  const Expr one = Expr(1.f);
  const Expr z = a * select(tiny, Expr(0x1p24f), select(huge, Expr(0x1p-24f), one));
  const Expr start = float_of(bits_of(z) / u32(3) + u32(709958130u));
  const Expr cube = start * start * start;
  const Expr y = start * exact_div(cube + 2.f * z, 2.f * cube + z);
  const Expr root = exact_sub(y, exact_div(residual(y, z), 3.f * y * y));
  const Expr scaled = root * select(tiny, Expr(0x1p-8f), select(huge, Expr(0x1p8f), one));
  const Expr itself = equal(a, Expr(0.f)) || !less(a, Expr(INFINITY));
  return select(itself, x, with_sign_of(scaled, x));
}

Expr cbrt(const Expr& x) {
  return cbrt_by(x, [](const Expr& y, const Expr& z) {
    const Expr d = Halide::cast<double>(y);
    return Halide::cast<float>(exact_sub(d * d * d, Halide::cast<double>(z)));
  });
}

}  // namespace heddle::halide::math
