// Activations that are operations of their own, as a carrier computes them better than what they
// would be composed of.
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/unary.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

bool by_tanh(const Attributes& attributes) { return attributes.as<GeluAttributes>().tanh; }

constexpr double kTanhScale = 0.7978845608028654;  // sqrt(2/pi)
constexpr double kTanhCubic = 0.044715;

// x for the tanh: beyond +-16 that is +-1 in every dtype, and what it is taken of stays finite.
ValueId bounded(Builder& b, ValueId x) {
  return b.emit(op_clamp, {x, emit::fill_like(b, -16, x), emit::fill_like(b, 16, x)});
}
// 1 + c x^2
ValueId growth(Builder& b, ValueId x, double c) {
  return emit::add(b, emit::mul(b, emit::mul(b, x, x), c), 1);
}
// 2 Phi(x) - 1 of the normal distribution, or its approximation.
ValueId bell(Builder& b, ValueId x, bool tanh) {
  if (!tanh) return emit::erf(b, emit::mul(b, x, 0.7071067811865476));  // 1/sqrt(2)
  const ValueId near = bounded(b, x);
  const ValueId inner = emit::mul(b, near, growth(b, near, kTanhCubic));
  return emit::tanh(b, emit::mul(b, inner, kTanhScale));
}
// Phi'(x)
ValueId bell_density(Builder& b, ValueId x, ValueId bell, bool tanh) {
  constexpr double kHeight = 0.3989422804014327;  // 1/sqrt(2 pi)
  if (!tanh) {
    return emit::mul(b, emit::exp(b, emit::mul(b, emit::mul(b, x, x), -0.5)), kHeight);
  }
  const ValueId below = emit::sub(b, emit::fill_like(b, 1, bell), bell);
  const ValueId tanh_slope = emit::mul(b, below, emit::add(b, bell, 1));
  const ValueId inner_slope = growth(b, bounded(b, x), 3 * kTanhCubic);
  return emit::mul(b, emit::mul(b, tanh_slope, inner_slope), kHeight);
}
// Phi(x) + x Phi'(x), times the tangent at last: that times x could overflow.
MaybeValues gelu_linearize(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  Builder& b = c.build;
  const ValueId x = c.primal_in[0];
  const bool tanh = by_tanh(c.node.attributes);
  const ValueId phi = bell(b, x, tanh);
  const ValueId share = emit::mul(b, emit::add(b, phi, 1), 0.5);
  const ValueId part = emit::mul(b, x, bell_density(b, x, phi, tanh));
  return {emit::mul(b, *t[0], emit::add(b, share, part))};
}

// Phi(-a), or its approximation by tanh: nothing is cancelled.
double tail_of(double a, bool tanh) {
  if (!tanh) return std::erfc(a * 0.7071067811865476) / 2;
  return 1 / (1 + std::exp(2 * kTanhScale * a * (1 + kTanhCubic * a * a)));
}
// x Phi(x) = max(x, 0) - |x| Phi(-|x|). Beyond 50 the second part is 0 in every dtype.
double gelu(double x, bool tanh) {
  if (std::isnan(x)) return x;
  const double a = std::min(std::fabs(x), 50.0);
  return (x < 0 ? 0 : x) - a * tail_of(a, tanh);
}
Literals evaluate_gelu(At at, Inputs in) {
  if (by_tanh(at.attributes)) return evaluate_real<[](double x) { return gelu(x, true); }>(at, in);
  return evaluate_real<[](double x) { return gelu(x, false); }>(at, in);
}

Types infer_gelu(At at) {
  Types same = infer_same<1, kFloat>(at);
  at.attributes.as<GeluAttributes>();
  return same;
}
std::vector<Workload> gelu_rows() {
  std::vector<Workload> result;
  for (bool tanh : {false, true}) {
    for (Workload row : elementwise_rows(1, kFloat, -4, 4, 2)) {
      row.attributes = Attributes::of(GeluAttributes{tanh});
      result.push_back(std::move(row));
    }
  }
  return result;
}

constexpr OptionSpec kTanh[] = {{"tanh", OptionKind::flag, false_option}};
constexpr OperationSchema kGeluSchemas[] = {{.operands = kX, .options = kTanh}};

}  // namespace

constinit const Operation op_gelu = define_op(
    {.name = "gelu",
     .strict = {.roles = first<1>(kSmooth),
                .traits = kCheap,
                .infer = infer_gelu,
                .evaluate = evaluate_gelu,
                .linearize = gelu_linearize,
                .workloads = gelu_rows,
                .rtol = 1e-6,
                .atol = 1e-6,
                .roofline = per_element<15>,
                .text = "x Phi(x), with Phi(x) = (1 + erf(x/sqrt(2)))/2, or with `tanh` its "
                        "approximation (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2. In f32 to "
                        "1e-6.\nC1 x has a floating dtype.\ngelu(inf) = inf; gelu(-inf) = 0, the "
                        "limit. Source: Hendrycks and Gimpel 2016."},
     .surface = {.overloads = kGeluSchemas, .plan = plan_floating, .body = body_direct}});

}  // namespace heddle
