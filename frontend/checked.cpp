#include "heddle/frontend/checked.h"

#include "heddle/frontend/ops.h"

namespace heddle::checked {
namespace {

Attributes with_accumulator(std::vector<Attributes::Entry> options,
                            std::optional<DType> accumulator) {
  if (accumulator) options.push_back({"accumulator", *accumulator});
  return Attributes(std::move(options));
}

}  // namespace

Tensor add(TensorArg x, TensorArg y) { return call_operation(op_checked_add, {x, y}); }
Tensor elementwise_mul(TensorArg x, TensorArg y) {
  return call_operation(op_checked_elementwise_mul, {x, y});
}
Tensor mul(TensorArg x, TensorArg y) { return call_operation(op_checked_mul, {x, y}); }
Tensor relu(TensorArg x) { return call_operation(op_relu, {x}); }
Tensor reduce_sum(TensorArg x, std::vector<std::int64_t> axes, std::optional<DType> accumulator) {
  return call_operation(op_checked_reduce_sum, {x},
                        with_accumulator({{"axes", std::move(axes)}}, accumulator));
}
Tensor matmul(TensorArg x, TensorArg y, MatmulOptions options) {
  return call_operation(
      op_checked_matmul, {x, y},
      with_accumulator({{"rhs_transposed", options.rhs_transposed}}, options.accumulator));
}

}  // namespace heddle::checked
