// What composites are written with: a function that reads like its formula.
#ifndef HEDDLE_GRAPH_COMPOSITES_COMPOSE_H_
#define HEDDLE_GRAPH_COMPOSITES_COMPOSE_H_

#include <string>

#include "heddle/graph/emit.h"
#include "heddle/graph/ops/record.h"

namespace heddle::ops {

/// Inputs x0, x1 ... of the operand types.
inline Values operand_inputs(Builder& b, At at) {
  Values inputs;
  for (std::size_t i = 0; i < at.operands.size(); ++i) {
    inputs.push_back(b.input("x" + std::to_string(i), at.operands[i]));
  }
  return inputs;
}

/// The decomposition of `at`: inputs x0, x1 ... of the operand types, one output y0 = kF(builder,
/// inputs, at).
template <auto kF>
Function decompose(At at) {
  Builder b(at.op.name);
  const Values inputs = operand_inputs(b, at);
  b.output("y0", kF(b, inputs, at));
  return b.finish();
}

/// A reverse rule: inputs x0 .. (operands), y0 (result), d0 (its cotangent); outputs: kF gives one
/// cotangent per operand or nothing, named by the operand: x0, x1 ...
template <auto kF>
Function reverse_rule(At at) {
  Builder b(std::string(at.op.name) + "_vjp");
  const Values inputs = operand_inputs(b, at);
  const Type result = at.op.strict.infer(at)[0];
  const ValueId y = b.input("y0", result), d = b.input("d0", result);
  const MaybeValues cotangents = kF(b, inputs, y, d, at);
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    if (cotangents[i]) b.output("x" + std::to_string(i), *cotangents[i]);
  }
  return b.finish();
}

/// A reduction over one axis, and its result repeated along that axis.
inline ValueId sum_over(Builder& b, ValueId x, std::int64_t axis) {
  const Dims dims = b.type(x).dims;
  return emit::broadcast_over(b, emit::reduce_sum(b, x, {axis}), dims, {axis});
}
/// x - max(x) along the axis: exp of it does not overflow.
inline ValueId shifted(Builder& b, ValueId x, std::int64_t axis) {
  const Dims dims = b.type(x).dims;
  return emit::sub(b, x, emit::broadcast_over(b, emit::reduce_max(b, x, {axis}), dims, {axis}));
}
/// e / total, of exponentials of what is shifted and their sum along the axis: a total of 1 or
/// more, so that f32 and f64 multiply by its inverse, one division for a row.
inline ValueId share_of_total(Builder& b, ValueId e, ValueId total, std::int64_t axis) {
  const Type type = b.type(e);
  const auto repeated = [&](ValueId x) { return emit::broadcast_over(b, x, type.dims, {axis}); };
  if (size_of(type.dtype) < 4) return emit::div(b, e, repeated(total));
  return emit::mul(b, e, repeated(emit::div(b, emit::fill_like(b, 1, total), total)));
}
/// The number of elements of `dims` along `axes`, as a scalar of `dtype`: a constant, or counted
/// when an extent is symbolic.
ValueId count_along(Builder& b, const Dims& dims, const emit::Axes& axes, DType dtype);
/// The mean of x along axes; of 16-bit floats taken in f32.
ValueId mean_along(Builder& b, ValueId x, const emit::Axes& axes);

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_COMPOSITES_COMPOSE_H_
