// result[i] = f(x[i]).
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/cotangent.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/unary.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

MaybeValues neg_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  return {through_masks(c.build, *ct[0], [&](ValueId inner) { return emit::neg(c.build, inner); })};
}

MaybeValues sqrt_linearize(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  return {emit::div(c.build, emit::mul(c.build, *t[0], 0.5), c.primal_out[0])};
}
ValueId log_divisor(Builder&, ValueId x, ValueId) { return x; }
ValueId log2_divisor(Builder& b, ValueId x, ValueId) {
  return emit::mul(b, x, 0.69314718055994531);  // ln 2
}
ValueId log1p_divisor(Builder& b, ValueId x, ValueId) { return emit::add(b, x, 1); }
ValueId cbrt_divisor(Builder& b, ValueId, ValueId y) { return emit::mul(b, emit::mul(b, y, y), 3); }

ValueId abs_factor(Builder& b, ValueId x, ValueId) { return emit::sign(b, x); }
ValueId rsqrt_factor(Builder& b, ValueId, ValueId y) {
  return emit::mul(b, emit::mul(b, y, emit::mul(b, y, y)), -0.5);
}
ValueId exp_factor(Builder&, ValueId, ValueId y) { return y; }
ValueId exp2_factor(Builder& b, ValueId, ValueId y) {
  return emit::mul(b, y, 0.69314718055994531);  // ln 2
}
ValueId expm1_factor(Builder& b, ValueId, ValueId y) { return emit::add(b, y, 1); }
ValueId logistic_factor(Builder& b, ValueId, ValueId y) {
  const ValueId rest = emit::sub(b, emit::fill_like(b, 1, y), y);
  return emit::mul(b, y, rest);
}
ValueId erf_factor(Builder& b, ValueId x, ValueId) {
  const ValueId gaussian = emit::exp(b, emit::neg(b, emit::mul(b, x, x)));
  return emit::mul(b, gaussian, 1.1283791670955126);  // 2/sqrt(pi)
}
ValueId erfc_factor(Builder& b, ValueId x, ValueId) { return emit::neg(b, erf_factor(b, x, x)); }

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

Types infer_predicate(At at) { return {{DType::boolean, infer_same<1, kFloat>(at)[0].dims}}; }
template <auto kF>
Literals evaluate_predicate(At, Inputs in) {
  return {dispatch_kinds<kFloat>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]);
    return generate<bool>({DType::boolean, in[0].type.dims},
                          [&](std::size_t i) { return kF(computed(x[i])); });
  })};
}
consteval Operation predicate(std::string_view name, Evaluate evaluate, std::string_view text) {
  return define_op({.name = name,
                    .strict = {.roles = first<1>(kNoGrad),
                               .traits = kCheap,
                               .infer = infer_predicate,
                               .evaluate = evaluate,
                               .workloads = rows<1, kFloat, -4.0, 4.0, 0>,
                               .rtol = 0,
                               .atol = 0,
                               .text = text},
                    .surface = surface_unary(plan_predicate)});
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
     .rtol = 0,
     .text = "|x|. The least integer stays itself.\nC1 x has an integer or floating dtype.\n"
             "abs(-0) = 0; abs(NaN) = NaN. Derivative sign(x): 0 at 0."});

constinit const Operation op_sign = unary<kNumber>(
    {.name = "sign",
     .evaluate = evaluate_unary<kNumber, kSign>,
     .rows = rows<1, kNumber, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_number),
     .rtol = 0,
     .text = "-1, 0 or 1 as x is below, equal to or above 0.\nC1 x has an integer or floating "
             "dtype.\nsign(NaN) = NaN; sign(-0) = -0. No derivative: it is 0 wherever it exists."});

constinit const Operation op_floor = unary<kFloat>(
    {.name = "floor",
     .evaluate = evaluate_real<[](double x) { return std::floor(x); }>,
     .rows = rows<1, kFloat, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_floats_only),
     .rtol = 0,
     .text = "The greatest whole number <= x.\nC1 x has a floating dtype.\nfloor(-0) = -0; "
             "infinities and NaN stay. No derivative: it is 0 wherever it exists."});

constinit const Operation op_ceil = unary<kFloat>(
    {.name = "ceil",
     .evaluate = evaluate_real<[](double x) { return std::ceil(x); }>,
     .rows = rows<1, kFloat, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_floats_only),
     .rtol = 0,
     .text = "The least whole number >= x.\nC1 x has a floating dtype.\nceil(-0.5) = -0; "
             "infinities and NaN stay. No derivative: it is 0 wherever it exists."});

constinit const Operation op_round_even = unary<kFloat>(
    {.name = "round_even",
     .evaluate = evaluate_real<round_even>,
     .rows = rows<1, kFloat, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_floats_only),
     .rtol = 0,
     .text = "The nearest whole number; of two equally near ones the even one (IEEE 754 "
             "roundToIntegralTiesToEven).\nC1 x has a floating dtype.\nround_even(-0.5) = -0; "
             "infinities and NaN stay. No derivative: it is 0 wherever it exists."});

constinit const Operation op_trunc = unary<kFloat>(
    {.name = "trunc",
     .evaluate = evaluate_real<[](double x) { return std::trunc(x); }>,
     .rows = rows<1, kFloat, -4.0, 4.0, 0>,
     .surface = surface_unary(plan_floats_only),
     .rtol = 0,
     .text =
         "x without its fraction: the whole number next to it toward zero.\nC1 x has a floating "
         "dtype.\ntrunc(-0.5) = -0; infinities and NaN stay. No derivative: it is 0 wherever it "
         "exists."});

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

constinit const Operation op_cbrt = unary<kFloat>(
    {.name = "cbrt",
     .evaluate = evaluate_real<[](double x) { return std::cbrt(x); }>,
     .linearize = by_divisor<cbrt_divisor>,
     .rows = rows<1, kFloat, 0.1, 4.0>,
     .surface = surface_unary(plan_floats_only),
     .roofline = per_element<10>,
     .text =
         "The cube root, of negative numbers too (pow gives NaN for them).\nC1 x has a floating "
         "dtype.\ncbrt(-0) = -0; cbrt(+-inf) = +-inf; cbrt(NaN) = NaN. Derivative t/(3 y^2): "
         "infinite at 0."});

constinit const Operation op_exp = unary<kFloat>(
    {.name = "exp",
     .evaluate = evaluate_real<[](double x) { return std::exp(x); }>,
     .linearize = times_factor<exp_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text = "e^x.\nC1 x has a floating dtype.\nexp(-inf) = 0; exp(inf) = inf; exp(NaN) = NaN; "
             "above the dtype's range inf."});

constinit const Operation op_exp2 = unary<kFloat>(
    {.name = "exp2",
     .evaluate = evaluate_real<[](double x) { return std::exp2(x); }>,
     .linearize = times_factor<exp2_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text =
         "2^x, exact for whole x.\nC1 x has a floating dtype.\nexp2(-inf) = 0; exp2(inf) = inf; "
         "exp2(NaN) = NaN; above the dtype's range inf."});

constinit const Operation op_expm1 = unary<kFloat>(
    {.name = "expm1",
     .evaluate = evaluate_real<[](double x) { return std::expm1(x); }>,
     .linearize = times_factor<expm1_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text = "e^x - 1, accurate near 0.\nC1 x has a floating dtype.\nexpm1(-0) = -0; expm1(-inf) "
             "= -1; expm1(inf) = inf; expm1(NaN) = NaN."});

constinit const Operation op_log = unary<kFloat>(
    {.name = "log",
     .evaluate = evaluate_real<[](double x) { return std::log(x); }>,
     .linearize = by_divisor<log_divisor>,
     .rows = rows<1, kFloat, 0.1, 4.0>,
     .surface = surface_unary(plan_floats_only),
     .roofline = per_element<10>,
     .text = "The natural logarithm; subnormal arguments count.\nC1 x has a floating dtype.\n"
             "log(0) = log(-0) = -inf; NaN below 0; log(inf) = inf; log(NaN) = NaN."});

constinit const Operation op_log2 = unary<kFloat>(
    {.name = "log2",
     .evaluate = evaluate_real<[](double x) { return std::log2(x); }>,
     .linearize = by_divisor<log2_divisor>,
     .rows = rows<1, kFloat, 0.1, 4.0>,
     .surface = surface_unary(plan_floats_only),
     .roofline = per_element<10>,
     .text =
         "The logarithm to base 2, exact for powers of two; subnormal arguments count.\nC1 x has "
         "a floating dtype.\nlog2(0) = log2(-0) = -inf; NaN below 0; log2(inf) = inf; log2(NaN) "
         "= NaN."});

constinit const Operation op_log1p = unary<kFloat>(
    {.name = "log1p",
     .evaluate = evaluate_real<[](double x) { return std::log1p(x); }>,
     .linearize = by_divisor<log1p_divisor>,
     .rows = rows<1, kFloat, -0.9, 4.0>,
     .surface = surface_unary(plan_floats_only),
     .roofline = per_element<10>,
     .text = "log(1 + x), accurate near 0.\nC1 x has a floating dtype.\nlog1p(-0) = -0; log1p(-1) "
             "= -inf; NaN below -1; log1p(inf) = inf."});

constinit const Operation op_logistic = unary<kFloat>(
    {.name = "logistic",
     .evaluate = evaluate_real<logistic>,
     .linearize = times_factor<logistic_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text = "1/(1 + e^-x), without overflow on either side.\nC1 x has a floating dtype.\n"
             "logistic(-inf) = 0; logistic(inf) = 1; logistic(NaN) = NaN."});

constinit const Operation op_erf = unary<kFloat>(
    {.name = "erf",
     .evaluate = evaluate_real<[](double x) { return std::erf(x); }>,
     .linearize = times_factor<erf_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floats_only),
     .roofline = per_element<10>,
     .text = "The error function 2/sqrt(pi) * integral of e^(-t^2) from 0 to x.\nC1 x has a "
             "floating dtype.\nerf(-0) = -0; erf(+-inf) = +-1; erf(NaN) = NaN."});

constinit const Operation op_erfc = unary<kFloat>(
    {.name = "erfc",
     .evaluate = evaluate_real<[](double x) { return std::erfc(x); }>,
     .linearize = times_factor<erfc_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floats_only),
     .roofline = per_element<20>,
     .text = "1 - erf(x), accurate where that is near 0: as a difference it would be 0 from 4 on.\n"
             "C1 x has a floating dtype.\nerfc(-inf) = 2; erfc(inf) = 0; erfc(NaN) = NaN."});

constinit const Operation op_is_finite =
    predicate("is_finite", evaluate_predicate<[](auto x) { return std::isfinite(x); }>,
              "Whether x is neither infinite nor NaN, as bool.\nC1 x has a floating dtype.\nNo "
              "derivative: the result is no number.");

constinit const Operation op_is_nan = predicate(
    "is_nan", evaluate_predicate<[](auto x) { return std::isnan(x); }>,
    "Whether x is NaN, as bool.\nC1 x has a floating dtype.\nNo derivative: the result is "
    "no number.");

constinit const Operation op_is_inf =
    predicate("is_inf", evaluate_predicate<[](auto x) { return std::isinf(x); }>,
              "Whether x is inf or -inf, as bool.\nC1 x has a floating dtype.\nNo derivative: the "
              "result is no number.");

constinit const Operation op_not_ =
    unary<kBits>({.name = "not",
                  .evaluate = evaluate_unary<kBits, kNot>,
                  .rows = rows<1, kBits, 0.0, 1.0, 0>,
                  .surface = surface_unary(plan_bits),
                  .rtol = 0,
                  .text = "The other truth value; of integers the complement of every bit.\nC1 x "
                          "is bool or has an integer dtype.\nNo derivative: integers."});

}  // namespace heddle
