#include "bench/compare.h"

namespace heddle::bench {
namespace {

void set_rates(benchmark::State& state, double flops, double bytes) {
  using Counter = benchmark::Counter;
  const auto rate = Counter::kIsIterationInvariantRate;
  if (flops > 0) state.counters["GF/s"] = Counter(flops / 1e9, rate);
  if (bytes > 0) state.counters["GB/s"] = Counter(bytes / 1e9, rate);
}

}  // namespace

void add(const std::string& name, std::function<void()> call, double flops, double bytes) {
  benchmark::RegisterBenchmark(name.c_str(), [call = std::move(call), flops,
                                              bytes](benchmark::State& state) {
    for (auto _ : state) call();
    set_rates(state, flops, bytes);
  })->UseRealTime();
}

void add_lazily(const std::string& name, std::function<std::shared_ptr<Bound>()> make) {
  auto bound = std::make_shared<std::shared_ptr<Bound>>();
  benchmark::RegisterBenchmark(name.c_str(), [bound,
                                              make = std::move(make)](benchmark::State& state) {
    if (!*bound) *bound = make();
    for (auto _ : state) (**bound)();
    set_rates(state, (*bound)->flops(), (*bound)->bytes());
  })->UseRealTime();
}

}  // namespace heddle::bench
