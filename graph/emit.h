// Short ways to add strict operations to a builder: what derivative rules, decompositions, surface
// bodies and the AD engine are written in. Every operand must already have the dtype and shape the
// strict operation asks for; nothing is converted or broadcast here. Where an operation would
// change nothing (a reshape to the same extents, a sum over no axis), the operand itself comes
// back.
#ifndef HEDDLE_GRAPH_EMIT_H_
#define HEDDLE_GRAPH_EMIT_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/graph/builder.h"
#include "heddle/graph/op_attributes.h"

namespace heddle::emit {

using Axes = std::vector<std::int64_t>;

// Elementwise, one operand.
ValueId neg(Builder& b, ValueId x);
ValueId abs(Builder& b, ValueId x);
ValueId sign(Builder& b, ValueId x);
ValueId floor(Builder& b, ValueId x);
ValueId sqrt(Builder& b, ValueId x);
ValueId rsqrt(Builder& b, ValueId x);
ValueId exp(Builder& b, ValueId x);
ValueId log(Builder& b, ValueId x);
ValueId sin(Builder& b, ValueId x);
ValueId cos(Builder& b, ValueId x);
ValueId sinh(Builder& b, ValueId x);
ValueId cosh(Builder& b, ValueId x);
ValueId tanh(Builder& b, ValueId x);
ValueId logistic(Builder& b, ValueId x);
ValueId erf(Builder& b, ValueId x);
ValueId is_finite(Builder& b, ValueId x);
ValueId logical_not(Builder& b, ValueId x);

// Elementwise, two operands.
ValueId add(Builder& b, ValueId x, ValueId y);
ValueId sub(Builder& b, ValueId x, ValueId y);
ValueId mul(Builder& b, ValueId x, ValueId y);
ValueId div(Builder& b, ValueId x, ValueId y);
ValueId pow(Builder& b, ValueId x, ValueId y);
ValueId max(Builder& b, ValueId x, ValueId y);
ValueId min(Builder& b, ValueId x, ValueId y);
ValueId logical_and(Builder& b, ValueId x, ValueId y);
ValueId logical_or(Builder& b, ValueId x, ValueId y);
/// x + c, x * c with a constant filled to x's type.
ValueId add(Builder& b, ValueId x, double c);
ValueId mul(Builder& b, ValueId x, double c);

/// `direction`: "eq" "ne" "lt" "le" "gt" "ge".
ValueId compare(Builder& b, std::string_view direction, ValueId x, ValueId y);
ValueId compare(Builder& b, std::string_view direction, ValueId x, double c);
ValueId select(Builder& b, ValueId predicate, ValueId yes, ValueId no);
ValueId convert(Builder& b, ValueId x, DType to);

/// A scalar constant.
ValueId scalar(Builder& b, DType dtype, double value);
/// A value of `like`'s type, every element `value`.
ValueId fill_like(Builder& b, double value, ValueId like);
ValueId zeros(Builder& b, const Type& type);
ValueId zeros_like(Builder& b, ValueId like);
/// Whether `v` is known to be +0 everywhere: a constant of zeros, or a broadcast of one.
bool is_zero(const Builder& b, ValueId v);
/// Whether every element of `v` is known to be 0 or 1: such a (small) constant, a converted
/// predicate, 1 minus one of these, a broadcast of one.
bool is_zero_or_one(const Builder& b, ValueId v);

ValueId iota(Builder& b, DType dtype, Dims dims, std::int64_t axis);
ValueId broadcast_in_dim(Builder& b, ValueId x, Dims dims, Axes axes);
/// A scalar over all of `dims`.
ValueId broadcast_scalar(Builder& b, ValueId x, Dims dims);
/// Undoes a reduction's shape: `x` is what remained of `dims` without `axes`; it is repeated along
/// them.
ValueId broadcast_over(Builder& b, ValueId x, Dims dims, const Axes& axes);
ValueId reshape(Builder& b, ValueId x, Dims dims);
ValueId transpose(Builder& b, ValueId x, Axes permutation);
ValueId slice(Builder& b, ValueId x, Axes starts, Axes limits, Axes strides);
/// Elements [start, limit) of one axis.
ValueId slice_axis(Builder& b, ValueId x, std::int64_t axis, std::int64_t start, std::int64_t limit,
                   std::int64_t stride = 1);
ValueId pad(Builder& b, ValueId x, ValueId value, Axes low, Axes high, Axes interior);
ValueId concatenate(Builder& b, Ids parts, std::int64_t axis);
ValueId reverse(Builder& b, ValueId x, Axes axes);

ValueId gather(Builder& b, ValueId x, ValueId indices, const GatherAttributes& attributes);
ValueId scatter(Builder& b, ValueId x, ValueId indices, ValueId updates,
                const GatherAttributes& attributes);

ValueId reduce_sum(Builder& b, ValueId x, Axes axes);
ValueId reduce_prod(Builder& b, ValueId x, Axes axes);
ValueId reduce_max(Builder& b, ValueId x, Axes axes);
ValueId reduce_any(Builder& b, ValueId x, Axes axes);
ValueId reduce_all(Builder& b, ValueId x, Axes axes);

ValueId dot_general(Builder& b, ValueId x, ValueId y, const DotAttributes& attributes);

/// 0 .. rank-1.
Axes all_axes(std::size_t rank);
/// 0 .. rank-1 without `axes` (sorted).
Axes other_axes(std::size_t rank, const Axes& axes);
/// `dims` without `axes` (sorted).
Dims without(const Dims& dims, const Axes& axes);

}  // namespace heddle::emit

#endif  // HEDDLE_GRAPH_EMIT_H_
