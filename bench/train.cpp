// Whole training steps. PyTorch's side is bench/peers.py.
#include "bench/compare.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

Program step(const std::vector<std::int64_t>& widths, const Optimizer& optimizer) {
  Params params;
  for (std::size_t l = 1; l < widths.size(); ++l) {
    nn::init_linear(params, "layer" + std::to_string(l), widths[l - 1], widths[l], 1);
  }
  const std::size_t layers = widths.size() - 1;
  auto loss = [layers](const Params& p, const Tensor& x, const Tensor& y) {
    Tensor h = x;
    for (std::size_t l = 1; l < layers; ++l)
      h = relu(nn::linear(p, "layer" + std::to_string(l), h));
    return cross_entropy(nn::linear(p, "layer" + std::to_string(layers), h), y);
  };
  return train_step(loss, params, optimizer, {f32({32, widths.front()}), i32({32})},
                    {.inputs = {"x", "y"}});
}

const bool registered = [] {
  for (int threads : {1, 2}) {
    const std::string suffix = "/threads:" + std::to_string(threads) + "/heddle";
    auto mlp = std::make_shared<Bound>(step({784, 512, 256, 10}, optim::momentum(1e-3, 0.9)),
                                       threads, 0.05);
    add("train/mlp_784_512_256_10" + suffix, [mlp] { (*mlp)(); });
    auto digits =
        std::make_shared<Bound>(step({64, 128, 64, 10}, optim::adam(2e-3)), threads, 0.05);
    add("train/digits" + suffix, [digits] { (*digits)(); });
  }
  return true;
}();

}  // namespace
}  // namespace heddle::bench
