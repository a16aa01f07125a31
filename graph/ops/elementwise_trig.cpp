// Trigonometric and hyperbolic functions and their inverses; atan2. Angles are in radians.
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/unary.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

ValueId one_like(Builder& b, ValueId x) { return emit::fill_like(b, 1, x); }
/// (1 - x)(1 + x): 1 - x^2 without loss near 1.
ValueId one_minus_square(Builder& b, ValueId x) {
  return emit::mul(b, emit::sub(b, one_like(b, x), x), emit::add(b, x, 1));
}

ValueId sin_factor(Builder& b, ValueId x, ValueId) { return emit::cos(b, x); }
ValueId cos_factor(Builder& b, ValueId x, ValueId) { return emit::neg(b, emit::sin(b, x)); }
ValueId tan_factor(Builder& b, ValueId, ValueId y) { return emit::add(b, emit::mul(b, y, y), 1); }
ValueId asin_factor(Builder& b, ValueId x, ValueId) {
  return emit::rsqrt(b, one_minus_square(b, x));
}
ValueId acos_factor(Builder& b, ValueId x, ValueId) {
  return emit::neg(b, emit::rsqrt(b, one_minus_square(b, x)));
}
ValueId atan_divisor(Builder& b, ValueId x, ValueId) { return emit::add(b, emit::mul(b, x, x), 1); }
ValueId cosh_factor(Builder& b, ValueId x, ValueId) { return emit::sinh(b, x); }
ValueId sinh_factor(Builder& b, ValueId x, ValueId) { return emit::cosh(b, x); }
ValueId asinh_factor(Builder& b, ValueId x, ValueId) {
  return emit::rsqrt(b, emit::add(b, emit::mul(b, x, x), 1));
}
ValueId acosh_factor(Builder& b, ValueId x, ValueId) {
  return emit::rsqrt(b, emit::mul(b, emit::add(b, x, -1), emit::add(b, x, 1)));
}
ValueId atanh_divisor(Builder& b, ValueId x, ValueId) { return one_minus_square(b, x); }
ValueId tanh_factor(Builder& b, ValueId, ValueId y) {
  const ValueId square = emit::mul(b, y, y);
  return emit::sub(b, emit::fill_like(b, 1, y), square);
}

// The angle of (x, y) turns by (x dy - y dx) / (x^2 + y^2), at the origin by 0. Not by squares,
// which leave the range of numbers before the quotients do: with p the part of greater magnitude, q
// the other and r = q / p, p / (x^2 + y^2) is 1 / (p + q r) and q / (x^2 + y^2) is r times that.
MaybeValues atan2_linearize(RuleContext& c, Tangents t) {
  Builder& b = c.build;
  const ValueId y = c.primal_in[0], x = c.primal_in[1];
  const ValueId zero = emit::zeros_like(b, x), one = one_like(b, x);
  const ValueId steep = emit::compare(b, "lt", emit::abs(b, x), emit::abs(b, y));
  const ValueId greater = emit::select(b, steep, y, x), q = emit::select(b, steep, x, y);
  const ValueId origin = emit::compare(b, "eq", greater, zero);
  const ValueId p = emit::select(b, origin, one, greater), r = emit::div(b, q, p);
  const ValueId divisor = emit::add(b, p, emit::mul(b, q, r));
  const ValueId of_p = emit::div(b, emit::select(b, origin, zero, one), divisor);
  const ValueId of_q = emit::div(b, r, divisor);
  MaybeValue turn;
  if (t[0]) turn = emit::mul(b, *t[0], emit::select(b, steep, of_q, of_p));
  if (t[1]) {
    const ValueId back = emit::mul(b, *t[1], emit::select(b, steep, of_p, of_q));
    turn = turn ? emit::sub(b, *turn, back) : emit::neg(b, back);
  }
  return {turn};
}
constexpr auto kAtan2 = [](auto y, auto x) {
  return static_cast<decltype(y)>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
};

}  // namespace

constinit const Operation op_sin =
    unary<kFloat>({.name = "sin",
                   .evaluate = evaluate_real<[](double x) { return std::sin(x); }>,
                   .linearize = times_factor<sin_factor>,
                   .rows = rows<1, kFloat>,
                   .surface = surface_unary(plan_floating),
                   .roofline = per_element<20>,
                   .text = "The sine; every argument is reduced exactly.\nC1 x has a floating "
                           "dtype.\nsin(-0) = -0; NaN for infinities and NaN."});

constinit const Operation op_cos =
    unary<kFloat>({.name = "cos",
                   .evaluate = evaluate_real<[](double x) { return std::cos(x); }>,
                   .linearize = times_factor<cos_factor>,
                   .rows = rows<1, kFloat>,
                   .surface = surface_unary(plan_floating),
                   .roofline = per_element<20>,
                   .text = "The cosine; every argument is reduced exactly.\nC1 x has a floating "
                           "dtype.\ncos(0) = 1; NaN for infinities and NaN."});

constinit const Operation op_tan = unary<kFloat>(
    {.name = "tan",
     .evaluate = evaluate_real<[](double x) { return std::tan(x); }>,
     .linearize = times_factor<tan_factor>,
     .rows = rows<1, kFloat, -1.2, 1.2>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<20>,
     .text = "The tangent, sin(x)/cos(x).\nC1 x has a floating dtype.\ntan(-0) = -0; NaN for "
             "infinities and NaN; no finite x gives an infinity. Derivative 1 + tan(x)^2."});

constinit const Operation op_asin = unary<kFloat>(
    {.name = "asin",
     .evaluate = evaluate_real<[](double x) { return std::asin(x); }>,
     .linearize = times_factor<asin_factor>,
     .rows = rows<1, kFloat, -0.9, 0.9>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text = "The angle in [-pi/2, pi/2] whose sine is x.\nC1 x has a floating dtype.\nasin(-0) = "
             "-0; NaN outside [-1, 1]. Derivative 1/sqrt((1-x)(1+x)): infinite at -1 and 1."});

constinit const Operation op_acos = unary<kFloat>(
    {.name = "acos",
     .evaluate = evaluate_real<[](double x) { return std::acos(x); }>,
     .linearize = times_factor<acos_factor>,
     .rows = rows<1, kFloat, -0.9, 0.9>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text = "The angle in [0, pi] whose cosine is x.\nC1 x has a floating dtype.\nacos(1) = 0; "
             "NaN outside [-1, 1]. Derivative -1/sqrt((1-x)(1+x)): infinite at -1 and 1."});

constinit const Operation op_atan = unary<kFloat>(
    {.name = "atan",
     .evaluate = evaluate_real<[](double x) { return std::atan(x); }>,
     .linearize = by_divisor<atan_divisor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text = "The angle in [-pi/2, pi/2] whose tangent is x.\nC1 x has a floating dtype.\natan(-0) "
             "= -0; atan(+-inf) = +-pi/2; atan(NaN) = NaN. Derivative 1/(1 + x^2)."});

constinit const Operation op_sinh = unary<kFloat>(
    {.name = "sinh",
     .evaluate = evaluate_real<[](double x) { return std::sinh(x); }>,
     .linearize = times_factor<sinh_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text = "(e^x - e^-x)/2, accurate near 0: by exp it would lose every digit there.\nC1 x has "
             "a floating dtype.\nsinh(-0) = -0; sinh(+-inf) = +-inf; sinh(NaN) = NaN."});

constinit const Operation op_cosh =
    unary<kFloat>({.name = "cosh",
                   .evaluate = evaluate_real<[](double x) { return std::cosh(x); }>,
                   .linearize = times_factor<cosh_factor>,
                   .rows = rows<1, kFloat>,
                   .surface = surface_unary(plan_floating),
                   .roofline = per_element<10>,
                   .text = "(e^x + e^-x)/2.\nC1 x has a floating dtype.\ncosh(0) = 1; cosh(+-inf) "
                           "= inf; cosh(NaN) = NaN; inf only where the result leaves the range."});

constinit const Operation op_tanh = unary<kFloat>(
    {.name = "tanh",
     .evaluate = evaluate_real<[](double x) { return std::tanh(x); }>,
     .linearize = times_factor<tanh_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<10>,
     .text = "The hyperbolic tangent.\nC1 x has a floating dtype.\ntanh(-0) = -0; tanh(+-inf) = "
             "+-1; tanh(NaN) = NaN. Derivative 1 - tanh(x)^2."});

constinit const Operation op_asinh = unary<kFloat>(
    {.name = "asinh",
     .evaluate = evaluate_real<[](double x) { return std::asinh(x); }>,
     .linearize = times_factor<asinh_factor>,
     .rows = rows<1, kFloat>,
     .surface = surface_unary(plan_floating),
     .roofline = per_element<20>,
     .text =
         "The inverse of sinh: log(x + sqrt(x^2 + 1)), accurate near 0 and for large x.\nC1 x has "
         "a floating dtype.\nasinh(-0) = -0; asinh(+-inf) = +-inf. Derivative 1/sqrt(x^2 + 1)."});

constinit const Operation op_acosh =
    unary<kFloat>({.name = "acosh",
                   .evaluate = evaluate_real<[](double x) { return std::acosh(x); }>,
                   .linearize = times_factor<acosh_factor>,
                   .rows = rows<1, kFloat, 1.3, 4.0>,
                   .surface = surface_unary(plan_floating),
                   .roofline = per_element<20>,
                   .text = "The inverse of cosh: log(x + sqrt(x^2 - 1)), accurate near 1.\nC1 x "
                           "has a floating dtype.\nacosh(1) = 0; NaN below 1; acosh(inf) = inf. "
                           "Derivative 1/sqrt((x-1)(x+1)): infinite at 1."});

constinit const Operation op_atanh =
    unary<kFloat>({.name = "atanh",
                   .evaluate = evaluate_real<[](double x) { return std::atanh(x); }>,
                   .linearize = by_divisor<atanh_divisor>,
                   .rows = rows<1, kFloat, -0.8, 0.8>,
                   .surface = surface_unary(plan_floating),
                   .roofline = per_element<20>,
                   .text = "The inverse of tanh: log((1+x)/(1-x))/2, accurate near 0.\nC1 x has a "
                           "floating dtype.\natanh(-0) = -0; atanh(+-1) = +-inf; NaN outside [-1, "
                           "1]. Derivative 1/((1-x)(1+x))."});

constinit const Operation op_atan2 = define_op(
    {.name = "atan2",
     .strict = {.roles = first<2>(kSmooth),
                .traits = kCheap,
                .infer = infer_same<2, kFloat>,
                .evaluate = evaluate_binary<kFloat, kAtan2>,
                .linearize = atan2_linearize,
                .workloads = rows<2, kFloat, 0.3, 4.0>,
                .roofline = per_element<20>,
                .text =
                    "The angle of the point (y, x): operands are y, then x; the result is in "
                    "[-pi, pi].\nC1 both have one floating dtype.\nC2 both have one shape.\nAs "
                    "C's atan2: +-0 for y = +-0 and x > 0 or +0, +-pi for y = +-0 and x < 0 or "
                    "-0, +-pi/4 and +-3pi/4 for two infinities. Derivative (x dy - y dx) / (x^2 "
                    "+ y^2), 0 at the origin."},
     .surface = surface_binary(plan_floating)});

}  // namespace heddle
