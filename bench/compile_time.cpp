// Compiling the digits training step: into an empty cache, and again.
#include <cstdlib>
#include <filesystem>

#include "bench/compare.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

Program digits_step() {
  Params params;
  nn::init_linear(params, "layer1", 64, 128, 1);
  nn::init_linear(params, "layer2", 128, 64, 1);
  nn::init_linear(params, "layer3", 64, 10, 1);
  auto loss = [](const Params& p, const Tensor& x, const Tensor& y) {
    const Tensor h = relu(nn::linear(p, "layer2", relu(nn::linear(p, "layer1", x))));
    return cross_entropy(nn::linear(p, "layer3", h), y);
  };
  return train_step(loss, params, optim::adam(2e-3), {f32({32, 64}), i32({32})},
                    {.inputs = {"x", "y"}});
}

// A cache of its own, gone afterwards.
class EmptyCache {
 public:
  EmptyCache() {
    char name[] = "/tmp/heddle-bench-XXXXXX";
    folder_ = mkdtemp(name);
    setenv("HEDDLE_CACHE", folder_.c_str(), 1);
  }
  ~EmptyCache() {
    unsetenv("HEDDLE_CACHE");
    std::filesystem::remove_all(folder_);
  }

 private:
  std::string folder_;
};

void cold(benchmark::State& state) {
  const Program program = digits_step();
  for (auto _ : state) {
    const EmptyCache cache;
    benchmark::DoNotOptimize(compile(program));
  }
}
void warm(benchmark::State& state) {
  const EmptyCache cache;
  const Program program = digits_step();
  compile(program);
  for (auto _ : state) benchmark::DoNotOptimize(compile(program));
}
void derive(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(digits_step());
}

BENCHMARK(cold)
    ->Name("compile/digits_step/cold/heddle")
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(warm)
    ->Name("compile/digits_step/warm/heddle")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(derive)
    ->Name("compile/digits_step/trace_and_differentiate/heddle")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle::bench
