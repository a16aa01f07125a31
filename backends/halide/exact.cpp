#include "heddle/backends/halide/exact.h"

#include <cmath>
#include <limits>

namespace heddle::halide {
namespace {

using Halide::Internal::Call;

Expr strict(Call::IntrinsicOp id, Halide::Type type, const Expr& a, const Expr& b) {
  return Call::make(type, id, {a, b}, Call::PureIntrinsic);
}

// Signed overflow would be undefined in the generated code: the sums of the unsigned type wrap.
template <class F>
Expr wrapping(const Expr& a, const Expr& b, F op) {
  if (!a.type().is_int()) return op(a, b);
  const Halide::Type u = a.type().with_code(halide_type_uint);
  return Halide::reinterpret(a.type(), op(Halide::reinterpret(u, a), Halide::reinterpret(u, b)));
}

Expr bits_and(const Expr& a, const Expr& b) { return float_of(bits_of(a) & bits_of(b)); }
Expr bits_or(const Expr& a, const Expr& b) { return float_of(bits_of(a) | bits_of(b)); }

// NaN where a condition holds: a mask, combined with x. (Of two choices, one in the other, LLVM
// makes one with a condition of two.)
Expr nan_where(const Expr& condition, const Expr& x) {
  const Expr all = ~Halide::Internal::make_zero(Halide::UInt(x.type().bits()));
  return float_of(select(condition, all, bits_of(x)));
}

}  // namespace

Expr exact_add(const Expr& a, const Expr& b) {
  if (a.type().is_float()) return strict(Call::strict_add, a.type(), a, b);
  return wrapping(a, b, [](const Expr& x, const Expr& y) { return x + y; });
}
Expr exact_sub(const Expr& a, const Expr& b) {
  if (a.type().is_float()) return strict(Call::strict_sub, a.type(), a, b);
  return wrapping(a, b, [](const Expr& x, const Expr& y) { return x - y; });
}
Expr exact_mul(const Expr& a, const Expr& b) {
  if (a.type().is_float()) return strict(Call::strict_mul, a.type(), a, b);
  return wrapping(a, b, [](const Expr& x, const Expr& y) { return x * y; });
}
Expr mul_high(const Expr& a, const Expr& b) {
  return Call::make(a.type(), "mulhi", {a, b}, Call::PureExtern);
}
Expr exact_div(const Expr& a, const Expr& b) {
  // Halide refuses a constant zero as divisor. x * inf is the same, for NaN and zeros too.
  if (const auto divisor = Halide::Internal::as_const_float(b); divisor && *divisor == 0) {
    const double infinity = std::copysign(std::numeric_limits<double>::infinity(), *divisor);
    return exact_mul(a, Halide::Internal::make_const(a.type(), infinity));
  }
  return strict(Call::strict_div, a.type(), a, b);
}

Expr less(const Expr& a, const Expr& b) {
  return a.type().is_float() ? strict(Call::strict_lt, Halide::Bool(), a, b) : a < b;
}
Expr equal(const Expr& a, const Expr& b) {
  return a.type().is_float() ? strict(Call::strict_eq, Halide::Bool(), a, b) : a == b;
}
Expr not_a_number(const Expr& x) {
  return x.type().is_float() ? !equal(x, x) : Halide::Internal::const_false();
}

// "b < a ? a : b" is one instruction; it gives b where either is NaN.
Expr larger(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return max(a, b);
  return nan_where(not_a_number(a), select(less(b, a), a, b));
}
Expr smaller(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return min(a, b);
  return nan_where(not_a_number(a), select(less(a, b), a, b));
}
// What either order of the one instruction gives differs in zeros and NaN only: the sign bits of
// zeros are combined. NaN's bits, and any others or'ed to them, are NaN.
Expr maximum(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return max(a, b);
  return nan_where(not_a_number(a) || not_a_number(b),
                   bits_and(select(less(b, a), a, b), select(less(a, b), b, a)));
}
Expr minimum(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return min(a, b);
  return bits_or(select(less(a, b), a, b), select(less(b, a), b, a));
}

Expr bits_of(const Expr& x) { return Halide::reinterpret(Halide::UInt(x.type().bits()), x); }
Expr float_of(const Expr& bits) {
  return Halide::reinterpret(Halide::Float(bits.type().bits()), bits);
}

Expr without_sign(const Expr& x) {
  const Expr one = Halide::Internal::make_one(Halide::UInt(x.type().bits()));
  return float_of(bits_of(x) & ~(one << (x.type().bits() - 1)));
}

Expr exact_cast(const Expr& x) {
  const Expr bits = bits_of(x), magnitude = without_sign(x);
  if (x.type().bits() == 32) {
    const Expr sign = Halide::cast<std::uint64_t>(bits >> 31) << 63;
    const Expr payload = Halide::cast<std::uint64_t>(bits & Expr(0x7fffffu)) << 29;
    const Expr special = float_of(sign | Expr(std::uint64_t{0x7ff} << 52) | payload);
    return select(less(magnitude, Expr(std::numeric_limits<float>::infinity())),
                  Halide::cast<double>(x), special);
  }
  const Expr sign = Halide::cast<std::uint32_t>(bits >> 63) << 31;
  const Expr quiet = select(not_a_number(x), Expr(0x400000u), Expr(0u));
  const Expr special = float_of(sign | Expr(0x7f800000u) | quiet);
  return select(less(magnitude, Expr(0x1.ffffffp127)), Halide::cast<float>(x), special);
}

Expr call_libm(const std::string& name, const std::vector<Expr>& arguments) {
  const Halide::Type type = arguments[0].type();
  return Call::make(type, type.bits() == 32 ? name + "f" : name, arguments, Call::PureExtern);
}

}  // namespace heddle::halide
