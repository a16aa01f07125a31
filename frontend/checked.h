// Arithmetic whose i32 results are exact: a result that does not fit is an OverflowError, never
// another number. With an f32 operand everything is f32. Other dtypes are a TypeError.
#ifndef HEDDLE_FRONTEND_CHECKED_H_
#define HEDDLE_FRONTEND_CHECKED_H_

#include <cstdint>
#include <vector>

#include "heddle/frontend/tensor.h"

namespace heddle::checked {

Tensor add(TensorArg x, TensorArg y);
/// Elementwise; one of the two may be a number.
Tensor mul(TensorArg x, TensorArg y);
/// Partial sums may leave i32.
Tensor sum(TensorArg x, std::vector<std::int64_t> axes);
/// x[M,K] times y[K,N]; with `rhs_transposed`, y[N,K].
Tensor matmul(TensorArg x, TensorArg y, bool rhs_transposed = false);

}  // namespace heddle::checked

#endif  // HEDDLE_FRONTEND_CHECKED_H_
