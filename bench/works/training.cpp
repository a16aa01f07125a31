// Whole training steps.
#include "bench/works/models.h"
#include "bench/works/works.h"

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

// sum(out^2) of the block, plain SGD; every weight is replaced in place.
Program transformer_step() {
  const std::vector<Type> types = transformer_types();
  Params params;
  std::vector<std::string> paths;
  for (std::size_t i = 1; i < types.size(); ++i) {
    paths.push_back("w" + std::to_string(i));
    params[paths.back()] = make_tensor(uniform(types[i], 0.05, 1, paths.back()));
  }
  auto loss = [paths](const Params& p, const Tensor& x) {
    std::vector<Tensor> all{x};
    for (const std::string& path : paths) all.push_back(p[path]);
    const Tensor out = transformer(all);
    return sum(out * out);
  };
  return train_step(loss, params, optim::sgd(1e-6), {types[0]}, {.inputs = {"x"}});
}

}  // namespace

std::vector<Work> training_works() {
  return {{.name = "train/mlp_784_512_256_10",
           .make =
               [] {
                 return step({784, 512, 256, 10}, optim::momentum(1e-3, 0.9));
               },
           .limit = 0.05},
          {.name = "train/digits",
           .make =
               [] {
                 return step({64, 128, 64, 10}, optim::adam(2e-3));
               },
           .limit = 0.05},
          {.name = "train/transformer", .make = transformer_step, .limit = 0.05}};
}

}  // namespace heddle::bench
