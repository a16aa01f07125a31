#include "bench/works/models.h"

namespace heddle::bench {
namespace {

constexpr std::int64_t kWidth = 768, kHeads = 12, kHead = 64, kHidden = 3072, kTokens = 128;

// [tokens, width] -> heads x [tokens, head].
Tensor split_heads(const Tensor& x, std::int64_t from) {
  const std::int64_t tokens = x.type().dims[0].constant();
  const Tensor part = slice(x, {0, from}, {tokens, from + kWidth});
  return transpose(reshape(part, {tokens, kHeads, kHead}), {1, 0, 2});
}

}  // namespace

Tensor affine(const Tensor& x, const Tensor& w, const Tensor& b) { return matmul(x, w) + b; }

Tensor mlp(std::span<const Tensor> x) {
  return affine(relu(affine(relu(affine(x[0], x[1], x[2])), x[3], x[4])), x[5], x[6]);
}
std::vector<Type> mlp_types() {
  return {f32({32, 784}), f32({784, 512}), f32({512}), f32({512, 256}),
          f32({256}),     f32({256, 10}),  f32({10})};
}

Tensor transformer(std::span<const Tensor> x) {
  const Tensor qkv = affine(layer_norm(x[0], x[1], x[2]), x[3], x[4]);
  const Tensor heads =
      attention(split_heads(qkv, 0), split_heads(qkv, kWidth), split_heads(qkv, 2 * kWidth));
  const Tensor joined = reshape(transpose(heads, {1, 0, 2}), {kTokens, kWidth});
  const Tensor h = x[0] + affine(joined, x[5], x[6]);
  return h + affine(gelu(affine(layer_norm(h, x[7], x[8]), x[9], x[10])), x[11], x[12]);
}

std::vector<Type> transformer_types() {
  const Type wide = f32({kWidth});
  return {f32({kTokens, kWidth}),
          wide,
          wide,
          f32({kWidth, 3 * kWidth}),
          f32({3 * kWidth}),
          f32({kWidth, kWidth}),
          wide,
          wide,
          wide,
          f32({kWidth, kHidden}),
          f32({kHidden}),
          f32({kHidden, kWidth}),
          wide};
}

Program trace_frozen(Tensor (*f)(std::span<const Tensor> x), const std::vector<Type>& types,
                     double limit, const std::vector<std::size_t>& given) {
  std::vector<Type> inputs;
  for (std::size_t i : given) inputs.push_back(types[i]);
  return trace(
      [&](std::span<const Tensor> x) {
        std::vector<Tensor> all;
        for (std::size_t i = 0, next = 0; i < types.size(); ++i) {
          const bool is_given = next < given.size() && given[next] == i;
          all.push_back(is_given ? x[next++]
                                 : constant(uniform(types[i], limit, 1, "w" + std::to_string(i))));
        }
        return f(all);
      },
      inputs);
}

}  // namespace heddle::bench
