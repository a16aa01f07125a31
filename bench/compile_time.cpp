// Compiling training steps: into an empty cache, and again.
#include <cstdlib>
#include <filesystem>

#include "bench/compare.h"
#include "bench/works/works.h"

namespace heddle::bench {
namespace {

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

void cold(benchmark::State& state, const Work& work) {
  const Program program = work.make();
  for (auto _ : state) {
    const EmptyCache cache;
    benchmark::DoNotOptimize(compile(program));
  }
}
void warm(benchmark::State& state, const Work& work) {
  const EmptyCache cache;
  const Program program = work.make();
  compile(program);
  for (auto _ : state) benchmark::DoNotOptimize(compile(program));
}
void derive(benchmark::State& state, const Work& work) {
  for (auto _ : state) benchmark::DoNotOptimize(work.make());
}

using Measured = void (*)(benchmark::State& state, const Work& work);

benchmark::internal::Benchmark* add_compilation(const Work& work, const std::string& what,
                                                Measured f) {
  const std::string name = "compile/" + work.name.substr(work.name.find('/') + 1) + "/" + what;
  return benchmark::RegisterBenchmark((name + "/heddle").c_str(), f, work)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
  for (const Work& work : training_works()) {
    add_compilation(work, "cold", cold)->Iterations(1);
    add_compilation(work, "warm", warm);
    add_compilation(work, "trace_and_differentiate", derive);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::bench
