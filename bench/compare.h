// What the benchmarks share: a compiled function bound to its own data, ready to be called again
// and again. Names are "work/who" or "work/threads/who": bench/report.py pairs the same work and
// prints ratios.
#ifndef HEDDLE_BENCH_COMPARE_H_
#define HEDDLE_BENCH_COMPARE_H_

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heddle/backends/argument_memory.h"
#include "heddle/backends/compile.h"
#include "heddle/graph/program.h"

namespace heddle::bench {

/// Compiles the program's entry function and gives it inputs: uniform floats in [-limit, limit),
/// integers below 10.
class Bound {
 public:
  Bound(const Program& program, int threads, double limit = 1);
  void operator()();
  /// Of one call, as its plan counts them; bytes: what kernels read and write.
  double flops() const { return flops_; }
  double bytes() const { return bytes_; }

 private:
  std::unique_ptr<Executable> executable_;
  ArgumentMemory arguments_;
  double flops_ = 0, bytes_ = 0;
};

/// Registers `call` under `name`, timed by the wall clock; `flops` and `bytes` of one call become
/// rates when given.
void add(const std::string& name, std::function<void()> call, double flops = 0, double bytes = 0);

/// The same for a program that takes long to compile: compiled when the benchmark is first run.
/// Its rates are those of its plan.
void add_lazily(const std::string& name, std::function<std::shared_ptr<Bound>()> make);

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_COMPARE_H_
