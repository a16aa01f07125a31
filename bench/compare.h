// How the benchmarks are registered. Names are "work/who" or "work/threads:N/who": bench/report.py
// pairs the same work and prints ratios.
#ifndef HEDDLE_BENCH_COMPARE_H_
#define HEDDLE_BENCH_COMPARE_H_

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>

#include "bench/works/bound.h"

namespace heddle::bench {

/// Registers `call` under `name`, timed by the wall clock; `flops` and `bytes` of one call become
/// rates when given.
void add(const std::string& name, std::function<void()> call, double flops = 0, double bytes = 0);

/// The same for a program that takes long to compile: compiled when the benchmark is first run.
/// Its rates are those of its plan.
void add_lazily(const std::string& name, std::function<std::shared_ptr<Bound>()> make);

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_COMPARE_H_
