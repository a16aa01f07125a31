// heddle_bench [--benchmark_...]: Google Benchmark.
// heddle_bench --same_bits=REGEX: runs works with 1, 2 and 4 threads; a line of JSON for each
// says whether all bits are equal. The exit code is 1 when some are not.
// heddle_bench --tune: the sweep behind schedule/tuned.def.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "bench/tune.h"
#include "bench/works/same_bits.h"
#include "bench/works/shipped.h"

namespace {

int check_bits(const std::regex& wanted) {
  bool all_equal = true;
  for (const heddle::bench::Work& work : heddle::bench::works()) {
    if (!std::regex_search(work.name, wanted)) continue;
    const bool equal = heddle::bench::has_same_bits(work);
    std::printf("{\"name\": \"%s\", \"same_bits\": %s}\n", work.name.c_str(),
                equal ? "true" : "false");
    std::fflush(stdout);
    all_equal &= equal;
  }
  return all_equal ? 0 : 1;
}

// What stands behind "name=" in the only argument.
std::optional<std::string> option(int argc, char** argv, const std::string& name) {
  if (argc != 2 || !std::string(argv[1]).starts_with(name + "=")) return std::nullopt;
  return std::string(argv[1]).substr(name.size() + 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto names = option(argc, argv, "--same_bits")) return check_bits(std::regex(*names));
  if (const auto folder = option(argc, argv, "--export")) {
    heddle::bench::export_works(*folder);
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--tune") {
    heddle::bench::tune();
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
