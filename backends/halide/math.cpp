#include "heddle/backends/halide/math.h"

#include <cmath>
#include <vector>

namespace heddle::halide::math {
namespace {

using Halide::Internal::Call;

// These two keep a NaN in x (the operand order matters on x86).
Expr at_least(float low, const Expr& x) {
  return Call::make(x.type(), Call::strict_max, {Expr(low), x}, Call::PureIntrinsic);
}
Expr at_most(float high, const Expr& x) {
  return Call::make(x.type(), Call::strict_min, {Expr(high), x}, Call::PureIntrinsic);
}
Expr u32(std::uint32_t v) { return Expr(v); }
Expr with_sign_of(const Expr& magnitude, const Expr& x) {
  return float_of(bits_of(magnitude) | (bits_of(x) & u32(0x80000000u)));
}

// Estrin's scheme, highest power first.
Expr poly(const Expr& x, const std::vector<float>& c) {
  std::vector<Expr> p;
  for (std::size_t i = c.size(); i-- > 0;) p.push_back(Expr(c[i]));
  for (Expr power = x; p.size() > 1; power = power * power) {
    std::vector<Expr> q;
    for (std::size_t i = 0; i + 1 < p.size(); i += 2) q.push_back(p[i] + power * p[i + 1]);
    if (p.size() % 2 != 0) q.back() = q.back() + (power * power) * p.back();
    p = q;
  }
  return p[0];
}

constexpr float kLog2e = 1.44269504f, kLn2 = 0.693147182f;
constexpr float kLn2Hi = 0.693359375f, kLn2Lo = -2.12194440e-4f;  // 9 bits + rest: n * hi is exact

// z -> n (the integer nearest to z / ln2, as float), the bits n + offset (low 9 bits), and
// r = z - n ln2.
struct Reduced {
  Expr n, b, r;
};
Reduced reduce_ln2(const Expr& z, int offset, bool one_constant = false) {
  // 1.5 * 2^23: adding it rounds to an integer and leaves that in the low bits.
  const float magic = 12582912.f + static_cast<float>(offset);
  const Expr t = z * kLog2e + magic, n = exact_sub(t, Expr(magic));
  if (one_constant) return {n, bits_of(t), z - n * kLn2};
  const Expr high = z - n * kLn2Hi;  // an FMA
  return {n, bits_of(t),
          exact_sub(high, exact_mul(n, Expr(kLn2Lo)))};  // else the two constants are added up
}

// e^r times the power of two s: (s + r s) + (r^2 s) q. The scale comes in early, off the critical
// path.
Expr scaled_exp(const Expr& r, const Expr& s) {
  const Expr q =
      poly(r, {0.00138143182f, 0.00836885162f, 0.0416684002f, 0.166665196f, 0.49999994f});
  return ((r * r) * s) * q + (r * s + s);
}

// x <= 0 or NaN: the second factor is a constant.
Expr exp_nonpositive(const Expr& x) {
  const Reduced e = reduce_ln2(at_least(-105.f, x), 127 + 64);
  return exact_mul(scaled_exp(e.r, float_of(e.b << 23)), Expr(0x1p-64f));
}

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

// ln of 1+f times 2^i, f in [-1/3, 1/3].
Expr log_core(const Expr& f, const Expr& i) {
  const Expr s = f * f;
  const Expr q = poly(f, {-0.12892285f, 0.139851436f, -0.121841401f, 0.14005737f, -0.166804954f,
                          0.200104132f, -0.249997973f, 0.333332151f, -0.5f});
  return i * kLn2 + exact_add(s * q, f);  // exact, else i ln2 + f comes first
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

}  // namespace

// 2^n as two factors, so that overflow and subnormal results come out right. Offset 254 gives each
// half its bias of 127.
Expr exp(const Expr& x) {
  const Reduced e = reduce_ln2(at_least(-104.f, at_most(88.8f, x)), 254);
  const Expr half = e.b >> 1;
  return exact_mul(scaled_exp(e.r, float_of(half << 23)), float_of((e.b - half) << 23));
}

Expr expm1(const Expr& x) {
  const Expr z = at_least(-18.f, at_most(89.f, x));
  const Reduced e = reduce_ln2(z, 126);  // 2^(n-1): n = 128 must not overflow
  const Expr s = float_of(e.b << 23);
  const Expr half = expm1_poly(e.r) * s + exact_sub(s, Expr(0.5f));
  return select(equal(x, Expr(0.f)), x, exact_mul(half, Expr(2.f)));
}

Expr tanh(const Expr& x) {  // e/(e+2), e = expm1(2|x|)
  const Reduced e = reduce_ln2(at_most(9.1f, abs(x)) * 2.f, 127, true);
  const Expr s = float_of(e.b << 23);
  const Expr m = expm1_poly(e.r) * s + exact_sub(s, Expr(1.f));
  return with_sign_of(exact_div(m, exact_add(m, Expr(2.f))), x);
}

Expr logistic(const Expr& x) {  // 1/(1+e) or e/(1+e), e = exp(-|x|): subnormal results too
  const Expr e = exp_nonpositive(-abs(x));
  return exact_div(select(less(x, Expr(0.f)), e, Expr(1.f)), exact_add(e, Expr(1.f)));
}

Expr erf(const Expr& x) {  // two branches, both computed
  const Expr t = at_most(4.f, abs(x)), s = t * t;
  const Expr near = exact_add(  // exact, else t (1 + p): 3 ulp
      t, t * poly(s, {-0.000595373916f, 0.00498594018f, -0.02676172f, 0.112816826f, -0.376124799f,
                      0.128379136f}));
  const Expr g = poly(t, {-1.12314656e-05f, 0.000322805427f, -0.00364246522f, 0.0237620752f,
                          -0.10623689f, -0.635151327f, -0.128648475f});
  const Expr far = exact_sub(Expr(1.f), exp_rough(t * g - t));
  return with_sign_of(select(less(t, Expr(0.93f)), near, far), x);
}

Expr log(const Expr& x) {
  const Expr tiny = less(x, Expr(1.17549435e-38f));
  const Expr a = select(tiny, exact_mul(x, Expr(8388608.f)), x);
  const Expr e = exponent_bits(a);
  const Expr f = exact_sub(float_of(bits_of(a) - e), Expr(1.f));
  const Expr i = exponent_value(e) + select(tiny, Expr(-23.f), Expr(0.f));
  return log_specials(x, log_core(f, i));
}

Expr log1p(const Expr& x) {
  const Expr u = exact_add(x, Expr(1.f));
  const Expr e = exponent_bits(u);
  const Expr scale = float_of(u32(0x3f800000u) - e);  // 2^-i
  const Expr f = select(less(Expr(1e10f), u), exact_sub(float_of(bits_of(u) - e), Expr(1.f)),
                        x * scale + exact_sub(scale, Expr(1.f)));
  return select(equal(x, Expr(0.f)), x, log_specials(u, log_core(f, exponent_value(e))));
}

namespace {

// log2 of a finite x > 0, in f64 to about 1e-15: 2 atanh((m-1)/(m+1)) / ln2 + exponent, where m is
// x's mantissa in [2/3, 4/3). |s| <= 1/5, so ten terms do.
Expr log2_double(const Expr& x) {
  const Expr tiny = less(x, Expr(1.17549435e-38f));
  const Expr a = select(tiny, exact_mul(x, Expr(8388608.f)), x);
  const Expr e = exponent_bits(a);
  const Expr m = Halide::cast<double>(float_of(bits_of(a) - e));
  const Expr i = exponent_value(e) + select(tiny, Expr(-23.f), Expr(0.f));
  const Expr s = (m - Expr(1.0)) / (m + Expr(1.0)), q = s * s;
  Expr series = Expr(0.0);
  for (int k = 21; k >= 1; k -= 2) series = series * q + Expr(1.0 / k);
  return Halide::cast<double>(i) + (s * series) * Expr(2.0 / 0.69314718055994530942);
}

// 2^z, z in [-160, 160], in f64; the result rounds once to f32, subnormals and overflow included.
Expr exp2_float(const Expr& z) {
  const double magic = 6755399441055744.0;  // 1.5 * 2^52
  const Expr t = exact_add(z, Expr(magic)), n = exact_sub(t, Expr(magic));
  const Expr f = (z - n) * Expr(0.69314718055994530942);
  Expr series = Expr(1.0);
  double factorial = 1;
  std::vector<double> c{1.0};
  for (int k = 1; k <= 12; ++k) c.push_back(1 / (factorial *= k));
  series = Expr(c[12]);
  for (int k = 11; k >= 0; --k) series = series * f + Expr(c[static_cast<std::size_t>(k)]);
  const Expr exponent = (bits_of(t) + Halide::Internal::make_const(Halide::UInt(64), 1023)) << 52;
  return Halide::cast<float>(exact_mul(series, float_of(exponent)));
}

Expr limit(double low, double high, const Expr& x) {
  const Expr top = Call::make(x.type(), Call::strict_min, {Expr(high), x}, Call::PureIntrinsic);
  return Call::make(x.type(), Call::strict_max, {Expr(low), top}, Call::PureIntrinsic);
}

}  // namespace

Expr pow(const Expr& x, const Expr& y) {
  const Expr one = Expr(1.f), zero = Expr(0.f), inf = Expr(INFINITY);
  const Expr a = abs(x), b = abs(y);
  const Expr finite = less(zero, a) && less(a, inf);
  const Expr log2_a = select(finite, log2_double(select(finite, a, one)),
                             select(equal(a, zero), Expr(-double(INFINITY)),
                                    Halide::cast<double>(a)));  // inf or NaN
  const Expr product = exact_mul(Halide::cast<double>(y), log2_a);
  Expr magnitude = exp2_float(limit(-160, 160, product));
  magnitude =
      select(not_a_number(Halide::cast<float>(limit(-160, 160, product))), Expr(NAN), magnitude);
  // Integers: floats from 2^23 on all are; from 2^24 on they are even.
  const Expr whole = !less(b, Expr(8388608.f)) || equal(floor(b), b);
  const Expr half = exact_mul(b, Expr(0.5f));
  const Expr odd = less(b, Expr(16777216.f)) && whole && !equal(floor(half), half);
  const Expr negative = (bits_of(x) & u32(0x80000000u)) != u32(0);
  Expr result = select(negative && odd, float_of(bits_of(magnitude) | u32(0x80000000u)), magnitude);
  result = select(less(x, zero) && less(a, inf) && !whole && !not_a_number(y), Expr(NAN), result);
  result = select(equal(a, one) && equal(b, inf), one, result);
  return select(equal(y, zero) || equal(x, one), one, result);
}

}  // namespace heddle::halide::math
