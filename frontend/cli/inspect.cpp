#include <cstdio>

#include "absl/strings/str_cat.h"
#include "heddle/frontend/cli/library.h"
#include "heddle/frontend/cli/model.h"
#include "heddle/frontend/cli/print.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {
namespace {

std::string recipe_name(const Plan& plan, const Step& step) {
  const auto* k = std::get_if<KernelStep>(&step.what);
  if (k == nullptr) return "copy";
  return std::string(name_of(plan.kernels[k->kernel].recipe));
}

nlohmann::ordered_json describe(const Plan& plan, const FunctionPlan& f) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const Step& s : f.steps) {
    steps.push_back({{"recipe", recipe_name(plan, s)},
                     {"operations", s.label},
                     {"flops", s.flops},
                     {"bytes", s.bytes}});
  }
  return {{"function", f.name}, {"arena_bytes", f.arena_bytes.constant()}, {"steps", steps}};
}

void print(const Plan& plan, const FunctionPlan& f) {
  std::printf("@%s: %zu steps, arena %lld bytes\n", f.name.c_str(), f.steps.size(),
              static_cast<long long>(f.arena_bytes.constant()));
  std::vector<Row> rows{{"  step", "recipe", "flops", "bytes", "operations"}};
  for (std::size_t s = 0; s < f.steps.size(); ++s) {
    const Step& step = f.steps[s];
    rows.push_back({absl::StrCat("  ", s), recipe_name(plan, step), absl::StrCat(step.flops),
                    absl::StrCat(step.bytes), step.label});
  }
  std::printf("%s", table(rows).c_str());
}

}  // namespace

int inspect_command(const InspectCommand& options) {
  if (is_library(options.file)) return inspect_library(options);
  const Program model = read_model(options);
  const std::unique_ptr<Executable> compiled = compile(model, compile_options(options));
  const hd_artifact* artifact = hd_artifact_of(compiled->instance());
  const int threads = hd_threads(compiled->instance());
  const std::uint64_t workspace = hd_workspace_bytes(artifact, threads);
  nlohmann::ordered_json json{{"target", to_text(compiled->plan().target)},
                              {"threads", threads},
                              {"workspace_bytes", workspace}};
  for (const FunctionPlan& f : compiled->plan().functions) {
    if (!options.function.empty() && f.name != options.function) continue;
    if (options.json) {
      json["functions"].push_back(describe(compiled->plan(), f));
    } else {
      print(compiled->plan(), f);
    }
  }
  if (options.json) {
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    std::printf(
        "peak memory (workspace, everything included): %llu bytes with %d threads\ntarget: %s\n",
        static_cast<unsigned long long>(workspace), threads,
        to_text(compiled->plan().target).c_str());
  }
  return 0;
}

}  // namespace heddle::cli
