#include "heddle/frontend/checked.h"

#include "heddle/frontend/ops.h"

namespace heddle::checked {

Tensor add(TensorArg x, TensorArg y) { return call_operation(op_checked_add, {x, y}); }
Tensor mul(TensorArg x, TensorArg y) { return call_operation(op_checked_mul, {x, y}); }
Tensor sum(TensorArg x, std::vector<std::int64_t> axes) {
  return call_operation(op_checked_sum, {x}, Attributes({{"axes", std::move(axes)}}));
}
Tensor matmul(TensorArg x, TensorArg y, bool rhs_transposed) {
  return call_operation(op_checked_matmul, {x, y},
                        Attributes({{"rhs_transposed", rhs_transposed}}));
}

}  // namespace heddle::checked
