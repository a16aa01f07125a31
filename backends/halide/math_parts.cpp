#include "heddle/backends/halide/math_parts.h"

namespace heddle::halide::math {

using Halide::Internal::Call;
using Halide::Internal::make_const;

Expr at_least(double low, const Expr& x) {
  return Call::make(x.type(), Call::strict_max, {make_const(x.type(), low), x},
                    Call::PureIntrinsic);
}
Expr at_most(double high, const Expr& x) {
  return Call::make(x.type(), Call::strict_min, {make_const(x.type(), high), x},
                    Call::PureIntrinsic);
}
Expr u32(std::uint32_t v) { return Expr(v); }
Expr with_sign_of(const Expr& magnitude, const Expr& x) {
  return float_of(bits_of(magnitude) | (bits_of(x) & u32(0x80000000u)));
}

namespace {
template <class T>
Expr estrin(const Expr& x, const std::vector<T>& c) {
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
}  // namespace

Expr poly(const Expr& x, const std::vector<float>& c) { return estrin(x, c); }
Expr poly_wide(const Expr& x, const std::vector<double>& c) { return estrin(x, c); }

Reduced reduce_ln2(const Expr& z, int offset, bool one_constant) {
  constexpr float kLog2e = 1.44269504f, kLn2 = 0.693147182f;
  constexpr float kLn2Hi = 0.693359375f,
                  kLn2Lo = -2.12194440e-4f;  // 9 bits + rest: n * hi is exact
  // 1.5 * 2^23: adding it rounds to an integer and leaves that in the low bits.
  const float magic = 12582912.f + static_cast<float>(offset);
  const Expr t = z * kLog2e + magic, n = exact_sub(t, Expr(magic));
  if (one_constant) return {n, bits_of(t), z - n * kLn2};
  const Expr high = z - n * kLn2Hi;  // an FMA
  return {n, bits_of(t),
          exact_sub(high, exact_mul(n, Expr(kLn2Lo)))};  // else the two constants are added up
}

// (s + r s) + (r^2 s) q: the scale comes in early, off the critical path.
Expr scaled_exp(const Expr& r, const Expr& s) {
  const Expr q =
      poly(r, {0.00138143182f, 0.00836885162f, 0.0416684002f, 0.166665196f, 0.49999994f});
  return ((r * r) * s) * q + (r * s + s);
}

// 2 atanh(s) / ln2 + exponent, s = (m-1)/(m+1), where m is x's mantissa in [2/3, 4/3): |s| <= 1/5.
Expr log2_wide(const Expr& x) {
  const auto u64 = [](std::uint64_t v) { return Expr(v); };
  const Expr e = (bits_of(x) - u64(0x3fe5555555555555u)) & u64(0xfff0000000000000u);
  const Expr m = float_of(bits_of(x) - e);
  const Expr high = Halide::reinterpret<std::int32_t>(Halide::cast<std::uint32_t>(e >> 32));
  const Expr exponent = Halide::cast<double>(high >> 20);
  const Expr s = exact_div(exact_sub(m, Expr(1.0)), m + Expr(1.0));
  return exponent +
         s * poly_wide(s * s, {0.3484467239470735, 0.41120270354259847, 0.577092418013362,
                               0.961796621296398, 2.8853900818364346});
}

Expr exp2_wide(const Expr& z) {
  const double magic = 6755399441055744.0;  // 1.5 * 2^52: see reduce_ln2
  const Expr t = exact_add(z, Expr(magic)), f = z - exact_sub(t, Expr(magic));
  const Expr exponent = (bits_of(t) + make_const(Halide::UInt(64), 1023)) << 52;
  return exact_mul(poly_wide(f, {0.00015345789106792462, 0.0013399957618535907,
                                 0.009618489243896175, 0.05550328711834392, 0.24022646886084428,
                                 0.6931472057671272, 1.0000000005550496}),
                   float_of(exponent));
}

}  // namespace heddle::halide::math
