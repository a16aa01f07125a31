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

Expr zero_bits_and(const Expr& a, const Expr& b) { return float_of(bits_of(a) & bits_of(b)); }
Expr zero_bits_or(const Expr& a, const Expr& b) { return float_of(bits_of(a) | bits_of(b)); }

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

Expr larger(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return max(a, b);
  return select(less(b, a) || not_a_number(a), a, b);
}
Expr smaller(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return min(a, b);
  return select(less(a, b) || not_a_number(a), a, b);
}
// Equal floats have equal bits but for zeros, whose sign bits are combined.
Expr maximum(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return max(a, b);
  return select(equal(a, b), zero_bits_and(a, b), larger(a, b));
}
Expr minimum(const Expr& a, const Expr& b) {
  if (!a.type().is_float()) return min(a, b);
  return select(equal(a, b), zero_bits_or(a, b), smaller(a, b));
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
