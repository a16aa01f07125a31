#include "heddle/backends/lower.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/text.h"
#include "heddle/graph/verify.h"
#include "heddle/schedule/group.h"
#include "heddle/schedule/lower_empty.h"
#include "heddle/schedule/lower_windows.h"
#include "heddle/schedule/make_plan.h"

namespace heddle {
namespace {

using Clock = std::chrono::steady_clock;

void verify_stage([[maybe_unused]] const Program& program) {
#ifdef HEDDLE_VERIFY
  verify(program);
#endif
}

class Stages {
 public:
  explicit Stages(const StageObserver& observer) : observer_(observer) {}

  template <class Run, class Text>
  auto run(std::string_view name, Run run, Text text) {
    const auto start = Clock::now();
    auto result = run();
    const std::chrono::duration<double> seconds = Clock::now() - start;
    if (observer_) observer_(name, seconds.count(), [&] { return text(result); });
    return result;
  }
  template <class Pass>
  Program pass(std::string_view name, const Program& program, Pass transform) {
    Program result = run(
        name, [&] { return transform(program); }, [](const Program& p) { return to_text(p); });
    verify_stage(result);
    return result;
  }

 private:
  const StageObserver& observer_;
};

std::string groups_text(const Program& program) {
  std::string text;
  for (const Function& f : program.functions())
    absl::StrAppend(&text, "@", f.name, "\n", to_text(make_groups(f), f));
  return text;
}

std::string kernels_text(const Plan& plan) {
  std::string text;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    absl::StrAppend(&text, "// kernel", k, " ", kernel_symbol(plan.kernels[k]), "\n",
                    to_text(plan.kernels[k]), "\n");
  }
  return text;
}

void check_compiles(const Function& f, const Target& target) {
  auto check = [&](const Type& type, const std::string& what, const Node* node) {
    ErrorDetail detail{.message = "compile for " + target.carrier + ": @" + f.name + ": " + what,
                       .operation = node ? std::string(node->op->name) : "",
                       .found = to_text(type),
                       .where = node ? node->where : Location{}};
    for (const Dim& d : type.dims) {
      detail.needed = "constant extents";
      if (!d.is_constant()) throw NotImplementedError(detail);
    }
  };
  for (const Input& in : f.inputs) check(f.type(in.value), "input '" + in.name + "'", nullptr);
  for (const Node& node : f.nodes) {
    for (ValueId r : node.results) check(f.type(r), "result", &node);
  }
}

// What is left of extensions after expansion has no kernel.
void check_extensions(const Function& f, const Target& target) {
  for (const Node& node : f.nodes) {
    if (node.op->extension == nullptr) continue;
    throw UnsupportedOperationPlan({.message = "compile for " + target.carrier + ": @" + f.name +
                                               ": an extension without a decomposition",
                                    .operation = std::string(node.op->name),
                                    .found = to_text(f.type(node.results[0])),
                                    .where = node.where});
  }
}

}  // namespace

std::vector<std::string> stage_names() {
  return {"input", "expand", "empty",  "windows", "canonicalize", "fold",
          "cse",   "dce",    "faults", "groups",  "plan",         "kernels"};
}

Lowered lower(const Program& program, const Target& target, const StageObserver& observer) {
  Stages stages(observer);
  Program p = stages.pass("input", program, [](const Program& in) { return in; });
  for (const Function& f : p.functions()) check_compiles(f, target);
  p = stages.pass("expand", p, [](const Program& in) { return expand_composites(in); });
  for (const Function& f : p.functions()) check_extensions(f, target);
  p = stages.pass("empty", p, lower_empty);
  p = stages.pass("windows", p, lower_windows);
  p = stages.pass("canonicalize", p, canonicalize);
  p = stages.pass("fold", p, constant_folding);
  p = stages.pass("cse", p, common_subexpression_elimination);
  p = stages.pass("dce", p, dead_code_elimination);
  p = stages.pass("faults", p, lower_faults);
  stages.run(
      "groups", [&] { return p; }, groups_text);
  Plan plan = stages.run(
      "plan", [&] { return make_plan(p, target); }, [](const Plan& l) { return to_text(l); });
#ifdef HEDDLE_VERIFY
  verify(plan);
#endif
  stages.run(
      "kernels", [] { return 0; }, [&](int) { return kernels_text(plan); });
  return {p, std::move(plan)};
}

StageObserver environment_observer() {
  const char* dump = std::getenv("HEDDLE_DUMP");
  const char* time = std::getenv("HEDDLE_TIME");
  const std::string stages = dump ? dump : "";
  const bool timed = time && *time && std::string_view(time) != "0";
  if (stages.empty() && !timed) return nullptr;
  return [stages, timed](std::string_view stage, double seconds,
                         const std::function<std::string()>& text) {
    const std::vector<std::string> wanted = absl::StrSplit(stages, ',');
    for (const std::string& w : wanted) {
      if (w != "all" && w != stage) continue;
      std::fprintf(stderr, "==== %.*s\n%s", static_cast<int>(stage.size()), stage.data(),
                   text().c_str());
    }
    if (timed)
      std::fprintf(stderr, "%-14.*s %8.3f ms\n", static_cast<int>(stage.size()), stage.data(),
                   1e3 * seconds);
  };
}

}  // namespace heddle
