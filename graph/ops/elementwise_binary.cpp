// result[i] = f(x[i], y[i]).
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/cotangent.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/unary.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

struct Binary {
  std::string_view name;
  std::span<const Role> roles;
  int traits = 0;
  Evaluate evaluate;
  Linearize linearize = nullptr;
  Transpose transpose = nullptr;
  Rows rows;
  Surface surface;
  double rtol = 1e-6;
  Roofline roofline = nullptr;
  std::string_view text;
};
template <int kKinds>
consteval Operation binary(Binary o) {
  return define_op({.name = o.name,
                    .strict = {.roles = o.roles,
                               .traits = kCheap | o.traits,
                               .infer = infer_same<2, kKinds>,
                               .evaluate = o.evaluate,
                               .linearize = o.linearize,
                               .transpose = o.transpose,
                               .workloads = o.rows,
                               .rtol = o.rtol,
                               .atol = o.rtol == 0 ? 0 : 1e-6,
                               .roofline = o.roofline,
                               .text = o.text},
                    .surface = o.surface});
}

constexpr auto kAdd = [](auto x, auto y) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return wrapped(x) + wrapped(y);
  else
    return x + y;
};
constexpr auto kSub = [](auto x, auto y) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return wrapped(x) - wrapped(y);
  else
    return x - y;
};
constexpr auto kMul = [](auto x, auto y) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return wrapped(x) * wrapped(y);
  else
    return x * y;
};
constexpr auto kDiv = [](auto x, auto y) {
  using T = decltype(x);
  if constexpr (std::is_integral_v<T>) {
    if (y == 0) return T(0);
    if constexpr (std::is_signed_v<T>) {
      if (y == -1)
        return static_cast<T>(std::uint64_t{0} - wrapped(x));  // the least integer would overflow
    }
    return static_cast<T>(x / y);
  } else {
    return x / y;
  }
};
constexpr auto kRem = [](auto x, auto y) {
  using T = decltype(x);
  if constexpr (std::is_integral_v<T>) {
    if (y == 0) return x;
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return T(0);
    }
    return static_cast<T>(x % y);
  } else {
    return std::fmod(x, y);
  }
};
/// x^n by squaring, modulo 2^64.
constexpr std::uint64_t integer_power(std::uint64_t x, std::uint64_t n) {
  std::uint64_t result = 1;
  for (; n != 0; n >>= 1, x *= x) {
    if (n & 1) result *= x;
  }
  return result;
}
constexpr auto kPow = [](auto x, auto y) {
  using T = decltype(x);
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      if (y < 0) return x == 1 ? T(1) : x == -1 ? (y % 2 ? T(-1) : T(1)) : T(0);
    }
    return static_cast<T>(integer_power(wrapped(x), wrapped(y)));
  } else {
    return static_cast<T>(std::pow(static_cast<double>(x), static_cast<double>(y)));
  }
};
constexpr auto kAnd = [](auto x, auto y) {
  if constexpr (std::is_same_v<decltype(x), bool>)
    return x && y;
  else
    return wrapped(x) & wrapped(y);
};
constexpr auto kOr = [](auto x, auto y) {
  if constexpr (std::is_same_v<decltype(x), bool>)
    return x || y;
  else
    return wrapped(x) | wrapped(y);
};
constexpr auto kXor = [](auto x, auto y) {
  if constexpr (std::is_same_v<decltype(x), bool>)
    return x != y;
  else
    return wrapped(x) ^ wrapped(y);
};
/// Whether every bit of a T may be shifted by y and something stays.
template <class T>
constexpr bool is_shift(T y) {
  return y >= T(0) && y < T(8 * sizeof(T));
}
constexpr auto kShl = [](auto x, auto y) {
  return is_shift(y) ? wrapped(x) << y : std::uint64_t{0};
};
constexpr auto kShr = [](auto x, auto y) {
  using T = decltype(x);
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(x >> (is_shift(y) ? y : T(8 * sizeof(T) - 1)));
  else
    return is_shift(y) ? static_cast<T>(x >> y) : T(0);
};

MaybeValues add_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  MaybeValues result(2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (c.is_linear(i)) result[i] = ct[0];
  }
  return result;
}
MaybeValues sub_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  MaybeValues result(2);
  if (c.is_linear(0)) result[0] = ct[0];
  if (c.is_linear(1)) {
    result[1] =
        through_masks(c.build, *ct[0], [&](ValueId inner) { return emit::neg(c.build, inner); });
  }
  return result;
}
MaybeValues mul_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  MaybeValues result(2);
  const std::size_t linear = c.is_linear(0) ? 0 : 1;
  const ValueId factor = c.residual(1 - linear);
  result[linear] = through_masks(c.build, *ct[0],
                                 [&](ValueId inner) { return emit::mul(c.build, inner, factor); });
  return result;
}

// d(x/y) = (dx - (x/y) dy) / y. Where x is 0 or 1 it is x^2, and (x/y) / y is (x/y)^2: no second
// division.
MaybeValues div_linearize(RuleContext& c, Tangents t) {
  if (!t[0] && t[1] && emit::is_zero_or_one(c.build, c.primal_in[0])) {
    const ValueId quotient = c.primal_out[0];
    return {emit::neg(c.build, emit::mul(c.build, emit::mul(c.build, *t[1], quotient), quotient))};
  }
  MaybeValue numerator = t[0];
  if (t[1]) {
    const ValueId quotient_part = emit::mul(c.build, *t[1], c.primal_out[0]);
    numerator = t[0] ? emit::sub(c.build, *t[0], quotient_part) : emit::neg(c.build, quotient_part);
  }
  if (!numerator) return {std::nullopt};
  return {emit::div(c.build, *numerator, c.primal_in[1])};
}
MaybeValues div_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const ValueId divisor = c.residual(1);
  const auto divided = [&](ValueId inner) { return emit::div(c.build, inner, divisor); };
  if (const auto m = masked_sum(c.build, *ct[0])) {
    return {mask(c.build, {m->predicate, divided(m->inner), m->holds}), std::nullopt};
  }
  return {through_masks(c.build, *ct[0], divided), std::nullopt};
}

// rem(x, y) = x - trunc(x/y) y.
MaybeValues rem_linearize(RuleContext& c, Tangents t) {
  if (!t[1]) return {t[0]};
  Builder& b = c.build;
  const ValueId quotient = emit::div(b, c.primal_in[0], c.primal_in[1]);
  const ValueId magnitude = emit::floor(b, emit::abs(b, quotient));
  const ValueId whole = emit::mul(b, emit::sign(b, quotient), magnitude);
  const ValueId part = emit::mul(b, *t[1], whole);
  return {t[0] ? emit::sub(b, *t[0], part) : emit::neg(b, part)};
}

double least_normal(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 0x1p-14;
    case DType::f64:
      return 0x1p-1022;
    default:
      return 0x1p-126;
  }
}

// d(x^y) = y x^(y-1) dx + log(x) x^y dy, with 0 for the first at y = 0 wherever 1/x is no number (x
// is 0, NaN, or below the normal numbers), and for the second at x = 0 <= y. Arguments are replaced
// where the limit is wanted, so that second derivatives are finite too.
MaybeValues pow_linearize(RuleContext& c, Tangents t) {
  Builder& b = c.build;
  const ValueId x = c.primal_in[0], y = c.primal_in[1];
  const ValueId one = emit::fill_like(b, 1, x);
  MaybeValue sum;
  if (t[0]) {
    const ValueId y_zero = emit::compare(b, "eq", y, 0);
    const double least = least_normal(b.type(x).dtype);
    const ValueId normal = emit::compare(b, "ge", emit::abs(b, x), least);
    const ValueId lost = emit::logical_and(b, y_zero, emit::logical_not(b, normal));
    const ValueId base = emit::select(b, lost, one, x);
    const ValueId power = emit::pow(b, base, emit::add(b, y, -1));
    sum = emit::mul(b, *t[0], emit::mul(b, y, power));
  }
  if (t[1]) {
    const ValueId x_zero = emit::compare(b, "eq", x, 0);
    const ValueId is_limit = emit::logical_and(b, x_zero, emit::compare(b, "ge", y, 0));
    const ValueId logarithm = emit::log(b, emit::select(b, is_limit, one, x));
    const ValueId part = emit::mul(b, *t[1], emit::mul(b, logarithm, c.primal_out[0]));
    sum = sum ? emit::add(b, *sum, part) : part;
  }
  return {sum};
}

// The winner's tangent; at a tie half of each.
MaybeValues extremum_linearize(RuleContext& c, Tangents t, std::string_view wins) {
  if (!t[0] && !t[1]) return {std::nullopt};
  Builder& b = c.build;
  const ValueId x = c.primal_in[0], y = c.primal_in[1];
  const ValueId zero = emit::zeros_like(b, x);
  const ValueId dx = t[0].value_or(zero), dy = t[1].value_or(zero);
  const ValueId sum = t[0] && t[1] ? emit::add(b, dx, dy) : t[0].value_or(dy);
  const ValueId x_wins = emit::compare(b, wins, x, y);
  const ValueId y_wins = emit::compare(b, wins, y, x);
  const ValueId rest = emit::select(b, y_wins, dy, emit::mul(b, sum, 0.5));
  return {emit::select(b, x_wins, dx, rest)};
}
MaybeValues max_linearize(RuleContext& c, Tangents t) { return extremum_linearize(c, t, "gt"); }
MaybeValues min_linearize(RuleContext& c, Tangents t) { return extremum_linearize(c, t, "lt"); }

constexpr Role kDivRoles[] = {Role::linear, Role::smooth};

}  // namespace

constinit const Operation op_add =
    binary<kNumber>({.name = "add",
                     .roles = kLinear,
                     .traits = kCommutative,
                     .evaluate = evaluate_binary<kNumber, kAdd>,
                     .transpose = add_transpose,
                     .rows = rows<2, kNumber>,
                     .surface = surface_binary(plan_number),
                     .rtol = 0,
                     .text = "x + y. Integers wrap.\nC1 both have one integer or floating dtype.\n"
                             "C2 both have one shape.\n-0 + 0 = 0; inf - inf = NaN."});

constinit const Operation op_sub =
    binary<kNumber>({.name = "sub",
                     .roles = kLinear,
                     .evaluate = evaluate_binary<kNumber, kSub>,
                     .transpose = sub_transpose,
                     .rows = rows<2, kNumber>,
                     .surface = surface_binary(plan_number),
                     .rtol = 0,
                     .text = "x - y. Integers wrap.\nC1 both have one integer or floating dtype.\n"
                             "C2 both have one shape.\n0 - 0 = 0; inf - inf = NaN."});

constinit const Operation op_mul =
    binary<kNumber>({.name = "mul",
                     .roles = kMultilinear,
                     .traits = kCommutative,
                     .evaluate = evaluate_binary<kNumber, kMul>,
                     .transpose = mul_transpose,
                     .rows = rows<2, kNumber>,
                     .surface = surface_binary(plan_number),
                     .rtol = 0,
                     .text = "x * y. Integers wrap.\nC1 both have one integer or floating dtype.\n"
                             "C2 both have one shape.\ninf * 0 = NaN; -1 * 0 = -0."});

constinit const Operation op_div = binary<kNumber>(
    {.name = "div",
     .roles = kDivRoles,
     .evaluate = evaluate_binary<kNumber, kDiv>,
     .linearize = div_linearize,
     .transpose = div_transpose,
     .rows = rows<2, kNumber, 0.5, 4.0>,
     .surface = surface_binary(plan_floating),
     .rtol = 0,
     .text = "x / y. Integers truncate toward zero; x/0 is 0 and the least integer by -1 is "
             "itself. (A call on integer tensors divides in f32.)\nC1 both have one integer or "
             "floating dtype.\nC2 both have one shape.\nFloats as IEEE 754: 1/0 = inf, 0/0 = NaN. "
             "The derivative in y "
             "is that in x times -x/y: NaN where x is 0 and 1/y overflows."});

constinit const Operation op_rem = binary<kNumber>(
    {.name = "rem",
     .roles = first<2>(kSmooth),
     .evaluate = evaluate_binary<kNumber, kRem>,
     .linearize = rem_linearize,
     .rows = rows<2, kNumber, 0.5, 4.0>,
     .surface = surface_binary(plan_number),
     .text = "x - trunc(x/y) y: the sign is x's. Integers: rem by 0 is x, by -1 is 0.\nC1 both "
             "have one integer or floating dtype.\nC2 both have one shape.\nFloats as fmod, exact: "
             "NaN for y = 0 or infinite x; x for infinite y. Derivatives 1 and -trunc(x/y)."});

constinit const Operation op_pow = binary<kNumber>(
    {.name = "pow",
     .roles = first<2>(kSmooth),
     .evaluate = evaluate_binary<kNumber, kPow>,
     .linearize = pow_linearize,
     .rows = rows<2, kNumber, 0.3, 3.0>,
     .surface = {.overloads = kBinary, .plan = plan_pow, .body = body_pow},
     .rtol = 4e-6,
     .roofline = per_element<30>,
     .text = "x^y. Integers wrap; a negative exponent gives 0 unless x is 1 or -1.\nC1 both have "
             "one integer or floating dtype.\nC2 both have one shape.\nFloats as IEEE 754 pow: "
             "x^0 = 1 (also of NaN), 1^y = 1, 0^y = inf for y < 0, NaN for x < 0 with a fractional "
             "y. Derivatives: 0 in x at y = 0 (also of NaN); 0 in y at x = 0 <= y. A call with a "
             "whole weak "
             "exponent of 0 to 64 becomes multiplications."});

constinit const Operation op_max = binary<kNumber>(
    {.name = "max",
     .roles = first<2>(kSmooth),
     .traits = kCommutative,
     .evaluate = evaluate_binary<kNumber, kMaximum>,
     .linearize = max_linearize,
     .rows = rows<2, kNumber>,
     .surface = surface_binary(plan_number),
     .rtol = 0,
     .text = "The greater of x and y.\nC1 both have one integer or floating dtype.\nC2 both have "
             "one shape.\nNaN if either is NaN; max(-0, 0) = 0. At a tie each gets half of the "
             "derivative."});

constinit const Operation op_min = binary<kNumber>(
    {.name = "min",
     .roles = first<2>(kSmooth),
     .traits = kCommutative,
     .evaluate = evaluate_binary<kNumber, kMinimum>,
     .linearize = min_linearize,
     .rows = rows<2, kNumber>,
     .surface = surface_binary(plan_number),
     .rtol = 0,
     .text = "The lesser of x and y.\nC1 both have one integer or floating dtype.\nC2 both have "
             "one shape.\nNaN if either is NaN; min(-0, 0) = -0. At a tie each gets half of the "
             "derivative."});

constinit const Operation op_and_ =
    binary<kBits>({.name = "and",
                   .roles = first<2>(kNoGrad),
                   .traits = kCommutative,
                   .evaluate = evaluate_binary<kBits, kAnd>,
                   .rows = rows<2, kBits, 0.0, 1.0, 0>,
                   .surface = surface_binary(plan_bits),
                   .rtol = 0,
                   .text = "Both; of integers bit by bit.\nC1 both are bool or have one integer "
                           "dtype.\nC2 both have one shape.\nNo derivative: integers."});

constinit const Operation op_or_ =
    binary<kBits>({.name = "or",
                   .roles = first<2>(kNoGrad),
                   .traits = kCommutative,
                   .evaluate = evaluate_binary<kBits, kOr>,
                   .rows = rows<2, kBits, 0.0, 1.0, 0>,
                   .surface = surface_binary(plan_bits),
                   .rtol = 0,
                   .text = "Either; of integers bit by bit.\nC1 both are bool or have one integer "
                           "dtype.\nC2 both have one shape.\nNo derivative: integers."});

constinit const Operation op_xor_ = binary<kBits>(
    {.name = "xor",
     .roles = first<2>(kNoGrad),
     .traits = kCommutative,
     .evaluate = evaluate_binary<kBits, kXor>,
     .rows = rows<2, kBits, 0.0, 1.0, 0>,
     .surface = surface_binary(plan_bits),
     .rtol = 0,
     .text = "One but not both; of integers bit by bit.\nC1 both are bool or have one "
             "integer dtype.\nC2 both have one shape.\nNo derivative: integers."});

constinit const Operation op_shl = binary<kInteger>(
    {.name = "shl",
     .roles = first<2>(kNoGrad),
     .evaluate = evaluate_binary<kInteger, kShl>,
     .rows = rows<2, kInteger, -3.0, 70.0, 0>,
     .surface = surface_binary(plan_integer),
     .rtol = 0,
     .text =
         "The bits of x moved up by y places; zeros come in.\nC1 both have one integer dtype.\nC2 "
         "both have one shape.\n0 for y < 0 and for y of at least the number of bits. No "
         "derivative: integers."});

constinit const Operation op_shr = binary<kInteger>(
    {.name = "shr",
     .roles = first<2>(kNoGrad),
     .evaluate = evaluate_binary<kInteger, kShr>,
     .rows = rows<2, kInteger, -3.0, 70.0, 0>,
     .surface = surface_binary(plan_integer),
     .rtol = 0,
     .text =
         "The bits of x moved down by y places; copies of the sign come in, zeros where x is "
         "unsigned.\nC1 both have one integer dtype.\nC2 both have one shape.\nFor y < 0 and for y "
         "of at least the number of bits nothing else is left: -1 or 0. No derivative: integers."});

}  // namespace heddle
