// Models that several works share.
#ifndef HEDDLE_BENCH_WORKS_MODELS_H_
#define HEDDLE_BENCH_WORKS_MODELS_H_

#include <span>
#include <vector>

#include "heddle/frontend/heddle.h"

namespace heddle::bench {

/// x w + b.
Tensor affine(const Tensor& x, const Tensor& w, const Tensor& b);

/// 784-512-256-10, relu between, batch 32. x, then weights and bias of each layer.
Tensor mlp(std::span<const Tensor> x);
std::vector<Type> mlp_types();

/// Pre-norm block: 128 tokens of width 768, 12 heads, 3072 hidden, gelu by erf. x, then scale,
/// shift; weights and bias of queries, keys and values; of the output; scale, shift; two layers.
Tensor transformer(std::span<const Tensor> x);
std::vector<Type> transformer_types();

/// f of the arguments `given`, in order; the others are constants, uniform in [-limit, limit): a
/// network that is only run.
Program trace_frozen(Tensor (*f)(std::span<const Tensor> x), const std::vector<Type>& types,
                     double limit, const std::vector<std::size_t>& given = {0});

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_WORKS_MODELS_H_
