// Elementwise arithmetic. Floats: each operation rounds once, NaN and infinities propagate.
// Integers wrap; div and rem truncate, x div 0 = 0, x rem 0 = x.
#include <limits>

#include "heddle/backends/halide/elements.h"
#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/math.h"
#include "heddle/backends/halide/math_single.h"

namespace heddle::halide {
namespace {

Expr zero_of(const Expr& x) { return Halide::Internal::make_zero(x.type()); }
Expr one_of(const Expr& x) { return Halide::Internal::make_one(x.type()); }

// f32 by our own maths, f64 by libm's. `single`: without f64 on the way, where that is another way.
Expr by_math(const Element& e, Expr (*f32)(const Expr&), const char* libm,
             Expr (*single)(const Expr&) = nullptr) {
  const Expr x = e.operand(0);
  if (x.type().bits() == 64) return call_libm(libm, {x});
  return single != nullptr && !e.values.wide() ? single(x) : f32(x);
}

// Halide divides so that the remainder is not negative; x / 0 = x % 0 = 0.
struct Division {
  Expr quotient, remainder;
};
Division truncating(const Expr& a, const Expr& b) {
  const Expr zero = zero_of(a), q = a / b, r = a % b;
  if (!a.type().is_int()) return {q, select(b == zero, a, r)};
  const Expr adjust = a < zero && r != zero;
  const Expr up = select(b > zero, one_of(a), exact_sub(zero, one_of(a)));
  const Expr size = select(b > zero, b, exact_sub(zero, b));
  return {select(adjust, exact_add(q, up), q),
          select(b == zero, a, select(adjust, exact_sub(r, size), r))};
}

// Modulo 2^n, by squaring. A negative exponent leaves something of 1 and -1 only.
Expr integer_power(const Expr& x, const Expr& y) {
  const Halide::Type t = x.type(), u = t.with_code(halide_type_uint);
  Expr base = Halide::reinterpret(u, x), result = Halide::Internal::make_one(u);
  const Expr exponent = Halide::reinterpret(u, y);
  for (int bit = 0; bit < t.bits(); ++bit) {
    const Expr one = Halide::Internal::make_one(u);
    result = select(((exponent >> bit) & one) != 0, result * base, result);
    base = base * base;
  }
  result = Halide::reinterpret(t, result);
  if (!t.is_int()) return result;
  const Expr minus = exact_sub(zero_of(x), one_of(x));
  const Expr odd = (y & one_of(y)) != zero_of(y);
  const Expr inverse = select(x == one_of(x), one_of(x),
                              select(x == minus, select(odd, minus, one_of(x)), zero_of(x)));
  return select(y < zero_of(y), inverse, result);
}

// A shift by a number of places that is replaced by 0 where it is negative or too large: the
// generated code leaves those undefined.
struct Shift {
  Shift(const Expr& value, const Expr& amount) : x(value) {
    const Halide::Type u = x.type().with_code(halide_type_uint);
    bits = Halide::reinterpret(u, x);
    const Expr y = Halide::reinterpret(u, amount);  // a negative one is large
    valid = y < Halide::Internal::make_const(u, x.type().bits());
    places = select(valid, y, Halide::Internal::make_zero(u));
  }
  Expr x, bits, places, valid;
};

}  // namespace

Expr lower_neg(const Element& e) {
  const Expr x = e.operand(0);
  if (!x.type().is_float()) return exact_sub(zero_of(x), x);
  const Expr sign = Halide::Internal::make_one(Halide::UInt(x.type().bits()))
                    << (x.type().bits() - 1);
  return float_of(bits_of(x) ^ sign);
}
Expr lower_abs(const Element& e) {
  const Expr x = e.operand(0);
  if (x.type().is_float()) return without_sign(x);
  if (x.type().is_uint()) return x;
  return Halide::reinterpret(x.type(), abs(x));
}
Expr lower_sign(const Element& e) {
  const Expr x = e.operand(0), zero = zero_of(x), one = one_of(x);
  if (x.type().is_uint()) return select(x == zero, zero, one);
  const Expr minus = x.type().is_float() ? -one : exact_sub(zero, one);
  return select(less(zero, x), one, select(less(x, zero), minus, x));
}
Expr lower_floor(const Element& e) { return floor(e.operand(0)); }
Expr lower_ceil(const Element& e) { return ceil(e.operand(0)); }
Expr lower_round_even(const Element& e) { return round(e.operand(0)); }
Expr lower_trunc(const Element& e) { return trunc(e.operand(0)); }
Expr lower_sqrt(const Element& e) { return sqrt(e.operand(0)); }
Expr lower_rsqrt(const Element& e) {
  const Expr x = e.operand(0);
  return exact_div(one_of(x), sqrt(x));
}
Expr lower_cbrt(const Element& e) { return by_math(e, math::cbrt, "cbrt", math::single::cbrt); }
Expr lower_exp(const Element& e) { return by_math(e, math::exp, "exp"); }
Expr lower_exp2(const Element& e) { return by_math(e, math::exp2, "exp2"); }
Expr lower_expm1(const Element& e) { return by_math(e, math::expm1, "expm1"); }
Expr lower_log(const Element& e) { return by_math(e, math::log, "log"); }
Expr lower_log2(const Element& e) { return by_math(e, math::log2, "log2"); }
Expr lower_log1p(const Element& e) { return by_math(e, math::log1p, "log1p"); }
Expr lower_sin(const Element& e) { return by_math(e, math::sin, "sin", math::single::sin); }
Expr lower_cos(const Element& e) { return by_math(e, math::cos, "cos", math::single::cos); }
Expr lower_tan(const Element& e) { return by_math(e, math::tan, "tan", math::single::tan); }
Expr lower_asin(const Element& e) { return by_math(e, math::asin, "asin"); }
Expr lower_acos(const Element& e) { return by_math(e, math::acos, "acos"); }
Expr lower_atan(const Element& e) { return by_math(e, math::atan, "atan"); }
Expr lower_cosh(const Element& e) { return by_math(e, math::cosh, "cosh"); }
Expr lower_tanh(const Element& e) { return by_math(e, math::tanh, "tanh"); }
Expr lower_asinh(const Element& e) { return by_math(e, math::asinh, "asinh", math::single::asinh); }
Expr lower_acosh(const Element& e) { return by_math(e, math::acosh, "acosh", math::single::acosh); }
Expr lower_atanh(const Element& e) { return by_math(e, math::atanh, "atanh", math::single::atanh); }
Expr lower_sinh(const Element& e) {
  const Expr x = e.operand(0);
  if (x.type().bits() == 64) return call_libm("sinh", {x});
  // (m + m/(m+1))/2 with m = expm1(|x|); where m would overflow before sinh does, exp(|x|/2)^2/2.
  const Expr a = abs(x), m = math::expm1(a), root = math::exp(a * 0.5f);
  const Expr twice = exact_add(m, exact_div(m, exact_add(m, one_of(m))));
  const Expr y = select(less(Expr(80.f), a), exact_mul(root * 0.5f, root), twice * 0.5f);
  const Expr sign = (bits_of(x) >> 31) << 31;
  return float_of(bits_of(y) | sign);
}
Expr lower_erf(const Element& e) { return by_math(e, math::erf, "erf"); }
Expr lower_erfc(const Element& e) { return by_math(e, math::erfc, "erfc", math::single::erfc); }
Expr lower_logistic(const Element& e) {
  const Expr x = e.operand(0);
  if (x.type().bits() == 32) return math::logistic(x);
  const Expr t = call_libm("exp", {-abs(x)});
  return exact_div(select(less(x, zero_of(x)), t, one_of(x)), exact_add(one_of(x), t));
}
Expr lower_is_finite(const Element& e) {
  const Expr x = e.operand(0);
  const Expr difference = exact_sub(x, x);  // NaN for NaN and infinities
  return equal(difference, difference);
}
Expr lower_is_nan(const Element& e) { return not_a_number(e.operand(0)); }
Expr lower_is_inf(const Element& e) {
  const Expr x = e.operand(0);
  return equal(without_sign(x),
               Halide::Internal::make_const(x.type(), std::numeric_limits<double>::infinity()));
}
Expr lower_not_(const Element& e) {
  const Expr x = e.operand(0);
  return x.type().is_bool() ? !x : ~x;
}

Expr lower_add(const Element& e) { return exact_add(e.operand(0), e.operand(1)); }
Expr lower_sub(const Element& e) { return exact_sub(e.operand(0), e.operand(1)); }
Expr lower_mul(const Element& e) { return exact_mul(e.operand(0), e.operand(1)); }
Expr lower_div(const Element& e) {
  const Expr a = e.operand(0), b = e.operand(1);
  return a.type().is_float() ? exact_div(a, b) : truncating(a, b).quotient;
}
Expr lower_rem(const Element& e) {
  const Expr a = e.operand(0), b = e.operand(1);
  // fmod: the exact remainder needs more than a quotient's precision.
  return a.type().is_float() ? call_libm("fmod", {a, b}) : truncating(a, b).remainder;
}
Expr lower_pow(const Element& e) {
  const Expr a = e.operand(0), b = e.operand(1);
  if (!a.type().is_float()) return integer_power(a, b);
  if (a.type().bits() == 64) return call_libm("pow", {a, b});
  return e.values.wide() ? math::pow(a, b) : math::single::pow(a, b);
}
Expr lower_max(const Element& e) { return maximum(e.operand(0), e.operand(1)); }
Expr lower_min(const Element& e) { return minimum(e.operand(0), e.operand(1)); }
Expr lower_and_(const Element& e) {
  const Expr a = e.operand(0), b = e.operand(1);
  return a.type().is_bool() ? a && b : a & b;
}
Expr lower_or_(const Element& e) {
  const Expr a = e.operand(0), b = e.operand(1);
  return a.type().is_bool() ? a || b : a | b;
}
Expr lower_xor_(const Element& e) {
  const Expr a = e.operand(0), b = e.operand(1);
  return a.type().is_bool() ? (a && !b) || (!a && b) : a ^ b;
}
Expr lower_shl(const Element& e) {
  const Shift s(e.operand(0), e.operand(1));
  return select(s.valid, Halide::reinterpret(s.x.type(), s.bits << s.places), zero_of(s.x));
}
Expr lower_shr(const Element& e) {
  const Shift s(e.operand(0), e.operand(1));
  if (!s.x.type().is_int()) return select(s.valid, s.x >> s.places, zero_of(s.x));
  const Expr last = Halide::Internal::make_const(s.bits.type(), s.x.type().bits() - 1);
  return s.x >> select(s.valid, s.places, last);
}
Expr lower_atan2(const Element& e) {
  const Expr y = e.operand(0), x = e.operand(1);
  if (y.type().bits() == 64) return call_libm("atan2", {y, x});
  return e.values.wide() ? math::atan2(y, x) : math::single::atan2(y, x);
}

}  // namespace heddle::halide
