#include "heddle/frontend/ops.h"

#include "heddle/backends/eager/executor.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

using List = std::initializer_list<TensorArg>;

// Who can call an operation can run it.
[[maybe_unused]] const bool executor_installed = (install_executor(&eager_executor()), true);

std::vector<Tensor> call_results(const Operation& op, std::span<const TensorArg> arguments,
                                 Attributes options, Location where) {
  std::vector<Operand> operands;
  for (const TensorArg& a : arguments) operands.push_back(a.operand());
  return call(op, operands, std::move(options), where);
}
Tensor call_all(const Operation& op, std::span<const TensorArg> arguments, Attributes options,
                Location where) {
  return call_results(op, arguments, std::move(options), where)[0];
}

Attributes axes_option(Axes axes, bool keepdims) {
  return Attributes({{"axes", std::move(axes)}, {"keepdims", keepdims}});
}
Attributes axis_option(std::int64_t axis) { return Attributes({{"axis", axis}}); }

Tensor cumulative(const Operation& op, const TensorArg& x, CumulativeAttributes options) {
  return call_operation(op, {x}, Attributes::of(options));
}
Tensor random(const Operation& op, const TensorArg& key, const TensorArg& counter, Dims dims) {
  return call_operation(op, {key, counter}, Attributes::of(RandomAttributes{std::move(dims)}));
}

// Empty lists of window options filled in.
Axes filled(Axes given, std::size_t count, std::int64_t value) {
  return given.empty() ? Axes(count, value) : std::move(given);
}
std::size_t spatial_axes(const TensorArg& x) {
  const Tensor* t = std::get_if<Tensor>(&x.operand());
  return t == nullptr || t->type().rank() < 2 ? 0 : t->type().rank() - 2;
}
PoolAttributes pool_attributes(Axes window, PoolOptions o) {
  const std::size_t n = window.size();
  PoolAttributes a{.window = std::move(window)};
  a.strides = o.strides.empty() ? a.window : std::move(o.strides);
  a.low = filled(std::move(o.low), n, 0);
  a.high = o.high.empty() ? a.low : std::move(o.high);
  a.ceil = o.ceil;
  return a;
}

Tensor compare(std::string direction, const TensorArg& x, const TensorArg& y) {
  return call_operation(op_compare, {x, y}, Attributes({{"direction", std::move(direction)}}));
}

}  // namespace

Tensor call_operation(const Operation& op, std::initializer_list<TensorArg> operands,
                      Attributes options) {
  return call_all(op, std::span(operands.begin(), operands.size()), std::move(options),
                  operands.size() > 0 ? operands.begin()->where() : Location{});
}

// ---- operators ----
Tensor operator-(TensorArg x) { return call_operation(op_neg, {x}); }
Tensor operator+(TensorArg x, TensorArg y) { return call_operation(op_add, {x, y}); }
Tensor operator-(TensorArg x, TensorArg y) { return call_operation(op_sub, {x, y}); }
Tensor operator*(TensorArg x, TensorArg y) { return call_operation(op_mul, {x, y}); }
Tensor operator/(TensorArg x, TensorArg y) { return call_operation(op_div, {x, y}); }
Tensor operator&(TensorArg x, TensorArg y) { return call_operation(op_and_, {x, y}); }
Tensor operator|(TensorArg x, TensorArg y) { return call_operation(op_or_, {x, y}); }
Tensor operator^(TensorArg x, TensorArg y) { return call_operation(op_xor_, {x, y}); }
Tensor operator<(TensorArg x, TensorArg y) { return compare("lt", x, y); }
Tensor operator<=(TensorArg x, TensorArg y) { return compare("le", x, y); }
Tensor operator>(TensorArg x, TensorArg y) { return compare("gt", x, y); }
Tensor operator>=(TensorArg x, TensorArg y) { return compare("ge", x, y); }

// ---- elementwise ----
Tensor neg(TensorArg x) { return call_operation(op_neg, {x}); }
Tensor abs(TensorArg x) { return call_operation(op_abs, {x}); }
Tensor sign(TensorArg x) { return call_operation(op_sign, {x}); }
Tensor floor(TensorArg x) { return call_operation(op_floor, {x}); }
Tensor ceil(TensorArg x) { return call_operation(op_ceil, {x}); }
Tensor round_even(TensorArg x) { return call_operation(op_round_even, {x}); }
Tensor trunc(TensorArg x) { return call_operation(op_trunc, {x}); }
Tensor sqrt(TensorArg x) { return call_operation(op_sqrt, {x}); }
Tensor rsqrt(TensorArg x) { return call_operation(op_rsqrt, {x}); }
Tensor cbrt(TensorArg x) { return call_operation(op_cbrt, {x}); }
Tensor exp(TensorArg x) { return call_operation(op_exp, {x}); }
Tensor exp2(TensorArg x) { return call_operation(op_exp2, {x}); }
Tensor expm1(TensorArg x) { return call_operation(op_expm1, {x}); }
Tensor log(TensorArg x) { return call_operation(op_log, {x}); }
Tensor log2(TensorArg x) { return call_operation(op_log2, {x}); }
Tensor log1p(TensorArg x) { return call_operation(op_log1p, {x}); }
Tensor sin(TensorArg x) { return call_operation(op_sin, {x}); }
Tensor cos(TensorArg x) { return call_operation(op_cos, {x}); }
Tensor tan(TensorArg x) { return call_operation(op_tan, {x}); }
Tensor asin(TensorArg x) { return call_operation(op_asin, {x}); }
Tensor acos(TensorArg x) { return call_operation(op_acos, {x}); }
Tensor atan(TensorArg x) { return call_operation(op_atan, {x}); }
Tensor sinh(TensorArg x) { return call_operation(op_sinh, {x}); }
Tensor cosh(TensorArg x) { return call_operation(op_cosh, {x}); }
Tensor tanh(TensorArg x) { return call_operation(op_tanh, {x}); }
Tensor asinh(TensorArg x) { return call_operation(op_asinh, {x}); }
Tensor acosh(TensorArg x) { return call_operation(op_acosh, {x}); }
Tensor atanh(TensorArg x) { return call_operation(op_atanh, {x}); }
Tensor logistic(TensorArg x) { return call_operation(op_logistic, {x}); }
Tensor erf(TensorArg x) { return call_operation(op_erf, {x}); }
Tensor erfc(TensorArg x) { return call_operation(op_erfc, {x}); }
Tensor is_finite(TensorArg x) { return call_operation(op_is_finite, {x}); }
Tensor is_nan(TensorArg x) { return call_operation(op_is_nan, {x}); }
Tensor is_inf(TensorArg x) { return call_operation(op_is_inf, {x}); }
Tensor logical_not(TensorArg x) { return call_operation(op_not_, {x}); }
Tensor convert(TensorArg x, DType to) {
  return call_operation(op_convert, {x}, Attributes({{"to", to}}));
}
Tensor bitcast(TensorArg x, DType to) {
  return call_operation(op_bitcast, {x}, Attributes({{"to", to}}));
}
Tensor add(TensorArg x, TensorArg y) { return call_operation(op_add, {x, y}); }
Tensor sub(TensorArg x, TensorArg y) { return call_operation(op_sub, {x, y}); }
Tensor mul(TensorArg x, TensorArg y) { return call_operation(op_mul, {x, y}); }
Tensor div(TensorArg x, TensorArg y) { return call_operation(op_div, {x, y}); }
Tensor rem(TensorArg x, TensorArg y) { return call_operation(op_rem, {x, y}); }
Tensor pow(TensorArg x, TensorArg y) { return call_operation(op_pow, {x, y}); }
Tensor atan2(TensorArg y, TensorArg x) { return call_operation(op_atan2, {y, x}); }
Tensor maximum(TensorArg x, TensorArg y) { return call_operation(op_max, {x, y}); }
Tensor minimum(TensorArg x, TensorArg y) { return call_operation(op_min, {x, y}); }
Tensor logical_and(TensorArg x, TensorArg y) { return call_operation(op_and_, {x, y}); }
Tensor logical_or(TensorArg x, TensorArg y) { return call_operation(op_or_, {x, y}); }
Tensor logical_xor(TensorArg x, TensorArg y) { return call_operation(op_xor_, {x, y}); }
Tensor shift_left(TensorArg x, TensorArg places) { return call_operation(op_shl, {x, places}); }
Tensor shift_right(TensorArg x, TensorArg places) { return call_operation(op_shr, {x, places}); }
Tensor equal(TensorArg x, TensorArg y) { return compare("eq", x, y); }
Tensor not_equal(TensorArg x, TensorArg y) { return compare("ne", x, y); }
Tensor where(TensorArg condition, TensorArg yes, TensorArg no) {
  return call_operation(op_select, {condition, yes, no});
}
Tensor clamp(TensorArg x, TensorArg low, TensorArg high) {
  return call_operation(op_clamp, {x, low, high});
}

// ---- shapes ----
Tensor reshape(TensorArg x, Dims dims) {
  return call_operation(op_reshape, {x}, Attributes({{"dims", std::move(dims)}}));
}
Tensor transpose(TensorArg x) { return call_operation(op_transpose, {x}); }
Tensor transpose(TensorArg x, Axes permutation) {
  return call_operation(op_transpose, {x}, Attributes({{"permutation", std::move(permutation)}}));
}
Tensor broadcast_to(TensorArg x, Dims dims) {
  return call_operation(op_broadcast_in_dim, {x}, Attributes({{"dims", std::move(dims)}}));
}
Tensor slice(TensorArg x, Axes starts, Axes limits) {
  Axes strides(starts.size(), 1);
  return slice(x, std::move(starts), std::move(limits), std::move(strides));
}
Tensor slice(TensorArg x, Axes starts, Axes limits, Axes strides) {
  return call_operation(
      op_slice, {x},
      Attributes::of(SliceAttributes{std::move(starts), std::move(limits), std::move(strides)}));
}
Tensor pad(TensorArg x, Axes low, Axes high, TensorArg value) {
  Axes interior(low.size(), 0);
  return call_operation(
      op_pad, {x, value},
      Attributes::of(PadAttributes{std::move(low), std::move(high), std::move(interior)}));
}
Tensor concatenate(std::vector<Tensor> parts, std::int64_t axis, std::source_location where) {
  std::vector<TensorArg> arguments;
  for (const Tensor& part : parts) arguments.emplace_back(part, where);
  return call_all(op_concatenate, arguments, axis_option(axis), where);
}
Tensor reverse(TensorArg x, Axes axes) {
  return call_operation(op_reverse, {x}, Attributes({{"axes", std::move(axes)}}));
}

// ---- indexing ----
Tensor take(TensorArg x, TensorArg indices, std::int64_t axis) {
  return call_operation(op_gather, {x, indices}, Attributes::of(GatherAttributes{axis, "drop"}));
}
Tensor scatter_add(TensorArg x, TensorArg indices, TensorArg updates, std::int64_t axis) {
  return call_operation(op_scatter, {x, indices, updates},
                        Attributes::of(GatherAttributes{axis, "drop"}));
}

Tensor take_along_axis(TensorArg x, TensorArg indices, std::int64_t axis) {
  return call_operation(op_take_along_axis, {x, indices},
                        Attributes::of(GatherAttributes{axis, "drop"}));
}
Tensor dynamic_slice(TensorArg x, TensorArg starts, Axes sizes) {
  return call_operation(op_dynamic_slice, {x, starts},
                        Attributes::of(DynamicSliceAttributes{std::move(sizes)}));
}
Tensor dynamic_update_slice(TensorArg x, TensorArg starts, TensorArg update) {
  return call_operation(op_dynamic_update_slice, {x, starts, update});
}

// ---- order ----
Tensor sort(TensorArg x, std::int64_t axis, bool descending) {
  return call_operation(op_sort, {x}, Attributes::of(SortAttributes{axis, descending}));
}
Tensor argsort(TensorArg x, std::int64_t axis, bool descending) {
  return call_operation(op_argsort, {x}, Attributes({{"axis", axis}, {"descending", descending}}));
}
TopK top_k(TensorArg x, std::int64_t k) {
  const std::vector<Tensor> both =
      call_results(op_top_k, std::span(&x, 1), Attributes::of(TopKAttributes{k}), x.where());
  return {both[0], both[1]};
}

// ---- cumulative ----
Tensor cumsum(TensorArg x, std::int64_t axis, bool reverse, bool exclusive) {
  return cumulative(op_cumsum, x, {axis, reverse, exclusive});
}
Tensor cumprod(TensorArg x, std::int64_t axis, bool reverse, bool exclusive) {
  return cumulative(op_cumprod, x, {axis, reverse, exclusive});
}
Tensor cummax(TensorArg x, std::int64_t axis, bool reverse, bool exclusive) {
  return cumulative(op_cummax, x, {axis, reverse, exclusive});
}
Tensor cummin(TensorArg x, std::int64_t axis, bool reverse, bool exclusive) {
  return cumulative(op_cummin, x, {axis, reverse, exclusive});
}

// ---- reductions ----
Tensor sum(TensorArg x) { return call_operation(op_reduce_sum, {x}); }
Tensor sum(TensorArg x, Axes axes, bool keepdims) {
  return call_operation(op_reduce_sum, {x}, axes_option(std::move(axes), keepdims));
}
Tensor prod(TensorArg x) { return call_operation(op_reduce_prod, {x}); }
Tensor prod(TensorArg x, Axes axes, bool keepdims) {
  return call_operation(op_reduce_prod, {x}, axes_option(std::move(axes), keepdims));
}
Tensor mean(TensorArg x) { return call_operation(op_mean, {x}); }
Tensor mean(TensorArg x, Axes axes, bool keepdims) {
  return call_operation(op_mean, {x}, axes_option(std::move(axes), keepdims));
}
Tensor reduce_max(TensorArg x) { return call_operation(op_reduce_max, {x}); }
Tensor reduce_max(TensorArg x, Axes axes, bool keepdims) {
  return call_operation(op_reduce_max, {x}, axes_option(std::move(axes), keepdims));
}
Tensor reduce_min(TensorArg x) { return call_operation(op_reduce_min, {x}); }
Tensor reduce_min(TensorArg x, Axes axes, bool keepdims) {
  return call_operation(op_reduce_min, {x}, axes_option(std::move(axes), keepdims));
}
Tensor any(TensorArg x) { return call_operation(op_reduce_any, {x}); }
Tensor any(TensorArg x, Axes axes, bool keepdims) {
  return call_operation(op_reduce_any, {x}, axes_option(std::move(axes), keepdims));
}
Tensor all(TensorArg x) { return call_operation(op_reduce_all, {x}); }
Tensor all(TensorArg x, Axes axes, bool keepdims) {
  return call_operation(op_reduce_all, {x}, axes_option(std::move(axes), keepdims));
}
Tensor argmax(TensorArg x, std::int64_t axis) {
  return call_operation(op_argmax, {x}, axis_option(axis));
}
Tensor argmin(TensorArg x, std::int64_t axis) {
  return call_operation(op_argmin, {x}, axis_option(axis));
}

// ---- contractions ----
Tensor matmul(TensorArg x, TensorArg y) { return call_operation(op_matmul, {x, y}); }
Tensor dot_general(TensorArg x, TensorArg y, const DotAttributes& axes) {
  return call_operation(op_dot_general, {x, y}, Attributes::of(axes));
}

// ---- windows ----
Tensor conv(TensorArg x, TensorArg w, ConvOptions o) {
  const std::size_t n = spatial_axes(x);
  ConvAttributes a;
  a.strides = filled(std::move(o.strides), n, 1);
  a.low = filled(std::move(o.low), n, 0);
  a.high = o.high.empty() ? a.low : std::move(o.high);
  a.lhs_dilation = Axes(n, 1);
  a.rhs_dilation = filled(std::move(o.dilation), n, 1);
  a.groups = o.groups;
  return call_operation(op_conv_general, {x, w}, Attributes::of(a));
}
Tensor conv_transpose(TensorArg x, TensorArg w, ConvOptions o, Axes output_padding) {
  const std::size_t n = spatial_axes(x);
  ConvTransposeAttributes a;
  a.strides = filled(std::move(o.strides), n, 1);
  a.low = filled(std::move(o.low), n, 0);
  a.high = o.high.empty() ? a.low : std::move(o.high);
  a.output_padding = filled(std::move(output_padding), n, 0);
  a.dilation = filled(std::move(o.dilation), n, 1);
  a.groups = o.groups;
  return call_operation(op_conv_transpose, {x, w}, Attributes::of(a));
}
Tensor max_pool(TensorArg x, Axes window, PoolOptions options) {
  return call_operation(op_max_pool, {x},
                        Attributes::of(pool_attributes(std::move(window), std::move(options))));
}
Tensor avg_pool(TensorArg x, Axes window, PoolOptions options, bool count_padding) {
  AvgPoolAttributes a;
  static_cast<PoolAttributes&>(a) = pool_attributes(std::move(window), std::move(options));
  a.count_padding = count_padding;
  return call_operation(op_avg_pool, {x}, Attributes::of(a));
}

// ---- random numbers ----
Tensor rng_bits(TensorArg key, TensorArg counter, Dims dims) {
  return random(op_rng_bits, key, counter, std::move(dims));
}
Tensor random_uniform(TensorArg key, TensorArg counter, Dims dims) {
  return random(op_random_uniform, key, counter, std::move(dims));
}
Tensor random_normal(TensorArg key, TensorArg counter, Dims dims) {
  return random(op_random_normal, key, counter, std::move(dims));
}

// ---- networks ----
Tensor relu(TensorArg x) { return call_operation(op_relu, {x}); }
Tensor gelu(TensorArg x, bool tanh) {
  return call_operation(op_gelu, {x}, Attributes::of(GeluAttributes{tanh}));
}
Tensor silu(TensorArg x) { return call_operation(op_silu, {x}); }
Tensor softmax(TensorArg x, std::int64_t axis) {
  return call_operation(op_softmax, {x}, axis_option(axis));
}
Tensor log_softmax(TensorArg x, std::int64_t axis) {
  return call_operation(op_log_softmax, {x}, axis_option(axis));
}
Tensor logsumexp(TensorArg x, std::int64_t axis) {
  return call_operation(op_logsumexp, {x}, axis_option(axis));
}
Tensor attention(TensorArg q, TensorArg k, TensorArg v, bool causal, double scale) {
  const TensorArg all[] = {q, k, v};
  return call_results(op_attention, all, Attributes::of(AttentionAttributes{causal, scale}),
                      q.where())[0];
}
Tensor layer_norm(TensorArg x, TensorArg scale, TensorArg shift, double epsilon) {
  return call_operation(op_layer_norm, {x, scale, shift},
                        Attributes::of(LayerNormAttributes{epsilon}));
}
Tensor cross_entropy(TensorArg logits, TensorArg labels) {
  return call_operation(op_cross_entropy, {logits, labels});
}

}  // namespace heddle
