// Where the time of a function goes: each step timed in a running instance, beside what the machine
// can do.
#ifndef HEDDLE_FRONTEND_CLI_PERF_H_
#define HEDDLE_FRONTEND_CLI_PERF_H_

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "heddle/backends/compile.h"
#include "heddle/frontend/cli/print.h"
#include "heddle/runtime/core/abi.h"

namespace heddle::cli {

/// The shortest time of each step that an instance runs.
class StepTimes {
 public:
  struct Entry {
    double seconds = 0, flops = 0, bytes = 0;
    std::string kernel;  ///< or "copy"
  };
  using Function = std::map<std::uint32_t, Entry>;  ///< by step

  /// Options of an instance that is watched; this object must outlive it.
  hd_options options(int threads);
  /// By the function's number in the artifact.
  const std::map<std::uint32_t, Function>& functions() const { return functions_; }

 private:
  static void hook(void* self, const hd_step_event* event);
  std::chrono::steady_clock::time_point begin_;
  std::map<std::uint32_t, Function> functions_;
};

/// What kernels of this process reach at most: a product of two matrices of 512, and the sum of 64
/// MB.
struct Roofline {
  double flops = 0, bytes = 0;  ///< per second
  /// The part of that which a step reaches: the larger one of its arithmetic's and its memory's.
  double fraction(const StepTimes::Entry& step) const;
};
Roofline measure_roofline(int threads);

/// Runs a function of a compiled program on `inputs` for some tenths of a second.
void time_function(Executable& executable, std::uint32_t function, int threads,
                   std::span<const Literal> inputs, StepTimes& times);

/// What a step is, as the columns after its times say it.
struct StepName {
  std::string recipe, operations;
};
/// The first row is the head; the last one the whole.
std::vector<Row> perf_rows(const StepTimes::Function& steps,
                           const std::map<std::uint32_t, StepName>& names,
                           const Roofline& roofline);
nlohmann::ordered_json perf_json(const StepTimes::Function& steps,
                                 const std::map<std::uint32_t, StepName>& names,
                                 const Roofline& roofline);
std::string roofline_text(const Roofline& roofline, int threads);

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_PERF_H_
