#include "heddle/frontend/cli/perf.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "heddle/backends/argument_memory.h"
#include "heddle/frontend/cli/inputs.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/trace.h"
#include "heddle/runtime/runtime.hpp"

namespace heddle::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// All steps of one run of the program's function.
StepTimes::Entry whole_of(const Program& program, int threads) {
  const std::unique_ptr<Executable> executable = compile(program, {.threads = threads});
  StepTimes times;
  time_function(*executable, 0, threads, random_inputs(program.entry(), 1), times);
  StepTimes::Entry whole;
  for (const auto& [step, entry] : times.functions().at(0)) {
    whole.seconds += entry.seconds, whole.flops += entry.flops, whole.bytes += entry.bytes;
  }
  return whole;
}

double rate(double work, double seconds) { return seconds > 0 ? work / seconds : 0; }

StepName name_of(const std::map<std::uint32_t, StepName>& names, std::uint32_t step,
                 const StepTimes::Entry& entry) {
  const auto it = names.find(step);
  return it != names.end() ? it->second : StepName{"", entry.kernel};
}

double total_seconds(const StepTimes::Function& steps) {
  double total = 0;
  for (const auto& [step, entry] : steps) total += entry.seconds;
  return total;
}

}  // namespace

hd_options StepTimes::options(int threads) {
  hd_options options = default_options();
  options.threads = threads;
  options.step_hook = &StepTimes::hook;
  options.step_user = this;
  return options;
}

void StepTimes::hook(void* self, const hd_step_event* event) {
  auto& times = *static_cast<StepTimes*>(self);
  if (event->end == 0) {
    times.begin_ = Clock::now();
    return;
  }
  const double seconds = seconds_since(times.begin_);
  const auto [it, fresh] = times.functions_[event->function].try_emplace(event->step);
  if (!fresh && it->second.seconds <= seconds) return;
  it->second = {seconds, static_cast<double>(event->flops), static_cast<double>(event->bytes),
                event->kernel};
}

double Roofline::fraction(const StepTimes::Entry& step) const {
  return std::max(rate(rate(step.flops, step.seconds), flops),
                  rate(rate(step.bytes, step.seconds), bytes));
}

Roofline measure_roofline(int threads) {
  const Type square = f32({512, 512}), row = f32({1 << 24});
  const Program product =
      trace([](const Tensor& x, const Tensor& y) { return matmul(x, y); }, {square, square});
  const Program total = trace([](const Tensor& x) { return sum(x); }, {row});
  const StepTimes::Entry multiplied = whole_of(product, threads), read = whole_of(total, threads);
  return {rate(multiplied.flops, multiplied.seconds), rate(read.bytes, read.seconds)};
}

void time_function(Executable& executable, std::uint32_t function, int threads,
                   std::span<const Literal> inputs, StepTimes& times) {
  constexpr double kSeconds = 0.3;
  constexpr int kRuns = 5;
  const hd_artifact& artifact = *hd_artifact_of(executable.instance());
  const hd_options options = times.options(threads);
  Instance instance(artifact, &options);
  const ArgumentMemory arguments(artifact.signatures[function], inputs);
  const Clock::time_point begin = Clock::now();
  for (int run = 0; run < kRuns || seconds_since(begin) < kSeconds; ++run) {
    instance.run(function, arguments.pointers());
  }
}

std::vector<Row> perf_rows(const StepTimes::Function& steps,
                           const std::map<std::uint32_t, StepName>& names,
                           const Roofline& roofline) {
  std::vector<Row> rows{
      {"  step", "us", "share", "GF/s", "GB/s", "of roofline", "recipe", "operations"}};
  const double total = total_seconds(steps);
  for (const auto& [step, e] : steps) {
    const StepName name = name_of(names, step, e);
    rows.push_back({absl::StrFormat("  %d", step), absl::StrFormat("%.1f", 1e6 * e.seconds),
                    absl::StrFormat("%.0f %%", 100 * rate(e.seconds, total)),
                    absl::StrFormat("%.1f", 1e-9 * rate(e.flops, e.seconds)),
                    absl::StrFormat("%.1f", 1e-9 * rate(e.bytes, e.seconds)),
                    absl::StrFormat("%.0f %%", 100 * roofline.fraction(e)), name.recipe,
                    name.operations});
  }
  rows.push_back({"  all", absl::StrFormat("%.1f", 1e6 * total), "", "", "", "", "", ""});
  return rows;
}

nlohmann::ordered_json perf_json(const StepTimes::Function& steps,
                                 const std::map<std::uint32_t, StepName>& names,
                                 const Roofline& roofline) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& [step, e] : steps) {
    const StepName name = name_of(names, step, e);
    json.push_back({{"step", step},
                    {"seconds", e.seconds},
                    {"flops", e.flops},
                    {"bytes", e.bytes},
                    {"of_roofline", roofline.fraction(e)},
                    {"recipe", name.recipe},
                    {"operations", name.operations}});
  }
  return json;
}

std::string roofline_text(const Roofline& roofline, int threads) {
  return absl::StrFormat(
      "roofline, measured with %d threads: %.1f GF/s (a product of matrices), %.1f GB/s (a sum of "
      "64 MB; what is in a cache is faster)\n",
      threads, 1e-9 * roofline.flops, 1e-9 * roofline.bytes);
}

}  // namespace heddle::cli
