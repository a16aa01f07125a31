#include "heddle/backends/halide/conversion.h"

#include <cmath>

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/rare.h"

namespace heddle::halide {
namespace {

Expr u16(const Expr& x) { return Halide::cast<std::uint16_t>(x); }
Expr u32(std::uint32_t v) { return Expr(v); }
Expr number(Halide::Type type, double value) { return Halide::Internal::make_const(type, value); }

constexpr std::uint32_t kSign = 0x80000000u, kInfinity = 0x7f800000u, kQuiet = 0x00400000u;

bool native_halves = false;

// `native` where the target converts f16 itself and `rare` (if given) does not hold.
Expr choose_half(const Expr& native, const Expr& otherwise, const Expr& rare = {}) {
  if (!native_halves) return otherwise;
  return rare.defined() ? unless_rare(rare, otherwise, native) : native;
}

// f16. Below its least normal number (2^-14) an element counts units of 2^-24, which is the last
// place of an f32 from 1/2 to 1. Instructions make every NaN a quiet one, which moving must not.

Expr f16_value(const Expr& stored) {
  const Expr h = Halide::cast<std::uint32_t>(stored), m = h & u32(0x7fffu);
  const Expr subnormal = Halide::cast<float>(Halide::cast<std::int32_t>(m)) * 0x1p-24f;
  const Expr shifted = m << 13;
  const Expr normal = shifted + u32(112u << 23), special = shifted + u32(224u << 23);
  const Expr bits =
      select(m < u32(0x400u), bits_of(subnormal), select(m >= u32(0x7c00u), special, normal));
  const Expr native = Halide::cast<float>(Halide::reinterpret<Halide::float16_t>(stored));
  const Expr nan = (stored & Expr(std::uint16_t{0x7fff})) > Expr(std::uint16_t{0x7c00});
  return choose_half(native, float_of(bits | ((h & u32(0x8000u)) << 16)), nan);
}
Expr f16_stored(const Expr& x) {
  const Expr bits = bits_of(x), m = bits & u32(~kSign);
  const Expr subnormal = bits_of(exact_add(float_of(m), Expr(0.5f))) - u32(0x3f000000u);
  const Expr normal = (m - u32(112u << 23)) >> 13, special = (m - u32(224u << 23)) >> 13;
  const Expr magnitude =
      select(m < u32(0x38800000u), subnormal, select(m >= u32(kInfinity), special, normal));
  const Expr exact = u16(magnitude | ((bits >> 16) & u32(0x8000u)));
  // What was rounded just now is stored before it becomes an f32 again; its NaNs are quiet.
  const auto* widened = x.as<Halide::Internal::Cast>();
  const bool is_half = widened != nullptr && widened->value.type() == Halide::Float(16);
  const Expr narrow = is_half ? widened->value : Halide::cast<Halide::float16_t>(x);
  return choose_half(Halide::reinterpret<std::uint16_t>(narrow), exact,
                     is_half ? Expr() : not_a_number(x));
}
Expr f16_rounded(const Expr& x) {
  const Expr bits = bits_of(x), m = bits & u32(~kSign), half = Expr(0.5f);
  const Expr subnormal = bits_of(exact_sub(exact_add(float_of(m), half), half));
  const Expr up = (m + u32(0xfffu) + ((m >> 13) & u32(1))) & u32(~0x1fffu);
  const Expr normal = select(up >= u32(0x47800000u), u32(kInfinity), up);
  const Expr nan = (m & u32(~0x1fffu)) | u32(kQuiet);
  const Expr magnitude =
      select(m < u32(0x38800000u), subnormal, select(m > u32(kInfinity), nan, normal));
  const Expr native = Halide::cast<float>(Halide::cast<Halide::float16_t>(x));
  return choose_half(native, float_of(magnitude | (bits & u32(kSign))));
}

// bf16: the upper half of an f32.

Expr bf16_value(const Expr& stored) { return float_of(Halide::cast<std::uint32_t>(stored) << 16); }
Expr bf16_stored(const Expr& x) { return u16(bits_of(x) >> 16); }
Expr bf16_rounded(const Expr& x) {
  const Expr bits = bits_of(x);
  const Expr up = bits + u32(0x7fffu) + ((bits >> 16) & u32(1));
  const Expr nan = (bits & u32(~kSign)) > u32(kInfinity);
  return float_of(select(nan, bits | u32(kQuiet), up) & u32(0xffff0000u));
}

// See graph/scalar_convert.h: rounding to a narrow float afterwards is as good as rounding once.
Expr round_to_odd(const Expr& x) {
  const Expr near = exact_cast(x), back = exact_cast(near);
  const Expr beyond = less(without_sign(x), without_sign(back)),
             short_of = less(without_sign(back), without_sign(x));
  const Expr bits = bits_of(near) - select(beyond, u32(1), u32(0));
  return float_of(bits | select(beyond || short_of, u32(1), u32(0)));
}
// An integer of 32 or 64 bits that a float of 24 or 53 digits holds exactly, and that a narrow
// float rounds to the same as x: odd where digits were cut off.
Expr with_sticky_bit(const Expr& x) {
  const Halide::Type t = x.type();
  const int digits = t.bits() == 64 ? 53 : 24, cut = t.bits() - digits;
  const auto whole = [&](std::int64_t v) { return Halide::Internal::make_const(t, v); };
  const Expr low = x & whole((std::int64_t{1} << cut) - 1), one = whole(std::int64_t{1} << digits);
  const Expr exact = t.is_int() ? x <= one && x >= whole(-(std::int64_t{1} << digits)) : x <= one;
  const Expr sticky = select(low != whole(0), whole(std::int64_t{1} << cut), whole(0));
  return select(exact, x, (x - low) | sticky);
}

// Truncates, saturates, NaN gives 0.
Expr float_to_integer(const Expr& x, Halide::Type to) {
  const int bits = to.bits() - (to.is_int() ? 1 : 0);
  const double high = std::ldexp(1.0, bits), low = to.is_int() ? -high : 0.0;
  const Expr below = !less(number(x.type(), low), x), above = !less(x, number(x.type(), high));
  const Expr inside = !(below || above) && !not_a_number(x);
  const Expr cast = Halide::cast(to, select(inside, x, number(x.type(), 0)));
  return select(not_a_number(x), Halide::Internal::make_zero(to),
                select(below, to.min(), select(above, to.max(), cast)));
}

Expr to_narrow(const Expr& x, DType to) {
  const Halide::Type t = x.type();
  if (t.is_float()) return rounded(t.bits() == 64 ? round_to_odd(x) : x, to);
  if (t.bits() <= 16) return rounded(Halide::cast<float>(x), to);
  if (t.bits() == 32) return rounded(Halide::cast<float>(with_sticky_bit(x)), to);
  return rounded(round_to_odd(Halide::cast<double>(with_sticky_bit(x))), to);
}

}  // namespace

void set_native_halves(bool native) { native_halves = native; }

Halide::Type expression_type(DType dtype) {
  if (dtype == DType::boolean) return Halide::Bool();
  if (is_narrow(dtype)) return Halide::Float(32);
  const int bits = static_cast<int>(8 * size_of(dtype));
  if (is_floating(dtype)) return Halide::Float(bits);
  return is_signed(dtype) ? Halide::Int(bits) : Halide::UInt(bits);
}
Halide::Type storage_type(DType dtype) {
  if (dtype == DType::boolean) return Halide::UInt(8);
  return is_narrow(dtype) ? Halide::UInt(16) : expression_type(dtype);
}
Expr to_storage(const Expr& e, DType dtype) {
  if (dtype == DType::f16) return f16_stored(e);
  if (dtype == DType::bf16) return bf16_stored(e);
  return dtype == DType::boolean ? Halide::cast<std::uint8_t>(e) : e;
}
Expr from_storage(const Expr& e, DType dtype) {
  if (dtype == DType::f16) return f16_value(e);
  if (dtype == DType::bf16) return bf16_value(e);
  return dtype == DType::boolean ? e != Halide::cast<std::uint8_t>(0) : e;
}

Expr rounded(const Expr& e, DType dtype) {
  if (dtype == DType::f16) return f16_rounded(e);
  return dtype == DType::bf16 ? bf16_rounded(e) : e;
}

Expr converted(const Expr& x, DType from, DType to) {
  if (from == to) return x;
  if (is_narrow(to)) return to_narrow(x, to);
  const Halide::Type type = expression_type(to);
  if (x.type() == type) return x;
  if (type.is_bool()) return !equal(x, Halide::Internal::make_zero(x.type()));
  if (x.type().is_float() && !type.is_float()) return float_to_integer(x, type);
  if (x.type().is_float()) return exact_cast(x);
  return Halide::cast(type, x);
}

Expr recast(const Expr& x, DType from, DType to) {
  const Expr bits =
      Halide::reinterpret(Halide::UInt(static_cast<int>(8 * size_of(from))), to_storage(x, from));
  return from_storage(Halide::reinterpret(storage_type(to), bits), to);
}

}  // namespace heddle::halide
