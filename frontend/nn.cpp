#include "heddle/frontend/nn.h"

#include <cmath>

namespace heddle::nn {

Tensor linear(const Params& params, std::string_view path, TensorArg x) {
  const std::string names[] = {std::string(path) + ".w", std::string(path) + ".b"};
  params.require(names, "linear", x.where());
  return add(TensorArg(matmul(x, params[names[0]]), x.where()), params[names[1]]);
}

void init_linear(Params& params, std::string_view path, std::int64_t in, std::int64_t out,
                 std::uint64_t seed) {
  const std::string w = std::string(path) + ".w", b = std::string(path) + ".b";
  params[w] =
      make_tensor(uniform(f32({in, out}), std::sqrt(6.0 / static_cast<double>(in)), seed, w));
  params[b] = make_tensor(splat(f32({out}), 0));
}

}  // namespace heddle::nn
