#include "heddle/backends/describe.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_join.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

std::string tree_of(const std::string& name) { return name.substr(0, name.find('.')); }

class SignatureMaker {
 public:
  explicit SignatureMaker(const FunctionPlan& f) : f_(f) {}

  SignatureDescription make() {
    s_.name = f_.name;
    for (const Argument& a : f_.inputs) input(a);
    for (const Argument& a : f_.outputs) output(a);
    return std::move(s_);
  }

 private:
  static TensorDescription describe(const Argument& a) {
    return {.name = a.name, .dtype = a.type.dtype, .dims = constant_extents(a.type.dims)};
  }

  // The leaf goes to the end of its tree's argument, aligned for its own elements.
  void place(TensorDescription& t, const std::string& argument, std::uint32_t access,
             const Type& type) {
    auto& known = access == HD_OUT ? outputs_ : inputs_;
    auto [it, fresh] = known.try_emplace(argument, static_cast<std::uint32_t>(s_.arguments.size()));
    if (fresh) s_.arguments.push_back({.name = argument, .access = access});
    ArgumentDescription& a = s_.arguments[it->second];
    const auto size = static_cast<std::uint64_t>(size_of(type.dtype));
    a.bytes = (a.bytes + size - 1) / size * size;
    a.alignment = std::max(a.alignment, static_cast<std::uint32_t>(size));
    a.access |= access;
    t.argument = it->second;
    t.offset = a.bytes;
    a.bytes += static_cast<std::uint64_t>(byte_count(type));
  }

  void input(const Argument& a) {
    const auto number = static_cast<std::int32_t>(s_.inputs.size());
    TensorDescription t = describe(a);
    t.donated = std::any_of(f_.outputs.begin(), f_.outputs.end(),
                            [&](const Argument& o) { return o.shares == number; });
    place(t, tree_of(a.name), HD_IN, a.type);
    if (t.donated) s_.arguments[t.argument].access |= HD_OUT;
    s_.inputs.push_back(std::move(t));
  }

  void output(const Argument& a) {
    TensorDescription t = describe(a);
    t.shares = a.shares;
    if (a.shares >= 0) {
      const TensorDescription& input = s_.inputs[static_cast<std::size_t>(a.shares)];
      t.argument = input.argument;
      t.offset = input.offset;
    } else {
      const std::string tree = tree_of(a.name);
      place(t, inputs_.contains(tree) ? "new_" + tree : tree, HD_OUT, a.type);
    }
    s_.outputs.push_back(std::move(t));
  }

  const FunctionPlan& f_;
  SignatureDescription s_;
  std::map<std::string, std::uint32_t> inputs_, outputs_;  // argument name -> number
};

std::uint8_t space_code(Space space) {
  switch (space) {
    case Space::argument:
      return HD_ARGUMENT;
    case Space::constant:
      return HD_CONSTANT;
    case Space::prepared:
      return HD_PREPARED;
    case Space::arena:
      break;
  }
  return HD_ARENA;
}

BufferDescription describe_buffer(const Buffer& b) {
  return {.space = space_code(b.space),
          .index = b.index,
          .offset = static_cast<std::uint64_t>(b.offset.constant()),
          .dtype = b.type.dtype,
          .dims = constant_extents(b.type.dims),
          .strides = constant_extents(b.strides)};
}

// The executor's tables know every kind of step; what only later programs have is refused by the
// executor itself.
struct StepMaker {
  const Plan& plan;
  StepDescription step;

  void operator()(const KernelStep& s) {
    const std::size_t inputs = plan.kernels[s.kernel].in.size();
    step.kind = HD_STEP_KERNEL;
    step.kernel = s.kernel;
    step.fault = s.fault;
    step.inputs.assign(s.buffers.begin(), s.buffers.begin() + static_cast<std::ptrdiff_t>(inputs));
    step.outputs.assign(s.buffers.begin() + static_cast<std::ptrdiff_t>(inputs), s.buffers.end());
  }
  void operator()(const CopyStep& s) {
    step.kind = HD_STEP_COPY;
    step.inputs = {s.from};
    step.outputs = {s.to};
  }
  void operator()(const CallStep& s) { sub(HD_STEP_CALL, s.plan, 0); }
  void operator()(const CondStep& s) {
    sub(HD_STEP_COND, s.yes, s.no);
    step.inputs = {s.predicate};
  }
  void operator()(const WhileStep& s) { sub(HD_STEP_WHILE, s.test, s.body); }
  void operator()(const ScanStep& s) { sub(HD_STEP_SCAN, s.body, 0); }
  void sub(std::uint16_t kind, std::uint32_t first, std::uint32_t second) {
    step.kind = kind;
    step.sub[0] = first;
    step.sub[1] = second;
  }
};

FunctionDescription describe_function(const Plan& plan, const FunctionPlan& f) {
  FunctionDescription d;
  for (const Buffer& b : f.buffers) d.buffers.push_back(describe_buffer(b));
  for (const Step& s : f.steps) {
    StepMaker make{plan, {}};
    std::visit(make, s.what);
    make.step.wave = s.wave;
    make.step.source = s.label;
    make.step.nodes = s.nodes;
    d.steps.push_back(std::move(make.step));
  }
  d.arena_bytes = static_cast<std::uint64_t>(f.arena_bytes.constant());
  return d;
}

// flops and bytes of one run, by kernel: those of the first step that runs it.
std::vector<std::pair<std::int64_t, std::int64_t>> costs(const Plan& plan) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found(plan.kernels.size());
  for (const FunctionPlan& f : plan.functions) {
    for (const Step& s : f.steps) {
      if (const auto* k = std::get_if<KernelStep>(&s.what)) found[k->kernel] = {s.flops, s.bytes};
    }
  }
  return found;
}

PlanDescription describe_plan(const CompiledPlan& compiled) {
  const Plan& plan = *compiled.plan;
  internal_check(compiled.objects.size() == plan.kernels.size(), "one object per kernel of a plan");
  PlanDescription d{.features = absl::StrJoin(plan.target.features, ",")};
  for (const FunctionPlan& f : plan.functions) d.functions.push_back(describe_function(plan, f));
  const auto cost = costs(plan);
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const KernelObject& o = compiled.objects[k];
    d.kernels.push_back({.name = o.symbol,
                         .flops = static_cast<std::uint64_t>(cost[k].first),
                         .bytes = static_cast<std::uint64_t>(cost[k].second),
                         .scratch_once = static_cast<std::uint64_t>(o.scratch_once),
                         .scratch_task = static_cast<std::uint64_t>(o.scratch_task)});
  }
  return d;
}

}  // namespace

SignatureDescription describe_signature(const FunctionPlan& function) {
  return SignatureMaker(function).make();
}

ArtifactDescription describe_artifact(const std::string& name,
                                      std::span<const CompiledPlan> plans) {
  ArtifactDescription d{.name = name};
  for (const FunctionPlan& f : plans[0].plan->functions)
    d.signatures.push_back(describe_signature(f));
  for (const CompiledPlan& p : plans) d.plans.push_back(describe_plan(p));
  for (const Literal& c : plans[0].plan->constants) {
    d.constants.push_back({c.bytes->data(), static_cast<std::uint64_t>(c.bytes->size())});
  }
  return d;
}

}  // namespace heddle
