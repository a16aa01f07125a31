#include "heddle/backends/halide/math_pair.h"

#include "heddle/backends/halide/math_parts.h"

namespace heddle::halide::math {
namespace {

// |a| >= |b|.
Pair quick_sum(const Expr& a, const Expr& b) {
  const Expr s = exact_add(a, b);
  return {s, exact_sub(b, exact_sub(s, a))};
}

// The upper 12 of 24 digits, and the rest.
Pair halves(const Expr& x) {
  const Expr high = float_of(bits_of(x) & u32(0xfffff000u));
  return {high, exact_sub(x, high)};
}

}  // namespace

Pair pair_of(double value) {
  const auto high = static_cast<float>(value);
  return {Expr(high), Expr(static_cast<float>(value - static_cast<double>(high)))};
}

Pair two_sum(const Expr& a, const Expr& b) {
  const Expr s = exact_add(a, b), part = exact_sub(s, a);
  return {s, exact_add(exact_sub(a, exact_sub(s, part)), exact_sub(b, part))};
}

Pair two_product(const Expr& a, const Expr& b) {
  const Expr p = exact_mul(a, b);
  const Pair x = halves(a), y = halves(b);
  Expr rest = exact_sub(exact_mul(x.high, y.high), p);
  rest = exact_add(rest, exact_mul(x.high, y.low));
  rest = exact_add(rest, exact_mul(x.low, y.high));
  return {p, exact_add(rest, exact_mul(x.low, y.low))};
}

Pair add(const Pair& a, const Pair& b) {
  const Pair s = two_sum(a.high, b.high);
  return quick_sum(s.high, exact_add(s.low, exact_add(a.low, b.low)));
}
Pair add(const Pair& a, const Expr& b) {
  const Pair s = two_sum(a.high, b);
  return quick_sum(s.high, exact_add(s.low, a.low));
}
Pair negated(const Pair& a) {
  const Expr sign = u32(0x80000000u);
  return {float_of(bits_of(a.high) ^ sign), float_of(bits_of(a.low) ^ sign)};
}

Pair mul(const Pair& a, const Pair& b) {
  const Pair p = two_product(a.high, b.high);
  const Expr cross = exact_add(exact_mul(a.high, b.low), exact_mul(a.low, b.high));
  return quick_sum(p.high, exact_add(p.low, cross));
}
Pair mul(const Pair& a, const Expr& b) {
  const Pair p = two_product(a.high, b);
  return quick_sum(p.high, exact_add(p.low, exact_mul(a.low, b)));
}

Pair div(const Pair& a, const Pair& b) {
  const Expr q = exact_div(a.high, b.high);
  const Pair rest = add(a, negated(mul(b, q)));
  return quick_sum(q, exact_div(rest.high, b.high));
}

Pair root(const Pair& a) {
  const Expr r = sqrt(a.high);
  const Pair rest = add(a, negated(two_product(r, r)));
  return quick_sum(r, exact_div(rest.high, exact_mul(r, Expr(2.f))));
}

// 2 atanh(s) / ln2 + exponent, s = (m-1)/(m+1), m the mantissa in [2/3, 4/3): |s| <= 1/5, and the
// terms from s^5 on need f32 only.
Pair log2(const Pair& x) {
  const Expr e = (bits_of(x.high) - u32(0x3f2aaaabu)) & u32(0xff800000u);
  const Expr scale = float_of(u32(0x3f800000u) - e);
  const Pair m{exact_mul(x.high, scale), exact_mul(x.low, scale)};
  const Expr exponent =
      exact_mul(Halide::cast<float>(Halide::reinterpret<std::int32_t>(e)), Expr(1.1920929e-7f));
  const Pair s = div(add(m, Expr(-1.f)), add(m, Expr(1.f)));
  const Pair t = mul(s, s);
  const Expr rest = poly(t.high, {1.f / 13, 1.f / 11, 1.f / 9, 1.f / 7, 1.f / 5});
  const Pair series = mul(t, add(pair_of(1.0 / 3), exact_mul(t.high, rest)));
  const Pair first = mul(s, pair_of(2.0 / 0.69314718055994530942));
  return add(add(first, mul(first, series)), exponent);
}

// See math::exp2; the low part of z is one factor 1 + low ln2 more.
Expr exp2(const Pair& z) {
  const Expr magic = Expr(12582912.f + 254.f);
  const Expr t = exact_add(z.high, magic);
  const Expr f = exact_sub(z.high, exact_sub(t, magic));
  const Expr p = poly(f, {0.000153533605f, 0.0013398875f, 0.00961843692f, 0.0555033237f,
                          0.240226477f, 0.693147182f});
  const Expr first = f * p, small = first + (z.low * 0.693147182f) * (first + 1.f);
  return in_two_factors(bits_of(t), [&](const Expr& s) { return exact_add(small * s, s); });
}

}  // namespace heddle::halide::math
