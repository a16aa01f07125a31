// Layers as plain functions of Params. Each has an `init_` function that adds its parameters.
#ifndef HEDDLE_FRONTEND_NN_H_
#define HEDDLE_FRONTEND_NN_H_

#include "heddle/frontend/ops.h"
#include "heddle/frontend/params.h"

namespace heddle::nn {

/// x: f32[*B, in] -> f32[*B, out]: x w + b with w = params["<path>.w"]: f32[in,out] and b =
/// params["<path>.b"]: f32[out]. ValueError names which of the two are missing.
Tensor linear(const Params& params, std::string_view path, TensorArg x);

/// w uniform in +-sqrt(6 / in) (He et al., arXiv:1502.01852, for relu), b zero.
void init_linear(Params& params, std::string_view path, std::int64_t in, std::int64_t out,
                 std::uint64_t seed);

}  // namespace heddle::nn

#endif  // HEDDLE_FRONTEND_NN_H_
