// Activations, normalisations and the everyday reductions of networks.
#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace ops {

ValueId count_along(Builder& b, const Dims& dims, const emit::Axes& axes, DType dtype) {
  Dims along;
  for (std::int64_t a : axes) along.push_back(dims[static_cast<std::size_t>(a)]);
  bool known = true;
  for (const Dim& d : along) known = known && d.is_constant();
  if (known) {
    return emit::scalar(b, dtype, static_cast<double>(element_count(along).constant()));
  }
  const ValueId ones = b.filled({dtype, along}, 1);
  return emit::reduce_sum(b, ones, emit::all_axes(along.size()));
}

ValueId mean_along(Builder& b, ValueId x, const emit::Axes& axes) {
  const Type type = b.type(x);
  const bool narrow = type.dtype == DType::f16 || type.dtype == DType::bf16;
  const DType wide = narrow ? DType::f32 : type.dtype;  // f16 cannot count beyond 65504
  const ValueId sum = emit::reduce_sum(b, emit::convert(b, x, wide), axes);
  const ValueId count = count_along(b, type.dims, axes, wide);
  const Dims kept = b.type(sum).dims;
  const ValueId mean = emit::div(b, sum, emit::broadcast_scalar(b, count, kept));
  return emit::convert(b, mean, type.dtype);
}

}  // namespace ops

namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

struct Composite {
  std::string_view name;
  std::span<const Role> roles = first<1>(kSmooth);
  Types (*infer)(At);
  Function (*decompose)(At);
  Function (*vjp)(At) = nullptr;
  Rows rows;
  Surface surface;
  double rtol = 1e-5;
  std::string_view text;
};
consteval Operation composite(Composite c) {
  return define_op({.name = c.name,
                    .strict = {.roles = c.roles,
                               .pattern = Pattern::composite,
                               .traits = kFusable,
                               .infer = c.infer,
                               .decompose = c.decompose,
                               .vjp = c.vjp,
                               .workloads = c.rows,
                               .rtol = c.rtol,
                               .text = c.text},
                    .surface = c.surface});
}

// Activations ------------------------------------------------------------------------------------

ValueId relu(Builder& b, const Values& x, At) {
  // Not max(x, 0): at 0 the derivative is 0, and NaN must pass.
  const ValueId zero = emit::zeros_like(b, x[0]);
  const ValueId cut = emit::compare(b, "le", x[0], zero);
  return emit::select(b, cut, zero, x[0]);
}

ValueId silu(Builder& b, const Values& x, At) {
  return emit::mul(b, x[0], emit::logistic(b, x[0]));
}
// d s (1 + x (1 - s)) with s = logistic(x): here, too, d x could overflow.
MaybeValues silu_vjp(Builder& b, const Values& x, ValueId, ValueId d, At) {
  const ValueId s = emit::logistic(b, x[0]);
  const ValueId rest = emit::sub(b, emit::fill_like(b, 1, s), s);
  const ValueId slope = emit::mul(b, s, emit::add(b, emit::mul(b, x[0], rest), 1));
  return {emit::mul(b, d, slope)};
}

// softmax and its logarithm ----------------------------------------------------------------------

std::int64_t axis_of(At at) { return at.attributes.as<SoftmaxAttributes>().axis; }

Types infer_softmax(At at) {
  const Types same = infer_same<1, kFloat>(at);
  check_axis(at, "axis", axis_of(at), same[0].rank());
  return same;
}
ValueId softmax(Builder& b, const Values& x, At at) {
  const ValueId e = emit::exp(b, shifted(b, x[0], axis_of(at)));
  return share_of_total(b, e, emit::reduce_sum(b, e, {axis_of(at)}), axis_of(at));
}
// y (d - sum(d y))
MaybeValues softmax_vjp(Builder& b, const Values&, ValueId y, ValueId d, At at) {
  const ValueId mean = sum_over(b, emit::mul(b, d, y), axis_of(at));
  return {emit::mul(b, y, emit::sub(b, d, mean))};
}
ValueId log_softmax(Builder& b, const Values& x, At at) {
  const ValueId z = shifted(b, x[0], axis_of(at));
  const Dims dims = b.type(z).dims;
  const ValueId total = emit::log(b, emit::reduce_sum(b, emit::exp(b, z), {axis_of(at)}));
  return emit::sub(b, z, emit::broadcast_over(b, total, dims, {axis_of(at)}));
}
// d - exp(y) sum(d)
MaybeValues log_softmax_vjp(Builder& b, const Values&, ValueId y, ValueId d, At at) {
  const ValueId sum = sum_over(b, d, axis_of(at));
  return {emit::sub(b, d, emit::mul(b, emit::exp(b, y), sum))};
}

Types infer_logsumexp(At at) {
  const Types same = infer_softmax(at);
  return {{same[0].dtype, emit::without(same[0].dims, {axis_of(at)})}};
}
// The shift is the maximum where that is finite, else 0: infinities then come out right.
ValueId logsumexp(Builder& b, const Values& x, At at) {
  const std::int64_t axis = axis_of(at);
  const Dims dims = b.type(x[0]).dims;
  const ValueId best = emit::reduce_max(b, x[0], {axis});
  const ValueId finite = emit::is_finite(b, best);
  const ValueId shift = emit::select(b, finite, best, emit::zeros_like(b, best));
  const ValueId z = emit::sub(b, x[0], emit::broadcast_over(b, shift, dims, {axis}));
  return emit::add(b, shift, emit::log(b, emit::reduce_sum(b, emit::exp(b, z), {axis})));
}
// d exp(x - y)
MaybeValues logsumexp_vjp(Builder& b, const Values& x, ValueId y, ValueId d, At at) {
  const std::int64_t axis = axis_of(at);
  const Dims dims = b.type(x[0]).dims;
  const ValueId share = emit::exp(b, emit::sub(b, x[0], emit::broadcast_over(b, y, dims, {axis})));
  return {emit::mul(b, emit::broadcast_over(b, d, dims, {axis}), share)};
}
template <int kOrder = 2>
std::vector<Workload> softmax_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, std::int64_t axis) {
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(SoftmaxAttributes{axis}),
                      .order = kOrder});
  };
  row(DType::f32, {7, 13}, 1);
  row(DType::f32, {7, 13}, 0);
  row(DType::f32, {2, 3, 5}, 1);
  row(DType::f32, {17}, 0);
  row(DType::f32, {3, 1}, 1);
  row(DType::f32, {0, 4}, 1);
  for (DType d : {DType::f16, DType::bf16, DType::f64}) row(d, {3, 5}, 1);
  return result;
}

Attribute last_axis() { return std::int64_t{-1}; }
constexpr OptionSpec kLastAxis[] = {{"axis", OptionKind::integer, last_axis}};
constexpr OperationSchema kSoftmaxSchemas[] = {{.operands = kX, .options = kLastAxis}};
constexpr Surface kSoftmaxSurface = {
    .overloads = kSoftmaxSchemas, .plan = plan_floating, .body = body_axis};

// mean -------------------------------------------------------------------------------------------

Types infer_mean(At at) {
  check_operand_count(at, 1);
  check_kind(at, 0, kFloat);
  const Axes axes = at.attributes.as<AxesAttributes>().axes;
  check_axes(at, "axes", axes, at.operands[0].rank());
  return {{at.operands[0].dtype, emit::without(at.operands[0].dims, axes)}};
}
ValueId mean(Builder& b, const Values& x, At at) {
  return mean_along(b, x[0], at.attributes.as<AxesAttributes>().axes);
}
std::vector<Workload> mean_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, Axes axes) {
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(AxesAttributes{std::move(axes)})});
  };
  row(DType::f32, {7, 13}, {1});
  row(DType::f32, {7, 13}, {0, 1});
  row(DType::f32, {2, 3, 5}, {0, 2});
  row(DType::f32, {}, {});
  row(DType::f32, {0, 3}, {1});
  for (DType d : {DType::f16, DType::bf16, DType::f64}) row(d, {3, 5}, {0});
  return result;
}

// layer_norm -------------------------------------------------------------------------------------

Types infer_layer_norm(At at) {
  check_operand_count(at, 3);
  check_kind(at, 0, kFloat);
  const auto a = at.attributes.as<LayerNormAttributes>();
  const Type& x = at.operands[0];
  if (x.rank() == 0) {
    operation_error<ValueError>(at, "a scalar has no last axis", "operands[0].dims", to_text(x),
                                "rank at least 1");
  }
  for (std::size_t i = 1; i < 3; ++i) {
    check_same_dtype(at, i);
    if (at.operands[i].dims == Dims{x.dims.back()}) continue;
    operation_error<ValueError>(at, "scale and shift are vectors of the last extent",
                                "operands[" + std::to_string(i) + "].dims", to_text(at.operands[i]),
                                to_text(Dims{x.dims.back()}));
  }
  if (!(a.epsilon >= 0)) {
    operation_error<ValueError>(at, "epsilon is at least 0", "attributes.epsilon",
                                decimal_text(Attribute(a.epsilon)));
  }
  return {x};
}

// x centred along the last axis, and 1/sqrt(variance + epsilon), both of x's shape.
struct Standard {
  ValueId centred, scale;
};
Standard standardised(Builder& b, ValueId x, At at) {
  const Dims dims = b.type(x).dims;
  const auto axis = static_cast<std::int64_t>(dims.size()) - 1;
  const ValueId centre = emit::broadcast_over(b, mean_along(b, x, {axis}), dims, {axis});
  const ValueId centred = emit::sub(b, x, centre);
  const ValueId variance = mean_along(b, emit::mul(b, centred, centred), {axis});
  const ValueId steady = emit::add(b, variance, at.attributes.as<LayerNormAttributes>().epsilon);
  return {centred, emit::broadcast_over(b, emit::rsqrt(b, steady), dims, {axis})};
}
ValueId over_rows(Builder& b, ValueId vector, const Dims& dims) {
  return emit::broadcast_in_dim(b, vector, dims, {static_cast<std::int64_t>(dims.size()) - 1});
}
ValueId layer_norm(Builder& b, const Values& x, At at) {
  const Dims dims = b.type(x[0]).dims;
  const Standard s = standardised(b, x[0], at);
  const ValueId scaled = emit::mul(b, emit::mul(b, s.centred, s.scale), over_rows(b, x[1], dims));
  return emit::add(b, scaled, over_rows(b, x[2], dims));
}
// With n = (x - mean) r and g = d scale: dx = r (g - mean(g) - n mean(g n)).
MaybeValues layer_norm_vjp(Builder& b, const Values& x, ValueId, ValueId d, At at) {
  const Dims dims = b.type(x[0]).dims;
  const auto axis = static_cast<std::int64_t>(dims.size()) - 1;
  const Standard s = standardised(b, x[0], at);
  const ValueId n = emit::mul(b, s.centred, s.scale);
  const ValueId g = emit::mul(b, d, over_rows(b, x[1], dims));
  const ValueId mean_g = emit::broadcast_over(b, mean_along(b, g, {axis}), dims, {axis});
  const ValueId mean_gn =
      emit::broadcast_over(b, mean_along(b, emit::mul(b, g, n), {axis}), dims, {axis});
  const ValueId rest = emit::sub(b, emit::sub(b, g, mean_g), emit::mul(b, n, mean_gn));
  const Axes rows = emit::all_axes(dims.size() - 1);
  const ValueId d_scale = emit::reduce_sum(b, emit::mul(b, d, n), rows);
  const ValueId d_shift = emit::reduce_sum(b, d, rows);
  return {emit::mul(b, s.scale, rest), d_scale, d_shift};
}
std::vector<Workload> layer_norm_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims) {
    const Dim last = dims.back();
    result.push_back({.operands = {type_of(dtype, std::move(dims)), type_of(dtype, {last}),
                                   type_of(dtype, {last})},
                      .attributes = Attributes::of(LayerNormAttributes{})});
  };
  row(DType::f32, {7, 13});
  row(DType::f32, {2, 3, 5});
  row(DType::f32, {9});
  row(DType::f32, {0, 4});
  for (DType d : {DType::f16, DType::bf16, DType::f64}) row(d, {3, 5});
  return result;
}

Attribute epsilon_default() { return 1e-5; }
constexpr OptionSpec kEpsilon[] = {{"epsilon", OptionKind::number, epsilon_default}};
constexpr OperandSpec kNormOperands[] = {{"x"}, {"scale"}, {"shift"}};
constexpr OperationSchema kNormSchemas[] = {{.operands = kNormOperands, .options = kEpsilon}};

}  // namespace

constinit const Operation op_relu =
    composite({.name = "relu",
               .infer = infer_same<1, kNumber>,
               .decompose = decompose<relu>,
               .rows = rows<1, kNumber>,
               .surface = surface_unary(plan_number),
               .rtol = 0,
               .text = "x where it is above 0, else 0.\nC1 x has an integer or floating dtype.\n"
                       "relu(-0) = 0; relu(NaN) = NaN. Derivative 0 at 0."});

constinit const Operation op_silu =
    composite({.name = "silu",
               .infer = infer_same<1, kFloat>,
               .decompose = decompose<silu>,
               .vjp = reverse_rule<silu_vjp>,
               .rows = rows<1, kFloat>,
               .surface = surface_unary(plan_floating),
               .text = "x logistic(x).\nC1 x has a floating dtype.\nsilu(inf) = inf; silu(-inf) = "
                       "NaN, as the formula gives it."});

constinit const Operation op_softmax = composite(
    {.name = "softmax",
     .infer = infer_softmax,
     .decompose = decompose<softmax>,
     .vjp = reverse_rule<softmax_vjp>,
     .rows = softmax_rows,
     .surface = kSoftmaxSurface,
     .text = "exp(x - max(x)) / sum(exp(x - max(x))) along one axis.\nC1 x has a floating dtype.\n"
             "C2 0 <= axis < rank.\nA row with NaN or inf, or all of -inf, is NaN."});

constinit const Operation op_log_softmax = composite(
    {.name = "log_softmax",
     .infer = infer_softmax,
     .decompose = decompose<log_softmax>,
     .vjp = reverse_rule<log_softmax_vjp>,
     .rows = softmax_rows,
     .surface = kSoftmaxSurface,
     .text = "x - max(x) - log(sum(exp(x - max(x)))) along one axis.\nC1 x has a floating dtype.\n"
             "C2 0 <= axis < rank.\nA row with NaN or inf, or all of -inf, is NaN."});

constinit const Operation op_logsumexp = composite(
    {.name = "logsumexp",
     .infer = infer_logsumexp,
     .decompose = decompose<logsumexp>,
     .vjp = reverse_rule<logsumexp_vjp>,
     .rows = softmax_rows,
     .surface = kSoftmaxSurface,
     .text = "log(sum(exp(x))) along one axis, which leaves the result; shifted by the maximum.\n"
             "C1 x has a floating dtype.\nC2 0 <= axis < rank.\ninf if one is inf; -inf if all "
             "are, or for an empty axis; NaN if any is NaN."});

constinit const Operation op_mean =
    composite({.name = "mean",
               .infer = infer_mean,
               .decompose = decompose<mean>,
               .rows = mean_rows,
               .surface = surface_reduce(plan_floating),
               .text = "The sum along `axes` divided by the number of elements.\nC1 x has a "
                       "floating dtype.\nC2 the axes are in range, distinct and ascending.\nThe "
                       "mean of nothing is NaN."});

constinit const Operation op_layer_norm = composite(
    {.name = "layer_norm",
     .roles = first<3>(kSmooth),
     .infer = infer_layer_norm,
     .decompose = decompose<layer_norm>,
     .vjp = reverse_rule<layer_norm_vjp>,
     .rows = layer_norm_rows,
     .surface = {.overloads = kNormSchemas, .plan = plan_floating, .body = body_direct},
     .text = "(x - mean) / sqrt(variance + epsilon) * scale + shift over the last axis (biased "
             "variance).\nC1 all have one floating dtype.\nC2 x has a last axis.\nC3 scale and "
             "shift are vectors of its extent.\nC4 epsilon is at least 0."});

}  // namespace heddle
