// result[i] = f(x[i]) and f(x[i], y[i]).
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/cotangent.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

constexpr int kCheap = kElementwise | kFusable;

// One operand ------------------------------------------------------------------------------------

/// What a record of one operand says for itself; the rest follows from the kinds of its dtypes.
struct Unary {
  std::string_view name;
  Evaluate evaluate;
  Linearize linearize = nullptr;
  Rows rows;
  Surface surface;
  double rtol = 1e-6;
  std::string_view text;
};
template <int kKinds>
consteval Operation unary(Unary u) {
  return define_op({.name = u.name,
                    .strict = {.roles = u.linearize ? first<1>(kSmooth) : first<1>(kNoGrad),
                               .traits = kCheap,
                               .infer = infer_same<1, kKinds>,
                               .evaluate = u.evaluate,
                               .linearize = u.linearize,
                               .workloads = u.rows,
                               .rtol = u.rtol,
                               .text = u.text},
                    .surface = u.surface});
}

/// A derivative rule of one operand: `kFactor(builder, x, y)` emits dy/dx.
template <auto kFactor>
MaybeValues times_factor(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  return {emit::mul(c.build, *t[0], kFactor(c.build, c.primal_in[0], c.primal_out[0]))};
}

MaybeValues neg_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  return {through_masks(c.build, *ct[0], [&](ValueId inner) { return emit::neg(c.build, inner); })};
}

MaybeValues sqrt_linearize(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  return {emit::div(c.build, emit::mul(c.build, *t[0], 0.5), c.primal_out[0])};
}
MaybeValues log_linearize(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  return {emit::div(c.build, *t[0], c.primal_in[0])};
}
MaybeValues log1p_linearize(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  return {emit::div(c.build, *t[0], emit::add(c.build, c.primal_in[0], 1))};
}

ValueId abs_factor(Builder& b, ValueId x, ValueId) { return emit::sign(b, x); }
ValueId rsqrt_factor(Builder& b, ValueId, ValueId y) {
  return emit::mul(b, emit::mul(b, y, emit::mul(b, y, y)), -0.5);
}
ValueId exp_factor(Builder&, ValueId, ValueId y) { return y; }
ValueId expm1_factor(Builder& b, ValueId, ValueId y) { return emit::add(b, y, 1); }
ValueId tanh_factor(Builder& b, ValueId, ValueId y) {
  const ValueId square = emit::mul(b, y, y);
  return emit::sub(b, emit::fill_like(b, 1, y), square);
}
ValueId logistic_factor(Builder& b, ValueId, ValueId y) {
  const ValueId rest = emit::sub(b, emit::fill_like(b, 1, y), y);
  return emit::mul(b, y, rest);
}
ValueId erf_factor(Builder& b, ValueId x, ValueId) {
  const ValueId gaussian = emit::exp(b, emit::neg(b, emit::mul(b, x, x)));
  return emit::mul(b, gaussian, 1.1283791670955126);  // 2/sqrt(pi)
}

constexpr auto kNeg = [](auto x) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return std::uint64_t{0} - wrapped(x);
  else
    return -x;
};
constexpr auto kAbs = [](auto x) {
  if constexpr (std::is_unsigned_v<decltype(x)>)
    return x;
  else if constexpr (std::is_integral_v<decltype(x)>)
    return x < 0 ? kNeg(x) : wrapped(x);
  else
    return std::fabs(x);
};
constexpr auto kSign = [](auto x) {
  using T = decltype(x);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>((x > T(0)) - (x < T(0)));
  else
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;  // keeps NaN and the sign of zero
};
/// Independent of the rounding mode.
double round_even(double x) {
  const double low = std::floor(x), fraction = x - low;
  if (!(std::fabs(x) < 0x1p52)) return x;
  const bool up = fraction > 0.5 || (fraction == 0.5 && std::fmod(low, 2) != 0);
  return std::copysign(up ? low + 1 : low, x);
}
double logistic(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}
constexpr auto kNot = [](auto x) {
  if constexpr (std::is_same_v<decltype(x), bool>)
    return !x;
  else
    return ~wrapped(x);
};

std::vector<Type> infer_is_finite(At at) {
  return {{DType::boolean, infer_same<1, kFloat>(at)[0].dims}};
}
Literals evaluate_is_finite(At, Inputs in) {
  return {dispatch_kinds<kFloat>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]);
    return generate<bool>({DType::boolean, in[0].type.dims},
                          [&](std::size_t i) { return std::isfinite(computed(x[i])); });
  })};
}

}  // namespace

constinit const Operation op_neg = define_op(
    {.name = "neg",
     .strict = {.roles = first<1>(kLinear),
                .traits = kCheap,
                .infer = infer_same<1, kNumber>,
                .evaluate = evaluate_unary<kNumber, kNeg>,
                .transpose = neg_transpose,
                .workloads = rows<1, kNumber>,
                .rtol = 0,
                .atol = 0,
                .text = "-x. Integers wrap: the least one stays itself, unsigned ones are taken "
                        "modulo 2^n.\nC1 x has an integer or floating dtype.\nneg(0) = -0; "
                        "neg(NaN) = NaN."},
     .surface = surface_unary(plan_number)});

constinit const Operation op_abs = unary<kNumber>(
    {.name = "abs",
     .evaluate = evaluate_unary<kNumber, kAbs>,
     .linearize = times_factor<abs_factor>,
     .rows = rows<1, kNumber>,
     .surface = surface_unary(plan_number),
     .text = "|x|. The least integer stays itself.\nC1 x has an integer or floating dtype.\n"
             "abs(-0) = 0; abs(NaN) = NaN. Derivative sign(x): 0 at 0."});

constinit const Operation op_sign = unary<kNumber>(
    {.name = "sign",
     .evaluate = evaluate_unary<kNumber, kSign>,
     .rows = rows<1, kNumber, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_number),
     .text = "-1, 0 or 1 as x is below, equal to or above 0.\nC1 x has an integer or floating "
             "dtype.\nsign(NaN) = NaN; sign(-0) = -0. No derivative: it is 0 wherever it exists."});

constinit const Operation op_floor = unary<kFloat>(
    {.name = "floor",
     .evaluate = evaluate_real<[](double x) { return std::floor(x); }>,
     .rows = rows<1, kFloat, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_floats_only),
     .text = "The greatest whole number <= x.\nC1 x has a floating dtype.\nfloor(-0) = -0; "
             "infinities and NaN stay. No derivative: it is 0 wherever it exists."});

constinit const Operation op_ceil = unary<kFloat>(
    {.name = "ceil",
     .evaluate = evaluate_real<[](double x) { return std::ceil(x); }>,
     .rows = rows<1, kFloat, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_floats_only),
     .text = "The least whole number >= x.\nC1 x has a floating dtype.\nceil(-0.5) = -0; "
             "infinities and NaN stay. No derivative: it is 0 wherever it exists."});

constinit const Operation op_round_even = unary<kFloat>(
    {.name = "round_even",
     .evaluate = evaluate_real<round_even>,
     .rows = rows<1, kFloat, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_floats_only),
     .text = "The nearest whole number; of two equally near ones the even one (IEEE 754 "
             "roundToIntegralTiesToEven).\nC1 x has a floating dtype.\nround_even(-0.5) = -0; "
             "infinities and NaN stay. No derivative: it is 0 wherever it exists."});

constinit const Operation op_sqrt = unary<kFloat>(
    {.name = "sqrt",
     .evaluate = evaluate_real<[](double x) { return std::sqrt(x); }>,
     .linearize = sqrt_linearize,
     .rows = rows<1, kFloat, 0.1, 4.0>,
     .surface = surface_unary(plan_floats_only),
     .text = "The square root, correctly rounded.\nC1 x has a floating dtype.\nsqrt(-0) = -0; NaN "
             "below 0; sqrt(inf) = inf. Derivative t/2/sqrt(x): infinite at 0."});

constinit const Operation op_rsqrt = unary<kFloat>(
    {.name = "rsqrt",
     .evaluate = evaluate_real<[](double x) { return 1 / std::sqrt(x); }>,
     .linearize = times_factor<rsqrt_factor>,
     .rows = rows<1, kFloat, 0.1, 4.0>,
     .surface = surface_unary(plan_floats_only),
     .text = "1/sqrt(x).\nC1 x has a floating dtype.\nrsqrt(0) = inf; rsqrt(-0) = -inf; NaN below "
             "0; rsqrt(inf) = 0."});

constinit const Operation op_exp = unary<kFloat>(
    {.name = "exp",
     .evaluate = evaluate_real<[](double x) { return std::exp(x); }>,
     .linearize = times_factor<exp_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .text = "e^x.\nC1 x has a floating dtype.\nexp(-inf) = 0; exp(inf) = inf; exp(NaN) = NaN; "
             "above the dtype's range inf."});

constinit const Operation op_expm1 = unary<kFloat>(
    {.name = "expm1",
     .evaluate = evaluate_real<[](double x) { return std::expm1(x); }>,
     .linearize = times_factor<expm1_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .text = "e^x - 1, accurate near 0.\nC1 x has a floating dtype.\nexpm1(-0) = -0; expm1(-inf) "
             "= -1; expm1(inf) = inf; expm1(NaN) = NaN."});

constinit const Operation op_log = unary<kFloat>(
    {.name = "log",
     .evaluate = evaluate_real<[](double x) { return std::log(x); }>,
     .linearize = log_linearize,
     .rows = rows<1, kFloat, 0.1, 4.0>,
     .surface = surface_unary(plan_floats_only),
     .text = "The natural logarithm; subnormal arguments count.\nC1 x has a floating dtype.\n"
             "log(0) = log(-0) = -inf; NaN below 0; log(inf) = inf; log(NaN) = NaN."});

constinit const Operation op_log1p = unary<kFloat>(
    {.name = "log1p",
     .evaluate = evaluate_real<[](double x) { return std::log1p(x); }>,
     .linearize = log1p_linearize,
     .rows = rows<1, kFloat, -0.9, 4.0>,
     .surface = surface_unary(plan_floats_only),
     .text = "log(1 + x), accurate near 0.\nC1 x has a floating dtype.\nlog1p(-0) = -0; log1p(-1) "
             "= -inf; NaN below -1; log1p(inf) = inf."});

constinit const Operation op_tanh = unary<kFloat>(
    {.name = "tanh",
     .evaluate = evaluate_real<[](double x) { return std::tanh(x); }>,
     .linearize = times_factor<tanh_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .text = "The hyperbolic tangent.\nC1 x has a floating dtype.\ntanh(-0) = -0; tanh(+-inf) = "
             "+-1; tanh(NaN) = NaN. Derivative 1 - tanh(x)^2."});

constinit const Operation op_logistic = unary<kFloat>(
    {.name = "logistic",
     .evaluate = evaluate_real<logistic>,
     .linearize = times_factor<logistic_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .text = "1/(1 + e^-x), without overflow on either side.\nC1 x has a floating dtype.\n"
             "logistic(-inf) = 0; logistic(inf) = 1; logistic(NaN) = NaN."});

constinit const Operation op_erf = unary<kFloat>(
    {.name = "erf",
     .evaluate = evaluate_real<[](double x) { return std::erf(x); }>,
     .linearize = times_factor<erf_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floats_only),
     .text = "The error function 2/sqrt(pi) * integral of e^(-t^2) from 0 to x.\nC1 x has a "
             "floating dtype.\nerf(-0) = -0; erf(+-inf) = +-1; erf(NaN) = NaN."});

constinit const Operation op_is_finite =
    define_op({.name = "is_finite",
               .strict = {.roles = first<1>(kNoGrad),
                          .traits = kCheap,
                          .infer = infer_is_finite,
                          .evaluate = evaluate_is_finite,
                          .workloads = rows<1, kFloat, -4.0, 4.0, 0>,
                          .text = "Whether x is neither infinite nor NaN, as bool.\nC1 x has a "
                                  "floating dtype.\nNo derivative: the result is no number."},
               .surface = surface_unary(plan_floats_only)});

constinit const Operation op_not_ =
    unary<kBits>({.name = "not",
                  .evaluate = evaluate_unary<kBits, kNot>,
                  .rows = rows<1, kBits, 0.0, 1.0, 0>,
                  .surface = surface_unary(plan_bits),
                  .text = "The other truth value; of integers the complement of every bit.\nC1 x "
                          "is bool or has an integer dtype.\nNo derivative: integers."});

// Two operands -----------------------------------------------------------------------------------

namespace {

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
      if (y == -1) return static_cast<T>(kNeg(x));  // the least integer would overflow
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
  if (c.is_linear(1)) result[1] = neg_transpose(c, ct)[0];
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

// d(x/y) = (dx - (x/y) dy) / y.
MaybeValues div_linearize(RuleContext& c, Tangents t) {
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

// d(x^y) = y x^(y-1) dx + log(x) x^y dy, with 0 for the first at x = y = 0 and for the second at
// x = 0. Arguments are replaced where the limit is wanted, so that second derivatives are finite
// too.
MaybeValues pow_linearize(RuleContext& c, Tangents t) {
  Builder& b = c.build;
  const ValueId x = c.primal_in[0], y = c.primal_in[1];
  const ValueId x_zero = emit::compare(b, "eq", x, 0);
  const ValueId one = emit::fill_like(b, 1, x);
  MaybeValue sum;
  if (t[0]) {
    const ValueId y_zero = emit::compare(b, "eq", y, 0);
    const ValueId base = emit::select(b, emit::logical_and(b, x_zero, y_zero), one, x);
    const ValueId power = emit::pow(b, base, emit::add(b, y, -1));
    sum = emit::mul(b, *t[0], emit::mul(b, y, power));
  }
  if (t[1]) {
    const ValueId logarithm = emit::log(b, emit::select(b, x_zero, one, x));
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
     .text =
         "x / y. Integers truncate toward zero; x/0 is 0 and the least integer by -1 is "
         "itself. (A call on integer tensors divides in f32.)\nC1 both have one integer or "
         "floating dtype.\nC2 both have one shape.\nFloats as IEEE 754: 1/0 = inf, 0/0 = NaN."});

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
     .text = "x^y. Integers wrap; a negative exponent gives 0 unless x is 1 or -1.\nC1 both have "
             "one integer or floating dtype.\nC2 both have one shape.\nFloats as IEEE 754 pow: "
             "x^0 = 1 (also of NaN), 1^y = 1, 0^y = inf for y < 0, NaN for x < 0 with a fractional "
             "y. Derivatives: 0 in x at x = y = 0; 0 in y at x = 0. A call with a whole weak "
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

}  // namespace heddle
