#include "heddle/graph/emit.h"

#include <algorithm>
#include <numeric>

#include "heddle/graph/operation.h"

namespace heddle::emit {

#define HEDDLE_EMIT_UNARY(name, op) \
  ValueId name(Builder& b, ValueId x) { return b.emit(op, {x}); }
HEDDLE_EMIT_UNARY(neg, op_neg)
HEDDLE_EMIT_UNARY(abs, op_abs)
HEDDLE_EMIT_UNARY(sign, op_sign)
HEDDLE_EMIT_UNARY(floor, op_floor)
HEDDLE_EMIT_UNARY(sqrt, op_sqrt)
HEDDLE_EMIT_UNARY(rsqrt, op_rsqrt)
HEDDLE_EMIT_UNARY(exp, op_exp)
HEDDLE_EMIT_UNARY(log, op_log)
HEDDLE_EMIT_UNARY(sin, op_sin)
HEDDLE_EMIT_UNARY(cos, op_cos)
HEDDLE_EMIT_UNARY(sinh, op_sinh)
HEDDLE_EMIT_UNARY(cosh, op_cosh)
HEDDLE_EMIT_UNARY(tanh, op_tanh)
HEDDLE_EMIT_UNARY(logistic, op_logistic)
HEDDLE_EMIT_UNARY(erf, op_erf)
HEDDLE_EMIT_UNARY(is_finite, op_is_finite)
HEDDLE_EMIT_UNARY(logical_not, op_not_)
#undef HEDDLE_EMIT_UNARY

#define HEDDLE_EMIT_BINARY(name, op) \
  ValueId name(Builder& b, ValueId x, ValueId y) { return b.emit(op, {x, y}); }
HEDDLE_EMIT_BINARY(add, op_add)
HEDDLE_EMIT_BINARY(sub, op_sub)
HEDDLE_EMIT_BINARY(mul, op_mul)
HEDDLE_EMIT_BINARY(div, op_div)
HEDDLE_EMIT_BINARY(pow, op_pow)
HEDDLE_EMIT_BINARY(max, op_max)
HEDDLE_EMIT_BINARY(min, op_min)
HEDDLE_EMIT_BINARY(logical_and, op_and_)
HEDDLE_EMIT_BINARY(logical_or, op_or_)
#undef HEDDLE_EMIT_BINARY

ValueId add(Builder& b, ValueId x, double c) { return add(b, x, fill_like(b, c, x)); }
ValueId mul(Builder& b, ValueId x, double c) { return mul(b, x, fill_like(b, c, x)); }

ValueId compare(Builder& b, std::string_view direction, ValueId x, ValueId y) {
  return b.emit(op_compare, {x, y}, Attributes::of(CompareAttributes{std::string(direction)}));
}
ValueId compare(Builder& b, std::string_view direction, ValueId x, double c) {
  return compare(b, direction, x, fill_like(b, c, x));
}
ValueId select(Builder& b, ValueId predicate, ValueId yes, ValueId no) {
  return b.emit(op_select, {predicate, yes, no});
}
ValueId convert(Builder& b, ValueId x, DType to) {
  if (b.type(x).dtype == to) return x;
  return b.emit(op_convert, {x}, Attributes::of(ConvertAttributes{to}));
}

ValueId scalar(Builder& b, DType dtype, double value) { return b.filled({dtype, {}}, value); }
ValueId fill_like(Builder& b, double value, ValueId like) {
  const Type type = b.type(like);  // a copy: filled() adds values
  return b.filled(type, value);
}
ValueId zeros(Builder& b, const Type& type) { return b.filled(type, 0); }
ValueId zeros_like(Builder& b, ValueId like) { return fill_like(b, 0, like); }

namespace {

const Node* broadcast_definition(const Builder& b, ValueId v) {
  const Node* node = b.definition(v);
  while (node != nullptr && node->op == &op_broadcast_in_dim) {
    node = b.definition(node->operands[0]);
  }
  return node;
}
bool is_small_constant(const Node* node, bool (*holds)(double)) {
  if (node == nullptr || node->op != &op_constant || node->literal->bytes->size() > 64)
    return false;
  const std::vector<double> numbers = to_doubles(*node->literal);
  return std::all_of(numbers.begin(), numbers.end(), holds);
}

}  // namespace

bool is_zero(const Builder& b, ValueId v) {
  const Node* node = broadcast_definition(b, v);
  if (node == nullptr || node->op != &op_constant) return false;
  const std::vector<std::byte>& bytes = *node->literal->bytes;
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte x) { return x == std::byte{0}; });
}
bool is_zero_or_one(const Builder& b, ValueId v) {
  const Node* node = broadcast_definition(b, v);
  const auto is_one = [](double x) { return x == 1; };
  while (node != nullptr && node->op == &op_sub &&
         is_small_constant(broadcast_definition(b, node->operands[0]), is_one)) {
    node = broadcast_definition(b, node->operands[1]);  // 1 - x is, where x is
  }
  if (node != nullptr && node->op == &op_convert)
    return b.type(node->operands[0]).dtype == DType::boolean;
  return is_small_constant(node, [](double x) { return x == 0 || x == 1; });
}

ValueId iota(Builder& b, DType dtype, Dims dims, std::int64_t axis) {
  return b.emit(op_iota, Ids(), Attributes::of(IotaAttributes{dtype, std::move(dims), axis}));
}

ValueId broadcast_in_dim(Builder& b, ValueId x, Dims dims, Axes axes) {
  if (b.type(x).dims == dims) return x;
  return b.emit(op_broadcast_in_dim, {x},
                Attributes::of(BroadcastAttributes{std::move(dims), std::move(axes)}));
}
ValueId broadcast_scalar(Builder& b, ValueId x, Dims dims) {
  return broadcast_in_dim(b, x, std::move(dims), {});
}
ValueId broadcast_over(Builder& b, ValueId x, Dims dims, const Axes& axes) {
  Axes kept = other_axes(dims.size(), axes);
  return broadcast_in_dim(b, x, std::move(dims), std::move(kept));
}

ValueId reshape(Builder& b, ValueId x, Dims dims) {
  if (b.type(x).dims == dims) return x;
  return b.emit(op_reshape, {x}, Attributes::of(ReshapeAttributes{std::move(dims)}));
}
ValueId transpose(Builder& b, ValueId x, Axes permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  return b.emit(op_transpose, {x}, Attributes::of(TransposeAttributes{std::move(permutation)}));
}

ValueId slice(Builder& b, ValueId x, Axes starts, Axes limits, Axes strides) {
  return b.emit(
      op_slice, {x},
      Attributes::of(SliceAttributes{std::move(starts), std::move(limits), std::move(strides)}));
}
ValueId slice_axis(Builder& b, ValueId x, std::int64_t axis, std::int64_t start, std::int64_t limit,
                   std::int64_t stride) {
  Axes limits = constant_extents(b.type(x).dims);
  Axes starts(limits.size(), 0), strides(limits.size(), 1);
  const auto a = static_cast<std::size_t>(axis);
  if (start == 0 && limit == limits[a] && stride == 1) return x;
  starts[a] = start, limits[a] = limit, strides[a] = stride;
  return slice(b, x, std::move(starts), std::move(limits), std::move(strides));
}
ValueId pad(Builder& b, ValueId x, ValueId value, Axes low, Axes high, Axes interior) {
  const auto zero = [](const Axes& v) {
    return std::all_of(v.begin(), v.end(), [](std::int64_t n) { return n == 0; });
  };
  if (zero(low) && zero(high) && zero(interior)) return x;
  return b.emit(
      op_pad, {x, value},
      Attributes::of(PadAttributes{std::move(low), std::move(high), std::move(interior)}));
}
ValueId concatenate(Builder& b, Ids parts, std::int64_t axis) {
  if (parts.size() == 1) return parts[0];
  return b.emit(op_concatenate, parts, Attributes::of(AxisAttributes{axis}));
}
ValueId reverse(Builder& b, ValueId x, Axes axes) {
  if (axes.empty()) return x;
  return b.emit(op_reverse, {x}, Attributes::of(AxesAttributes{std::move(axes)}));
}

ValueId gather(Builder& b, ValueId x, ValueId indices, const GatherAttributes& attributes) {
  return b.emit(op_gather, {x, indices}, Attributes::of(attributes));
}
ValueId scatter(Builder& b, ValueId x, ValueId indices, ValueId updates,
                const GatherAttributes& attributes) {
  return b.emit(op_scatter, {x, indices, updates}, Attributes::of(attributes));
}

namespace {
ValueId reduce(Builder& b, const Operation& op, ValueId x, Axes axes) {
  if (axes.empty()) return x;
  return b.emit(op, {x}, Attributes::of(AxesAttributes{std::move(axes)}));
}
}  // namespace
ValueId reduce_sum(Builder& b, ValueId x, Axes axes) {
  return reduce(b, op_reduce_sum, x, std::move(axes));
}
ValueId reduce_prod(Builder& b, ValueId x, Axes axes) {
  return reduce(b, op_reduce_prod, x, std::move(axes));
}
ValueId reduce_max(Builder& b, ValueId x, Axes axes) {
  return reduce(b, op_reduce_max, x, std::move(axes));
}
ValueId reduce_any(Builder& b, ValueId x, Axes axes) {
  return reduce(b, op_reduce_any, x, std::move(axes));
}
ValueId reduce_all(Builder& b, ValueId x, Axes axes) {
  return reduce(b, op_reduce_all, x, std::move(axes));
}

ValueId dot_general(Builder& b, ValueId x, ValueId y, const DotAttributes& attributes) {
  return b.emit(op_dot_general, {x, y}, Attributes::of(attributes));
}

Axes all_axes(std::size_t rank) {
  Axes axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}
Axes other_axes(std::size_t rank, const Axes& axes) {
  Axes kept;
  for (std::int64_t a : all_axes(rank)) {
    if (!std::binary_search(axes.begin(), axes.end(), a)) kept.push_back(a);
  }
  return kept;
}
Dims without(const Dims& dims, const Axes& axes) {
  Dims kept;
  for (std::int64_t a : other_axes(dims.size(), axes)) {
    kept.push_back(dims[static_cast<std::size_t>(a)]);
  }
  return kept;
}

}  // namespace heddle::emit
