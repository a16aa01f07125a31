#include <cstdio>

#include "absl/strings/str_cat.h"
#include "heddle/frontend/cli/inputs.h"
#include "heddle/frontend/cli/library.h"
#include "heddle/frontend/cli/model.h"
#include "heddle/frontend/cli/perf.h"
#include "heddle/frontend/cli/print.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {
namespace {

std::string recipe_name(const Plan& plan, const Step& step) {
  const auto* k = std::get_if<KernelStep>(&step.what);
  if (k == nullptr) return "copy";
  return std::string(name_of(plan.kernels[k->kernel].recipe));
}

// Of a step on a device; null for a copy.
const KernelObject* kernel_of(const Executable& compiled, const Step& step) {
  const auto* k = std::get_if<KernelStep>(&step.what);
  return k != nullptr && compiled.plan().target.on_device() ? &compiled.kernels()[k->kernel]
                                                            : nullptr;
}

nlohmann::ordered_json describe(const Executable& compiled, const FunctionPlan& f) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const Step& s : f.steps) {
    steps.push_back({{"recipe", recipe_name(compiled.plan(), s)},
                     {"operations", s.label},
                     {"flops", s.flops},
                     {"bytes", s.bytes}});
    if (const KernelObject* k = kernel_of(compiled, s)) {
      steps.back()["launches"] = k->launches;
      steps.back()["threads"] = k->threads;
      steps.back()["shared_bytes"] = k->shared_bytes;
    }
  }
  return {{"function", f.name}, {"arena_bytes", f.arena_bytes.constant()}, {"steps", steps}};
}

void print(const Executable& compiled, const FunctionPlan& f) {
  const bool on_device = compiled.plan().target.on_device();
  std::printf("@%s: %zu steps, arena %lld bytes\n", f.name.c_str(), f.steps.size(),
              static_cast<long long>(f.arena_bytes.constant()));
  std::vector<Row> rows{{"  step", "recipe", "flops", "bytes"}};
  if (on_device) rows[0].insert(rows[0].end(), {"launches", "threads", "shared"});
  rows[0].emplace_back("operations");
  for (std::size_t s = 0; s < f.steps.size(); ++s) {
    const Step& step = f.steps[s];
    rows.push_back({absl::StrCat("  ", s), recipe_name(compiled.plan(), step),
                    absl::StrCat(step.flops), absl::StrCat(step.bytes)});
    if (const KernelObject* k = kernel_of(compiled, step)) {
      rows.back().insert(rows.back().end(), {absl::StrCat(k->launches), absl::StrCat(k->threads),
                                             absl::StrCat(k->shared_bytes)});
    } else if (on_device) {
      rows.back().insert(rows.back().end(), {"", "", ""});
    }
    rows.back().push_back(step.label);
  }
  std::printf("%s", table(rows).c_str());
}

std::map<std::uint32_t, StepName> names_of(const Executable& compiled, const FunctionPlan& f) {
  std::map<std::uint32_t, StepName> names;
  for (std::size_t s = 0; s < f.steps.size(); ++s) {
    names[static_cast<std::uint32_t>(s)] = {recipe_name(compiled.plan(), f.steps[s]),
                                            f.steps[s].label};
  }
  return names;
}

int inspect_perf(const Program& model, Executable& compiled, const InspectCommand& options) {
  if (compiled.plan().target.on_device()) {
    throw NotImplementedError({.message = "inspect: --perf times steps of the CPU",
                               .found = compiled.plan().target.carrier});
  }
  const int threads = hd_threads(compiled.instance());
  const Roofline roofline = measure_roofline(threads);
  StepTimes times;
  nlohmann::ordered_json json{
      {"threads", threads}, {"roofline_flops", roofline.flops}, {"roofline_bytes", roofline.bytes}};
  for (std::size_t n = 0; n < model.functions().size(); ++n) {
    const FunctionPlan& f = compiled.plan().functions[n];
    if (!options.function.empty() && f.name != options.function) continue;
    const auto number = static_cast<std::uint32_t>(n);
    time_function(compiled, number, threads, random_inputs(model.functions()[n], 1), times);
    const StepTimes::Function& steps = times.functions().at(number);
    const std::map<std::uint32_t, StepName> names = names_of(compiled, f);
    if (options.json) {
      json["functions"].push_back(
          {{"function", f.name}, {"steps", perf_json(steps, names, roofline)}});
    } else {
      std::printf("@%s:\n%s", f.name.c_str(), table(perf_rows(steps, names, roofline)).c_str());
    }
  }
  std::printf("%s", options.json ? (json.dump(2) + "\n").c_str()
                                 : roofline_text(roofline, threads).c_str());
  return 0;
}

}  // namespace

int inspect_command(const InspectCommand& options) {
  if (is_library(options.file)) return inspect_library(options);
  const Program model = read_model(options);
  const std::unique_ptr<Executable> compiled = compile(model, compile_options(options), {});
  if (options.perf) return inspect_perf(model, *compiled, options);
  const hd_artifact* artifact = hd_artifact_of(compiled->instance());
  const int threads = hd_threads(compiled->instance());
  const std::uint64_t workspace = hd_workspace_bytes(artifact, threads);
  nlohmann::ordered_json json{{"target", to_text(compiled->plan().target)},
                              {"threads", threads},
                              {"workspace_bytes", workspace}};
  const std::uint64_t on_device = hd_device_bytes(artifact, &artifact->plans[0], 0);
  if (on_device != 0) json["device_bytes"] = on_device;
  for (const FunctionPlan& f : compiled->plan().functions) {
    if (!options.function.empty() && f.name != options.function) continue;
    if (options.json) {
      json["functions"].push_back(describe(*compiled, f));
    } else {
      print(*compiled, f);
    }
  }
  if (options.json) {
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    std::printf(
        "peak memory (workspace, everything included): %llu bytes with %d threads\ntarget: %s\n",
        static_cast<unsigned long long>(workspace), threads,
        to_text(compiled->plan().target).c_str());
    if (on_device != 0) {
      std::printf("memory of the device: %llu bytes\n", static_cast<unsigned long long>(on_device));
    }
  }
  return 0;
}

}  // namespace heddle::cli
