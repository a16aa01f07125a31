// The operations a person calls. Shapes broadcast right-aligned. Tensors meet in the
// widest dtype of bool, integers, floats; a signed and an unsigned integer in the signed one that
// holds both, or f32 (u64), f16 and bf16 in f32 (the table is in graph/promote.cpp). A number takes
// the tensor's dtype, but beside an integer tensor a number that is not whole (and `true`) makes
// both f32, and beside a bool tensor a whole one makes both i32; a whole number that the dtype
// cannot hold is an OverflowError. Integers become f32 where an operation has floating results.
// Axes may be negative: -1 is the last. Errors: TypeError for dtypes and kinds, ValueError for
// shapes and axes, each with the caller's file and line.
#ifndef HEDDLE_FRONTEND_OPS_H_
#define HEDDLE_FRONTEND_OPS_H_

#include <string_view>
#include <vector>

#include "heddle/frontend/tensor.h"
#include "heddle/graph/op_attributes.h"

namespace heddle {

using Axes = std::vector<std::int64_t>;

// ---- elementwise, one operand ----
Tensor neg(TensorArg x);
Tensor abs(TensorArg x);
/// -1, 0 or 1; NaN stays NaN, -0 stays -0.
Tensor sign(TensorArg x);
Tensor floor(TensorArg x);
Tensor ceil(TensorArg x);
/// To the nearest whole number, ties to even.
Tensor round_even(TensorArg x);
/// Without the fraction.
Tensor trunc(TensorArg x);
Tensor sqrt(TensorArg x);
/// 1 / sqrt(x).
Tensor rsqrt(TensorArg x);
/// The cube root, of negative numbers too.
Tensor cbrt(TensorArg x);
Tensor exp(TensorArg x);
/// 2^x.
Tensor exp2(TensorArg x);
/// exp(x) - 1, exact near 0.
Tensor expm1(TensorArg x);
Tensor log(TensorArg x);
Tensor log2(TensorArg x);
/// log(1 + x), exact near 0.
Tensor log1p(TensorArg x);
/// Angles are in radians.
Tensor sin(TensorArg x);
Tensor cos(TensorArg x);
Tensor tan(TensorArg x);
Tensor asin(TensorArg x);
Tensor acos(TensorArg x);
Tensor atan(TensorArg x);
Tensor sinh(TensorArg x);
Tensor cosh(TensorArg x);
Tensor tanh(TensorArg x);
Tensor asinh(TensorArg x);
Tensor acosh(TensorArg x);
Tensor atanh(TensorArg x);
/// 1 / (1 + exp(-x)).
Tensor logistic(TensorArg x);
Tensor erf(TensorArg x);
/// 1 - erf(x), accurate for large x.
Tensor erfc(TensorArg x);
/// bool: neither NaN nor infinite.
Tensor is_finite(TensorArg x);
Tensor is_nan(TensorArg x);
/// bool: inf or -inf.
Tensor is_inf(TensorArg x);
Tensor logical_not(TensorArg x);
/// The same values in another dtype. Float to integer truncates and saturates, NaN gives 0.
Tensor convert(TensorArg x, DType to);
/// The same bits as another dtype of the same width.
Tensor bitcast(TensorArg x, DType to);

// ---- elementwise, two operands ----
Tensor add(TensorArg x, TensorArg y);
Tensor sub(TensorArg x, TensorArg y);
Tensor mul(TensorArg x, TensorArg y);
/// True division: integers become f32.
Tensor div(TensorArg x, TensorArg y);
/// Remainder of the truncating division: the sign is x's.
Tensor rem(TensorArg x, TensorArg y);
Tensor pow(TensorArg x, TensorArg y);
/// The angle of the point (x, y), in [-pi, pi].
Tensor atan2(TensorArg y, TensorArg x);
/// NaN if either is NaN.
Tensor maximum(TensorArg x, TensorArg y);
Tensor minimum(TensorArg x, TensorArg y);
Tensor logical_and(TensorArg x, TensorArg y);
Tensor logical_or(TensorArg x, TensorArg y);
Tensor logical_xor(TensorArg x, TensorArg y);
/// Bits of integers moved up (zeros come in) or down (the sign comes in, zeros where unsigned). Any
/// number of places is defined: negative ones and those beyond the width shift everything out (the
/// sign stays).
Tensor shift_left(TensorArg x, TensorArg places);
Tensor shift_right(TensorArg x, TensorArg places);
Tensor equal(TensorArg x, TensorArg y);
Tensor not_equal(TensorArg x, TensorArg y);
/// Element by element: yes where the bool tensor is true, no elsewhere. The one not taken has no
/// influence, on derivatives either.
Tensor where(TensorArg condition, TensorArg yes, TensorArg no);
/// low where x < low, high where x > high, else x. NaN stays NaN. Derivative 0 at both edges.
Tensor clamp(TensorArg x, TensorArg low, TensorArg high);

// ---- shapes ----
/// The same elements in row-major order. One extent may be -1: it is computed.
Tensor reshape(TensorArg x, Dims dims);
/// Result axis a is x's axis permutation[a]; without a permutation all axes are reversed.
Tensor transpose(TensorArg x);
Tensor transpose(TensorArg x, Axes permutation);
/// Repeats x along new leading axes and along axes of extent 1.
Tensor broadcast_to(TensorArg x, Dims dims);
/// Elements starts[a], starts[a] + strides[a], ... below limits[a] of each axis; negative bounds
/// count from the end.
Tensor slice(TensorArg x, Axes starts, Axes limits);
Tensor slice(TensorArg x, Axes starts, Axes limits, Axes strides);
/// low[a] and high[a] elements of `value` before and after axis a.
Tensor pad(TensorArg x, Axes low, Axes high, TensorArg value = 0);
Tensor concatenate(std::vector<Tensor> parts, std::int64_t axis,
                   std::source_location where = std::source_location::current());
/// Reverses the order along the axes.
Tensor reverse(TensorArg x, Axes axes);
/// 0, 1, 2 ... along one axis. Inside a trace only.
Tensor iota(Type type, std::int64_t axis,
            std::source_location where = std::source_location::current());

// ---- indexing ----
/// x[.., indices[i..], ..] along `axis`; indices are i32, negative ones count from the end, ones
/// out of range give 0.
Tensor take(TensorArg x, TensorArg indices, std::int64_t axis = 0);
/// x with updates added at the indices along `axis`; duplicates add up, in order; indices out of
/// range are left out.
Tensor scatter_add(TensorArg x, TensorArg indices, TensorArg updates, std::int64_t axis = 0);

/// x[.., indices[.., i, ..], ..] along `axis`: one index per element of the result, which has x's
/// extents but along the axis. Negative indices count from the end, ones out of range give 0.
Tensor take_along_axis(TensorArg x, TensorArg indices, std::int64_t axis = -1);
/// The slice of extents `sizes` that begins at `starts` (i32, one per axis), moved inside x.
Tensor dynamic_slice(TensorArg x, TensorArg starts, Axes sizes);
/// x with `update` in place of its elements from `starts` on, moved inside x.
Tensor dynamic_update_slice(TensorArg x, TensorArg starts, TensorArg update);

// ---- order ----
/// In ascending or descending order along an axis. Equal elements keep their order; NaN comes last.
Tensor sort(TensorArg x, std::int64_t axis = -1, bool descending = false);
/// i32 indices that sort x: take_along_axis(y, argsort(x)) brings y into x's order.
Tensor argsort(TensorArg x, std::int64_t axis = -1, bool descending = false);
struct TopK {
  Tensor values, indices;
};
/// The k greatest elements along the last axis in descending order, and where they are (i32). Of
/// equal elements the lower index comes first; NaN counts as the greatest.
TopK top_k(TensorArg x, std::int64_t k);

// ---- cumulative, along one axis; reverse: from the end; exclusive: without the element itself
// ----
/// In x's dtype, as sum and prod: integers wrap, bool becomes i32.
Tensor cumsum(TensorArg x, std::int64_t axis = -1, bool reverse = false, bool exclusive = false);
/// Derivatives are right at zeros.
Tensor cumprod(TensorArg x, std::int64_t axis = -1, bool reverse = false, bool exclusive = false);
/// NaN wins; of zeros of both signs either. The derivative goes to the first of equal ones.
Tensor cummax(TensorArg x, std::int64_t axis = -1, bool reverse = false, bool exclusive = false);
Tensor cummin(TensorArg x, std::int64_t axis = -1, bool reverse = false, bool exclusive = false);

// ---- reductions: over all axes, or over those named (removed from the shape unless keepdims) ----
/// In x's dtype: integers wrap (a u8 sum is a u8: convert x first for a wider one), bool is counted
/// in i32. prod likewise; the mean of integers is f32.
Tensor sum(TensorArg x);
Tensor sum(TensorArg x, Axes axes, bool keepdims = false);
Tensor prod(TensorArg x);
Tensor prod(TensorArg x, Axes axes, bool keepdims = false);
Tensor mean(TensorArg x);
Tensor mean(TensorArg x, Axes axes, bool keepdims = false);
/// Largest element; NaN wins; of zeros of both signs either. Over nothing: -inf, or the lowest
/// integer.
Tensor reduce_max(TensorArg x);
Tensor reduce_max(TensorArg x, Axes axes, bool keepdims = false);
Tensor reduce_min(TensorArg x);
Tensor reduce_min(TensorArg x, Axes axes, bool keepdims = false);
Tensor any(TensorArg x);
Tensor any(TensorArg x, Axes axes, bool keepdims = false);
Tensor all(TensorArg x);
Tensor all(TensorArg x, Axes axes, bool keepdims = false);
/// i32 index of the first largest (smallest) element along an axis; the first NaN wins.
Tensor argmax(TensorArg x, std::int64_t axis = -1);
Tensor argmin(TensorArg x, std::int64_t axis = -1);

// ---- contractions ----
/// x: T[*B, M, K], y: T[*B, K, N] -> T[*B, M, N].
Tensor matmul(TensorArg x, TensorArg y);
/// Batch axes first, then x's free axes, then y's.
Tensor dot_general(TensorArg x, TensorArg y, const DotAttributes& axes);

// ---- windows ----
/// Numbers of windows: one entry per spatial axis; empty lists stand for ones (strides, dilation)
/// or zeros (padding). `high` empty: as `low`.
struct ConvOptions {
  Axes strides, low, high, dilation;
  std::int64_t groups = 1;
};
/// x: [batch, channels, ..], w: [outputs, channels / groups, ..] -> [batch, outputs, ..]. The
/// kernel is not turned round (a correlation), any number of spatial axes.
Tensor conv(TensorArg x, TensorArg w, ConvOptions options = {});
/// The adjoint of conv in x. w: [channels, outputs / groups, ..]; output_padding adds at the end.
Tensor conv_transpose(TensorArg x, TensorArg w, ConvOptions options = {}, Axes output_padding = {});
/// Pooling over the last axes, as many as `window` has entries. Strides empty: the window. ceil: a
/// last window that is not whole counts too, if it begins inside x or the padding before it.
struct PoolOptions {
  Axes strides, low, high;
  bool ceil = false;
};
/// Padding never wins; NaN does. The derivative goes to the first of equal ones.
Tensor max_pool(TensorArg x, Axes window, PoolOptions options = {});
/// count_padding: the divisor counts padding, too (never what lies beyond it).
Tensor avg_pool(TensorArg x, Axes window, PoolOptions options = {}, bool count_padding = false);

// ---- random numbers, from a key (u32[2]) and a counter (u32[4]): same arguments, same numbers
// ----
/// u32: word i mod 4 of Philox 4x32-10 of counter + i div 4.
Tensor rng_bits(TensorArg key, TensorArg counter, Dims dims);
/// f32 in [0, 1), multiples of 2^-24.
Tensor random_uniform(TensorArg key, TensorArg counter, Dims dims);
/// f32 of the standard normal distribution.
Tensor random_normal(TensorArg key, TensorArg counter, Dims dims);

// ---- networks ----
/// max(x, 0); NaN stays NaN. Derivative 0 at 0.
Tensor relu(TensorArg x);
/// x * Phi(x), the normal distribution; by erf, or by its tanh approximation (Hendrycks and Gimpel,
/// arXiv:1606.08415).
Tensor gelu(TensorArg x, bool tanh = false);
/// x * logistic(x).
Tensor silu(TensorArg x);
Tensor softmax(TensorArg x, std::int64_t axis = -1);
Tensor log_softmax(TensorArg x, std::int64_t axis = -1);
/// log(sum(exp(x))) along an axis, which is removed.
Tensor logsumexp(TensorArg x, std::int64_t axis = -1);
/// (x - mean) / sqrt(variance + epsilon) * scale + shift over the last axis (Ba et al.,
/// arXiv:1607.06450).
Tensor layer_norm(TensorArg x, TensorArg scale, TensorArg shift, double epsilon = 1e-5);
/// Mean over the batch of -log_softmax(logits)[label]. logits: f32[B,C], labels: i32[B] -> f32[].
Tensor cross_entropy(TensorArg logits, TensorArg labels);
/// softmax(scale q k^T) v: q[.., T, D], k[.., S, D] and v[.., S, E] give [.., T, E]. causal: query
/// t sees the keys 0 .. t. scale 0: 1/sqrt(D). Neither it nor its gradient stores T x S scores,
/// where it is compiled for the CPU in f32 with D = E <= 512, a multiple of two vectors.
Tensor attention(TensorArg q, TensorArg k, TensorArg v, bool causal = false, double scale = 0);

/// A tensor known when the program is made, as a constant of it. Inside a trace only.
Tensor constant(const Literal& literal,
                std::source_location where = std::source_location::current());
/// Of a concrete tensor: its elements as they are now. Errors as to_literal.
Tensor constant(const Tensor& tensor, std::source_location where = std::source_location::current());

/// Calls any operation by its record: what every function above does.
Tensor call_operation(const Operation& op, std::initializer_list<TensorArg> operands,
                      Attributes options = {});

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_OPS_H_
