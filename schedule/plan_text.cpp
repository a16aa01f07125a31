#include "absl/strings/str_cat.h"
#include "heddle/schedule/plan.h"

namespace heddle {
namespace {

std::string buffer_text(const FunctionPlan& f, std::uint32_t b) {
  const Buffer& buffer = f.buffers[b];
  std::string text;
  switch (buffer.space) {
    case Space::argument:
      text = buffer.index < f.inputs.size()
                 ? f.inputs[buffer.index].name
                 : "out:" + f.outputs[buffer.index - f.inputs.size()].name;
      break;
    case Space::constant:
      text = absl::StrCat("constant", buffer.index);
      break;
    case Space::prepared:
      text = absl::StrCat("prepared", buffer.index);
      break;
    case Space::arena:
      text = absl::StrCat("arena+", to_text(buffer.offset));
      break;
  }
  if (buffer.space != Space::arena && buffer.offset != Dim(0)) {
    absl::StrAppend(&text, "+", to_text(buffer.offset));
  }
  return absl::StrCat(text, ":", to_text(buffer.type));
}

struct StepText {
  const Plan& plan;
  const FunctionPlan& f;

  std::string operator()(const KernelStep& s) const {
    std::string text = absl::StrCat("kernel", s.kernel, "(");
    const std::size_t inputs = plan.kernels[s.kernel].in.size();
    for (std::size_t i = 0; i < s.buffers.size(); ++i) {
      absl::StrAppend(&text, i == inputs ? ") -> (" : i ? ", " : "", buffer_text(f, s.buffers[i]));
    }
    return text + ")";
  }
  std::string operator()(const CopyStep& s) const {
    return absl::StrCat("copy(", buffer_text(f, s.from), ") -> (", buffer_text(f, s.to), ")");
  }
  std::string operator()(const CallStep& s) const { return "call @" + plan.functions[s.plan].name; }
  std::string operator()(const CondStep& s) const { return "cond " + buffer_text(f, s.predicate); }
  std::string operator()(const WhileStep& s) const {
    return "while @" + plan.functions[s.test].name;
  }
  std::string operator()(const ScanStep& s) const { return "scan " + to_text(s.trips); }
};

}  // namespace

std::string to_text(const Plan& plan) {
  std::string text = absl::StrCat("plan for ", to_text(plan.target), "\n");
  for (const FunctionPlan& f : plan.functions) {
    absl::StrAppend(&text, "\nfunction @", f.name, "  arena ", to_text(f.arena_bytes), " bytes, ",
                    f.steps.size(), " steps\n");
    for (std::size_t s = 0; s < f.steps.size(); ++s) {
      const Step& step = f.steps[s];
      absl::StrAppend(&text, "  ", s, ": ", std::visit(StepText{plan, f}, step.what), "\n      ",
                      step.label, "  ", step.flops, " flops, ", step.bytes, " bytes\n");
    }
  }
  return text;
}

}  // namespace heddle
