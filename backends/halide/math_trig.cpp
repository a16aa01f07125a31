// Sine, cosine, tangent and their inverses, f32.
#include <cmath>

#include "heddle/backends/halide/math.h"
#include "heddle/backends/halide/math_pair.h"
#include "heddle/backends/halide/math_parts.h"
#include "heddle/backends/halide/math_single.h"
#include "heddle/backends/halide/rare.h"

namespace heddle::halide::math {
namespace {

constexpr float kHalfPi = 1.57079637f, kHalfPiLow = -4.37113883e-8f;
constexpr float kQuarterPi = 0.785398185f, kQuarterPiLow = -2.18556941e-8f;

Expr u64(const Expr& x) { return Halide::cast<std::uint64_t>(x); }

// a = q pi/2 + r + rest, |r| <= pi/4: q modulo 4; r, as f32, has 24 good digits for every a, and
// the rest more.
struct Quarters {
  Expr q, r, rest;
};

// a is an integer m times a power of two, so of 2/pi only 96 bits matter: those from the weight 2
// on, once the power is multiplied in (Payne and Hanek, 1983). The nearest an f32 comes to a
// multiple of pi/2 is 2^-29; m times the bits cut off is 2^-70.
struct Window {
  Expr m, words[3], small;  // small: a itself is the rest
};
Window window_of(const Expr& a) {
  // 2/pi after 34 zeros: at exponent 118 (2^-9) the window starts with the first of them.
  static constexpr std::uint32_t kTwoOverPi[] = {
      0, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u, 0x7f9458eau};
  constexpr std::uint32_t kFirst = 118;
  const Expr bits = bits_of(a), exponent = bits >> 23;
  const Expr start = max(exponent, u32(kFirst)) - u32(kFirst);
  const Expr word = Halide::cast<std::int32_t>(start >> 5), shift = start & u32(31);
  std::vector<Expr> words;
  for (std::size_t k = 0; k < 4; ++k) {
    std::vector<Expr> choices;
    for (std::size_t i = 0; i < 5; ++i) choices.push_back(u32(kTwoOverPi[k + i]));
    words.push_back(mux(word, choices));
  }
  const auto window = [&](std::size_t k) {
    return (words[k] << shift) | ((words[k + 1] >> 1) >> (u32(31) - shift));
  };
  return {(bits & u32(0x7fffffu)) | u32(0x800000u),
          {window(0), window(1), window(2)},
          exponent < u32(kFirst)};
}

Quarters reduce_half_pi(const Expr& a) {
  const Window w = window_of(a);
  // m times the window, modulo 4: two bits of q, then the fraction.
  const Expr product = (u64(w.m * w.words[0]) << 32) + u64(w.m) * u64(w.words[1]) +
                       ((u64(w.m) * u64(w.words[2])) >> 32);
  const Expr q = (product + Expr(std::uint64_t{1} << 61)) >> 62;
  const Expr fraction = product - (q << 62);
  const Expr high = Halide::reinterpret<std::int32_t>(Halide::cast<std::uint32_t>(fraction >> 32));
  const Expr low = Halide::cast<double>(Halide::cast<std::uint32_t>(fraction));
  const Expr wide =
      select(w.small, Halide::cast<double>(a),
             (Halide::cast<double>(high) * Expr(0x1p32) + low) * Expr(3.4061215800865546e-19));
  const Expr r = Halide::cast<float>(wide);
  return {select(w.small, u32(0), Halide::cast<std::uint32_t>(q)), r,
          Halide::cast<float>(exact_sub(wide, Halide::cast<double>(r)))};
}

// The same in words of 32 bits. The fraction, 62 bits and a sign, is the sum of three exact f32.
Quarters reduce_half_pi_single(const Expr& a) {
  const Window w = window_of(a);
  const Expr low1 = w.m * w.words[1], low2 = mul_high(w.m, w.words[2]);
  const Expr low = low1 + low2, carry = select(low < low1, u32(1), u32(0));
  const Expr high = w.m * w.words[0] + mul_high(w.m, w.words[1]) + carry;
  const Expr q = (high + u32(1u << 29)) >> 30;
  const Expr top = Halide::reinterpret<std::int32_t>(high - (q << 30));
  const auto part = [](const Expr& whole, float unit) {
    return exact_mul(Halide::cast<float>(whole), Expr(unit));
  };
  const Expr middle = Halide::reinterpret<std::int32_t>(
      ((Halide::reinterpret<std::uint32_t>(top) & u32(0xffu)) << 16) | (low >> 16));
  const Expr last = Halide::reinterpret<std::int32_t>(low & u32(0xffffu));
  const Pair fraction =
      add(two_sum(part(top >> 8, 0x1p-22f), part(middle, 0x1p-46f)), part(last, 0x1p-62f));
  const Pair r = mul(fraction, pair_of(1.57079632679489661923));
  return {select(w.small, u32(0), q), select(w.small, a, r.high),
          select(w.small, Expr(0.f), r.low)};
}

using Reduce = Quarters (*)(const Expr&);

Expr sine(const Expr& r, const Expr& s) {
  const Expr p = poly(s, {2.71736667e-06f, -0.000198392328f, 0.00833332911f, -0.166666672f});
  return exact_mul(r, s * p + 1.f);  // exact, else r + r s p loses -0
}
Expr cosine(const Expr& s) {
  const Expr p = poly(s, {2.44312032e-05f, -0.0013887306f, 0.0416666456f});
  return (s * s) * p + exact_sub(Expr(1.f), s * 0.5f);
}
Expr flip(const Expr& y, const Expr& sign_bit) { return float_of(bits_of(y) ^ sign_bit); }
Expr sign_bit(const Expr& x) { return bits_of(x) & u32(0x80000000u); }
Expr unless_infinite(const Expr& a, const Expr& y) {
  return select(less(a, Expr(INFINITY)), y, Expr(NAN));
}
// sin(a + turn pi/2), a >= 0.
Expr sine_from(const Expr& a, std::uint32_t turn, Reduce reduce) {
  const Quarters reduced = reduce(a);
  const Expr r = reduced.r, s = r * r, q = reduced.q + u32(turn);
  const Expr y = select((q & u32(1)) != u32(0), cosine(s), sine(r, s));
  return unless_infinite(a, flip(y, (q & u32(2)) << 30));
}

// Below it x loses nothing when whole numbers of half turns are subtracted from it in three parts:
// n times each of the first two, of 15 bits, is exact (Cody and Waite). So is it for n + 1/2.
constexpr float kNear = 512;
constexpr float kPi[] = {0x1.922p+1f, -0x1.2afp-17f, 0x1.0b4612p-33f};
// 1.5 * 2^23: see reduce_ln2.
constexpr float kMagic = 12582912.f, kOverPi = 0.318309873f;

Expr without_rest(const Expr& r, const Expr& n) {
  return exact_sub(exact_sub(r, exact_mul(n, Expr(kPi[1]))), exact_mul(n, Expr(kPi[2])));
}
// sin(r + h pi) for |r| <= pi/2, bits of h.
Expr sine_of_half_turns(const Expr& r, const Expr& h) {
  const Expr s = r * r;
  const Expr p = poly(s, {2.60387083e-06f, -0.000198087815f, 0.0083330553f, -0.166666597f});
  return flip(exact_mul(r, s * p + 1.f), h << 31);  // exact, else r + r s p loses -0
}

// x = r + n pi.
Expr sine_near(const Expr& x) {
  const Expr t = x * kOverPi + kMagic, n = exact_sub(t, Expr(kMagic));
  return sine_of_half_turns(without_rest(x - n * kPi[0], n), bits_of(t));
}
// x = r + (n + 1/2) pi, cos(x) = sin(r + (n + 1) pi); x >= 0, so that its difference to half of
// the first part is exact where cos(x) is small.
Expr cosine_near(const Expr& x) {
  const Expr a = exact_sub(x, Expr(kPi[0] / 2));
  const Expr t = a * kOverPi + (kMagic + 1), n = exact_sub(t, Expr(kMagic + 1));
  return sine_of_half_turns(without_rest(a - n * kPi[0], exact_add(n, Expr(0.5f))), bits_of(t));
}

Expr tangent(const Expr& x, Reduce reduce) {
  const Expr a = without_sign(x);
  const Quarters reduced = reduce(a);
  const Expr r = reduced.r, s = r * r;
  const Expr p = poly(s, {0.00437682401f, 8.84416586e-05f, 0.0108366618f, 0.0212818645f,
                          0.0540599786f, 0.133326635f, 0.333333492f});
  const Expr cubic = r * (s * p), rough = r + cubic;
  const Expr t = exact_add(r, cubic + reduced.rest * (rough * rough + 1.f));
  const Expr odd = (reduced.q & u32(1)) != u32(0);
  const Expr y = select(odd, exact_div(Expr(-1.f), t), t);
  return unless_infinite(a, flip(y, sign_bit(x)));
}

// asin of t in [0, 1/2], s = t^2.
Expr arc_sine(const Expr& t, const Expr& s) {
  const Expr p =
      poly(s, {0.0421662852f, 0.0241795275f, 0.0454703756f, 0.0749529749f, 0.166667521f});
  return exact_add(t, t * (s * p));
}
// Above 1/2, asin(a) = pi/2 - 2 asin(sqrt((1-a)/2)).
struct ArcSine {
  Expr far, value;
};
ArcSine arc_sine_of(const Expr& a) {
  const Expr far = less(Expr(0.5f), a);
  const Expr s = select(far, exact_sub(Expr(1.f), a) * 0.5f, a * a);
  return {far, arc_sine(select(far, sqrt(max(s, Expr(0.f))), a), s)};
}
Expr unless_above_one(const Expr& x, const Expr& y) {
  return select(less(without_sign(x), Expr(1.f)) || equal(without_sign(x), Expr(1.f)), y,
                Expr(NAN));
}

// (atan(t) - t) / t^3 of s = t^2, t up to tan(pi/8).
Expr arc_tangent_quotient(const Expr& s) {
  return poly(s, {-0.0607798286f, 0.105937235f, -0.142435223f, 0.199984714f, -0.333333164f});
}

}  // namespace

Expr sin(const Expr& x) {
  const Expr a = without_sign(x);
  const Expr far = flip(sine_from(a, 0, reduce_half_pi), sign_bit(x));
  // A small x is its own sine, -0 among them, which differences of n pi are not.
  const Expr near = select(less(a, Expr(0x1p-13f)), x, sine_near(x));
  return unless_rare(!less(a, Expr(kNear)), far, near);
}
Expr cos(const Expr& x) {
  const Expr a = without_sign(x);
  return unless_rare(!less(a, Expr(kNear)), sine_from(a, 1, reduce_half_pi), cosine_near(a));
}
Expr tan(const Expr& x) { return tangent(x, reduce_half_pi); }

namespace single {
Expr sin(const Expr& x) {
  return flip(sine_from(without_sign(x), 0, reduce_half_pi_single), sign_bit(x));
}
Expr cos(const Expr& x) { return sine_from(without_sign(x), 1, reduce_half_pi_single); }
Expr tan(const Expr& x) { return tangent(x, reduce_half_pi_single); }
}  // namespace single

Expr asin(const Expr& x) {
  const ArcSine s = arc_sine_of(without_sign(x));
  const Expr far = exact_sub(Expr(kHalfPi), s.value * 2.f - kHalfPiLow);
  return unless_above_one(x, with_sign_of(select(s.far, far, s.value), x));
}

// Near 0: pi/2 - asin(x). Else 2 asin(sqrt((1-|x|)/2)), or pi less that.
Expr acos(const Expr& x) {
  const ArcSine s = arc_sine_of(without_sign(x));
  const Expr near = exact_sub(Expr(kHalfPi), with_sign_of(s.value, x) - kHalfPiLow);
  const Expr twice = s.value * 2.f, negative = less(x, Expr(0.f));
  const Expr rest = exact_sub(Expr(2 * kHalfPi), twice - 2 * kHalfPiLow);
  return unless_above_one(x, select(s.far, select(negative, rest, twice), near));
}

// atan(a) = base + atan(t): t is a, (a-1)/(a+1) or -1/a, so that |t| <= tan(pi/8).
Expr atan(const Expr& x) {
  const Expr a = without_sign(x), one = Expr(1.f), far = less(Expr(2.41421366f), a),
             middle = less(Expr(0.414213568f), a);
  const Expr above = select(far, -one, select(middle, exact_sub(a, one), a));
  const Expr t = exact_div(above, select(far, a, select(middle, exact_add(a, one), one)));
  const Expr base = select(far, Expr(kHalfPi), select(middle, Expr(kQuarterPi), Expr(0.f)));
  const Expr low = select(far, Expr(kHalfPiLow), select(middle, Expr(kQuarterPiLow), Expr(0.f)));
  const Expr s = t * t, tail = t * (s * arc_tangent_quotient(s)) + low;
  return with_sign_of(exact_add(base, exact_add(t, tail)), x);
}

namespace {

// atan(a / b) = base + atan(t), a and b not negative: which base, and t.
struct Octant {
  Expr far, middle, t;
};
Octant octant_of(const Expr& a, const Expr& b) {
  const Halide::Type type = a.type();
  const Expr far = less(b * Halide::Internal::make_const(type, 2.414213562373095), a);
  const Expr middle = less(b * Halide::Internal::make_const(type, 0.41421356237309503), a);
  const Expr above = select(far, -b, select(middle, exact_sub(a, b), a));
  return {far, middle, exact_div(above, select(far, a, select(middle, exact_add(a, b), b)))};
}

// As atan, of |y| / |x| by `octant`, which sees no two infinities and no two zeros. For x < 0, pi
// less that.
Expr angle_of(const Expr& y, const Expr& x, Octant (*octant)(const Expr& a, const Expr& b)) {
  const Expr inf = Expr(INFINITY), zero = Expr(0.f), one = Expr(1.f);
  const Expr both = equal(without_sign(y), inf) && equal(without_sign(x), inf);
  const Expr none = equal(y, zero) && equal(x, zero);
  const auto [far, middle, t] =
      octant(select(both, one, without_sign(y)), select(both || none, one, without_sign(x)));
  const Expr s = t * t, cubic = t * (s * arc_tangent_quotient(s));
  const Expr negative = sign_bit(x) != u32(0);
  const auto by_octant = [far = far, middle = middle, negative](float turn) {
    const Expr up = select(far, Expr(2 * turn), select(middle, Expr(turn), Expr(0.f)));
    const Expr down = select(far, Expr(2 * turn), select(middle, Expr(3 * turn), Expr(4 * turn)));
    return select(negative, down, up);
  };
  const Expr part = select(negative, -t, t), tail = select(negative, -cubic, cubic);
  const Expr low = select(negative && middle && !far, Expr(-5.96244032e-9f),
                          by_octant(kQuarterPiLow));  // 3 pi/4 is no multiple in f32
  const Expr angle = exact_add(by_octant(kQuarterPi), exact_add(part, tail + low));
  const Expr nan = not_a_number(x) || not_a_number(y);
  return select(nan, Expr(NAN), with_sign_of(angle, y));
}

}  // namespace

// The quotient in f64: no over- or underflow.
Expr atan2(const Expr& y, const Expr& x) {
  return angle_of(y, x, [](const Expr& a, const Expr& b) {
    Octant o = octant_of(Halide::cast<double>(a), Halide::cast<double>(b));
    o.t = Halide::cast<float>(o.t);
    return o;
  });
}

// Very large and very small ones are scaled.
Expr single::atan2(const Expr& y, const Expr& x) {
  return angle_of(y, x, [](const Expr& a, const Expr& b) {
    const Expr most = select(less(a, b), b, a);
    const Expr scale = select(less(Expr(0x1p120f), most), Expr(0x1p-8f),
                              select(less(most, Expr(0x1p-80f)), Expr(0x1p60f), Expr(1.f)));
    return octant_of(exact_mul(a, scale), exact_mul(b, scale));
  });
}

}  // namespace heddle::halide::math
