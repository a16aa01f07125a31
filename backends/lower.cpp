#include "heddle/backends/lower.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "heddle/backends/external_kernels.h"
#include "heddle/graph/extension.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/carrier_types.h"
#include "heddle/schedule/generic.h"
#include "heddle/schedule/group.h"
#include "heddle/schedule/layout.h"
#include "heddle/schedule/lower_empty.h"
#include "heddle/schedule/lower_pairs.h"
#include "heddle/schedule/lower_picks.h"
#include "heddle/schedule/lower_sums.h"
#include "heddle/schedule/lower_windows.h"
#include "heddle/schedule/make_plan.h"
#include "heddle/schedule/row_block.h"

namespace heddle {
namespace {

template <class Text>
std::string each_function(const Program& program, Text text) {
  std::string all;
  for (const Function& f : program.functions()) absl::StrAppend(&all, "@", f.name, "\n", text(f));
  return all;
}

std::string kernels_text(const Plan& plan) {
  std::string text;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    absl::StrAppend(&text, "// kernel", k, " ", kernel_symbol(plan.kernels[k]), "\n",
                    to_text(plan.kernels[k]), "\n");
  }
  return text;
}

// Kernels count in 32 bits: extents, and strides of what a caller gives and gets.
std::string beyond_kernels(const Type& type, bool argument) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (element_count(type) == 0) return "";
  std::int64_t stride = 1;
  for (std::size_t a = type.rank(); a-- > 0;) {
    const std::int64_t extent = type.dims[a].constant();
    if (extent > kMost) return absl::StrCat("extents of at most ", kMost);
    if (argument && extent > 1 && stride > kMost) {
      return absl::StrCat("at most ", kMost, " elements from one index of axis ", a,
                          " to the next");
    }
    stride = stride > kMost ? stride : stride * extent;
  }
  return "";
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
    detail.needed = beyond_kernels(type, node == nullptr);
    if (!detail.needed.empty()) throw NotImplementedError(detail);
  };
  for (const Input& in : f.inputs) check(f.type(in.value), "input '" + in.name + "'", nullptr);
  for (const Output& o : f.outputs) check(f.type(o.value), "output '" + o.name + "'", nullptr);
  for (const Node& node : f.nodes) {
    for (ValueId r : node.results) check(f.type(r), "result", &node);
  }
}

// What is left of extensions after expansion has no kernel.
void check_extensions(const Function& f, const Target& target, const ExternalKernels& external) {
  for (const Node& node : f.nodes) {
    if (node.op->extension == nullptr || external_of(external, f, node)) continue;
    throw UnsupportedOperationPlan({.message = "compile for " + target.carrier + ": @" + f.name +
                                               ": an extension without a decomposition, "
                                               "and no pack has an object for it",
                                    .operation = std::string(node.op->name),
                                    .found = to_text(f.type(node.results[0])),
                                    .where = node.where});
  }
}

}  // namespace

std::vector<std::string> stage_names() {
  return {"input",
          "expand",
          "empty",
          "windows",
          "faults",
          "canonicalize",
          "sums",
          "shape_inference",
          "constant_folding",
          "common_subexpression_elimination",
          "pairs",
          "dead_node_elimination",
          "layout_assignment",
          "operator_fusion",
          "memory_planning",
          "backend_lowering"};
}

namespace {

// A form without composites, extensions, empty operands, wide windows and faults inside.
Program prepared(const Pipeline& pipeline, const Program& program, const Target& target,
                 const ExternalKernels& external, bool generic, bool winograd) {
  const auto kept = [&](const NodeContext& node) {
    if (external && external(node)) return true;
    check_order(node);
    return !generic && has_row_block(node, target);
  };
  Program p = pipeline.pass("input", program, [](const Program& in) { return in; });
  for (const Function& f : p.functions()) check_compiles(f, target);
  p = pipeline.pass("expand", p, [&](const Program& in) { return expand_composites(in, kept); });
  for (const Function& f : p.functions()) check_extensions(f, target, external);
  for (const Function& f : p.functions()) check_carrier_types(f, target);
  p = pipeline.pass("empty", p, lower_empty);
  p = pipeline.pass("windows", p, [&](const Program& in) { return lower_windows(in, winograd); });
  return pipeline.pass("faults", p, lower_faults);
}

// sums, pairs: not for devices, whose kernels have few buffers and a loop for each sum, nor for
// kernels of any extents.
Program simplified(const Pipeline& pipeline, Program p, bool on_cpu) {
  p = pipeline.pass("canonicalize", p, canonicalize);
  if (on_cpu) {
    p = pipeline.pass("sums", p, [](const Program& in) { return lower_picks(lower_sums(in)); });
  }
  p = pipeline.pass("shape_inference", p, shape_inference);
  p = pipeline.pass("constant_folding", p, constant_folding);
  p = pipeline.pass("common_subexpression_elimination", p, common_subexpression_elimination);
  if (on_cpu) p = pipeline.pass("pairs", p, lower_pairs);
  return pipeline.pass("dead_node_elimination", p,
                       [](const Program& in) { return needed_halves(dead_node_elimination(in)); });
}

void verify_plan([[maybe_unused]] const Plan& plan) {
#ifdef HEDDLE_VERIFY
  verify(plan);
#endif
}

bool is_set(const char* name, bool otherwise = false) {
  const char* value = std::getenv(name);
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty()) return otherwise;
  if (text == "0") return false;
  if (text == "1") return true;
  throw ValueError({.message = std::string(name) + " is a switch",
                    .found = "'" + std::string(text) + "'",
                    .needed = "1 or 0"});
}

// HEDDLE_WINOGRAD=0: convolutions are the sums they are defined as.
bool winograd_is_on() { return is_set("HEDDLE_WINOGRAD", true); }

}  // namespace

Lowered lower(const Program& program, const Target& target, const StageObserver& observer,
              bool generic) {
  const Pipeline pipeline(observer);
  const ExternalKernels external = external_kernels(target);
  const bool on_cpu = !generic && !target.on_device();
  const bool winograd = on_cpu && winograd_is_on();
  const Program p = simplified(
      pipeline, prepared(pipeline, program, target, external, generic, winograd), on_cpu);
  // memory_planning makes layouts and groups where it needs them; these show them.
  const auto shown = [&](std::string_view name, auto text) {
    pipeline.run<Program>(
        name, [&] { return p; }, [&](const Program& q) { return each_function(q, text); });
  };
  shown("layout_assignment",
        [&](const Function& f) { return to_text(assign_layouts(f, view_nodes(f, on_cpu)), f); });
  shown("operator_fusion",
        [&](const Function& f) { return to_text(make_groups(f, external, on_cpu), f); });
  Plan plan = pipeline.run<Plan>(
      "memory_planning",
      [&] {
        return make_plan(p, target, external,
                         {.prepare = on_cpu, .winograd = winograd, .slices = on_cpu});
      },
      [](const Plan& made) { return to_text(made); }, verify_plan);
  plan = pipeline.run<Plan>(
      "backend_lowering", [&] { return generic ? generalize(plan) : std::move(plan); },
      kernels_text);
  return {p, std::move(plan)};
}

namespace {

void check_stages(const std::string& stages) {
  const std::vector<std::string> known = stage_names(), named = absl::StrSplit(stages, ',');
  for (const std::string& w : named) {
    if (w.empty() || w == "all" || std::count(known.begin(), known.end(), w) > 0) continue;
    throw ValueError({.message = "HEDDLE_DUMP names an unknown stage",
                      .found = "'" + w + "'",
                      .needed = absl::StrJoin(known, ", ") + ", or all"});
  }
}

}  // namespace

StageObserver environment_observer() {
  const char* dump = std::getenv("HEDDLE_DUMP");
  const std::string stages = dump ? dump : "";
  check_stages(stages);
  const bool timed = is_set("HEDDLE_TIME");
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
      std::fprintf(stderr, "%-34.*s %8.3f ms\n", static_cast<int>(stage.size()), stage.data(),
                   1e3 * seconds);
  };
}

}  // namespace heddle
