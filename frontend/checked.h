// Six operations whose i32 results are exact: a result that does not fit is an OverflowError, never
// another number. With an f32 operand everything is f32; other dtypes are a NotImplementedError,
// bool is a TypeError. Two tensors have one rank, extents of 1 stretch: nothing is aligned. (These
// are 000's built-in operations, under its names; those of ops.h wrap.)
#ifndef HEDDLE_FRONTEND_CHECKED_H_
#define HEDDLE_FRONTEND_CHECKED_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/frontend/tensor.h"

namespace heddle::checked {

Tensor add(TensorArg x, TensorArg y);
Tensor elementwise_mul(TensorArg x, TensorArg y);
/// elementwise_mul; or one of the two is a number. A whole number keeps an i32 tensor's dtype; with
/// any other, and with bool, the result is f32.
Tensor mul(TensorArg x, TensorArg y);
/// The everyday one: exact in every dtype.
Tensor relu(TensorArg x);
/// Partial sums may leave i32. `accumulator`: f32 (what nothing said means) or f64, in which floats
/// are summed; the result is f32 in any case.
Tensor reduce_sum(TensorArg x, std::vector<std::int64_t> axes,
                  std::optional<DType> accumulator = std::nullopt);

struct MatmulOptions {
  bool rhs_transposed = false;  ///< both operands contract on their last axis
  std::optional<DType> accumulator{};
};
/// x[M,K] times y[K,N], or y[N,K].
Tensor matmul(TensorArg x, TensorArg y, MatmulOptions options = {});

}  // namespace heddle::checked

#endif  // HEDDLE_FRONTEND_CHECKED_H_
