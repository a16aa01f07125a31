#include "heddle/backends/halide/math_single.h"

#include <cmath>

#include "heddle/backends/halide/math_pair.h"
#include "heddle/backends/halide/math_parts.h"

namespace heddle::halide::math::single {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

Pair choose(const Expr& condition, const Pair& yes, const Pair& no) {
  return {select(condition, yes.high, no.high), select(condition, yes.low, no.low)};
}
Pair exactly(const Expr& x) { return {x, Expr(0.f)}; }

// Of any positive finite number.
Pair log2_of(const Expr& x) {
  const Expr tiny = less(x, Expr(1.17549435e-38f)), huge = less(Expr(0x1p100f), x);
  const Expr scale = select(tiny, Expr(0x1p24f), select(huge, Expr(0x1p-24f), Expr(1.f)));
  const Expr places = select(tiny, Expr(-24.f), select(huge, Expr(24.f), Expr(0.f)));
  return add(math::log2(exactly(exact_mul(x, scale))), places);
}

}  // namespace

// The residual of Newton's step as a pair.
Expr cbrt(const Expr& x) {
  return cbrt_by(x, [](const Expr& y, const Expr& z) {
    const Pair cube = mul(two_product(y, y), y);
    return add(cube, exact_sub(Expr(0.f), z)).high;
  });
}

Expr pow(const Expr& x, const Expr& y) {
  const Expr inf = Expr(INFINITY), zero = Expr(0.f), a = without_sign(x);
  const Expr finite = less(zero, a) && less(a, inf);
  const Pair l = log2_of(select(finite, a, Expr(1.f)));
  const Pair product = mul(l, y);
  const Expr edge = exact_mul(y, select(equal(a, zero), -inf, a));  // of 0, infinity and NaN
  const Expr high = select(finite, exact_mul(l.high, y), edge);
  const Expr inside = finite && less(without_sign(high), Expr(159.f));
  const Pair z{select(inside, product.high, at_least(-159, at_most(159, high))),
               select(inside, product.low, zero)};
  return pow_cases(x, y, math::exp2(z));
}

// As math::erfc; of its polynomial the last three steps are pairs.
Expr erfc(const Expr& x) {
  const Expr a = at_most(11, without_sign(x));
  const Pair u = div(two_sum(a, Expr(-3.f)), two_sum(a, Expr(3.f)));
  Expr p = Expr(-6.7666131156207709e-06f);
  for (float c : {-9.7410185193602672e-06f, 6.3839107837651565e-05f, 4.3358062340875803e-05f,
                  -0.00059718335371911069f, 0.00070831867200686627f, 0.0042691843410202074f,
                  -0.024392586029690765f, 0.071665832301980592f, -0.15011593071961232f}) {
    p = exact_add(exact_mul(p, u.high), Expr(c));
  }
  Pair q = add(pair_of(0.24560380181277883), exact_mul(u.high, p));
  q = add(mul(q, u), pair_of(-0.32623356015347976));
  q = add(mul(q, u), pair_of(0.17900115118187113));
  const Pair z = mul(two_product(a, a), pair_of(-1 / kLn2));
  const Expr scaled =
      math::exp2(choose(less(z.high, Expr(-159.f)), exactly(Expr(-135.f)), add(z, Expr(24.f))));
  const Expr y = exact_mul(exact_mul(scaled, q.high), Expr(0x1p-24f));
  const Expr value = select(less(x, Expr(0.f)), exact_sub(Expr(2.f), y), y);
  return select(not_a_number(x), x, value);
}

namespace {

// Below 2^-12 the logarithm would lose digits, and x + c x^3 is right.
Expr odd_inverse(const Expr& x, float c, const Expr& logarithm) {
  const Expr a = without_sign(x), near = exact_add(a, (a * a) * (a * c));
  return with_sign_of(select(less(a, Expr(0x1p-12f)), near, logarithm), x);
}

// ln(a + sqrt(square)), or ln(2a) where a^2 is about the square.
Expr log_of_sum(const Expr& a, const Pair& square) {
  const Expr far = less(Expr(4096.f), a);
  const Pair sum = choose(far, exactly(exact_mul(a, Expr(0x1p-12f))), add(root(square), a));
  const Pair l = add(math::log2(sum), select(far, Expr(13.f), Expr(0.f)));
  return mul(l, pair_of(kLn2)).high;
}

}  // namespace

Expr asinh(const Expr& x) {
  const Expr a = without_sign(x), inside = less(a, Expr(INFINITY));
  const Expr safe = select(inside, a, Expr(1.f)),
             near = select(less(safe, Expr(4096.f)), safe, Expr(1.f));
  const Expr y =
      odd_inverse(x, -1.f / 6, log_of_sum(safe, add(two_product(near, near), Expr(1.f))));
  return select(inside, y, x);
}

Expr acosh(const Expr& x) {
  const Expr one = Expr(1.f), inside = less(one, x) && less(x, Expr(INFINITY));
  const Expr safe = select(inside, x, Expr(2.f)),
             near = select(less(safe, Expr(4096.f)), safe, Expr(2.f));
  const Pair square = mul(two_sum(near, one), two_sum(near, Expr(-1.f)));
  return select(inside, log_of_sum(safe, square),
                select(equal(x, one), Expr(0.f), select(less(x, one), Expr(NAN), x)));
}

Expr atanh(const Expr& x) {
  const Expr one = Expr(1.f), a = without_sign(x), inside = less(a, one);
  const Expr safe = select(inside, a, Expr(0.5f));
  const Pair ratio = div(two_sum(one, safe), two_sum(one, exact_sub(Expr(0.f), safe)));
  const Expr y = odd_inverse(x, 1.f / 3, mul(math::log2(ratio), pair_of(kLn2 / 2)).high);
  return select(inside, y, select(equal(a, one), with_sign_of(Expr(INFINITY), x), Expr(NAN)));
}

}  // namespace heddle::halide::math::single
