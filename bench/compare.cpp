#include "bench/compare.h"

#include "heddle/frontend/params.h"

namespace heddle::bench {
namespace {

Literal values(const Type& type, const std::string& name, double limit) {
  if (is_floating(type.dtype)) return uniform(type, limit, 1, name);
  std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
  auto* out = reinterpret_cast<std::int32_t*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof *out; ++i)
    out[i] = static_cast<std::int32_t>(i * 7 % 10);
  return literal_from_bytes(type, std::move(bytes));
}

}  // namespace

Bound::Bound(const Program& program, int threads, double limit) {
  CompileOptions options;
  options.threads = threads;
  options.observer = environment_observer();
  executable_ = compile(program, options);
  for (const Step& step : executable_->plan().functions[0].steps) {
    flops_ += static_cast<double>(step.flops);
    bytes_ += static_cast<double>(step.bytes);
  }
  const hd_signature& signature = hd_artifact_of(executable_->instance())->signatures[0];
  const Function& f = program.entry();
  std::vector<Literal> inputs;
  for (const Input& in : f.inputs) inputs.push_back(values(f.type(in.value), in.name, limit));
  arguments_ = ArgumentMemory(signature, inputs);
}

void Bound::operator()() {
  const std::span<void* const> pointers = arguments_.pointers();
  hd_run(executable_->instance(), 0, pointers.data(), static_cast<std::uint32_t>(pointers.size()));
}

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
