#include "heddle/backends/artifact/describe.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "heddle/backends/device.h"
#include "heddle/schedule/prepare.h"

namespace heddle {
namespace {

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::uint64_t bytes_of(const TensorDescription& tensor) {
  std::uint64_t bytes = size_of(tensor.dtype);
  for (std::int64_t extent : tensor.dims) bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

TensorDescription describe_tensor(const Argument& argument) {
  return {argument.name,
          argument.type.dtype,
          constant_extents(argument.type.dims),
          argument.donate,
          argument.shares,
          0,
          0};
}

// "x: f32[32,64]  y: i32[32]  ->  loss: f32[]"
std::string signature_text(const FunctionPlan& f) {
  const auto text = [](std::string* out, const Argument& a) {
    absl::StrAppend(out, a.name, ": ", to_text(a.type));
  };
  return absl::StrCat(absl::StrJoin(f.inputs, "  ", text), "  ->  ",
                      absl::StrJoin(f.outputs, "  ", text));
}

// "params" of "params.w1"; empty for a tensor that is an argument by itself.
std::string tree_of(const TensorDescription& t) {
  const std::size_t dot = t.name.find('.');
  return dot == std::string::npos ? "" : t.name.substr(0, dot);
}

class ArgumentAssigner {
 public:
  explicit ArgumentAssigner(SignatureDescription& signature) : signature_(signature) {}

  void assign() {
    for (TensorDescription& t : signature_.inputs) {
      if (tree_of(t).empty()) place(t, HD_IN);
    }
    for (TensorDescription& t : signature_.inputs) {
      if (!tree_of(t).empty()) place(t, HD_IN);
    }
    for (TensorDescription& t : signature_.outputs) {
      if (t.shares < 0) {
        place(t, HD_OUT);
        continue;
      }
      const TensorDescription& input = signature_.inputs[static_cast<std::size_t>(t.shares)];
      t.argument = input.argument;
      t.offset = input.offset;
      signature_.arguments[t.argument].access |= HD_OUT;
    }
  }

 private:
  // The argument of a tensor and its place in it, at the end of its tree.
  void place(TensorDescription& t, std::uint32_t access) {
    const std::string tree = tree_of(t);
    const auto known = trees_.find(std::pair(tree, access));
    if (!tree.empty() && known != trees_.end()) {
      t.argument = known->second;
    } else {
      t.argument = static_cast<std::uint32_t>(signature_.arguments.size());
      signature_.arguments.push_back({tree.empty() ? t.name : tree, 0, access, 1});
      trees_.emplace(std::pair(tree, access), t.argument);
    }
    ArgumentDescription& argument = signature_.arguments[t.argument];
    const std::uint32_t alignment = static_cast<std::uint32_t>(size_of(t.dtype));
    t.offset = round_up(argument.bytes, alignment);
    argument.bytes = t.offset + bytes_of(t);
    argument.alignment = std::max(argument.alignment, alignment);
  }

  SignatureDescription& signature_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> trees_;
};

// All outputs in one block, each at a multiple of a cache line.
void assign_prepared(SignatureDescription& signature) {
  internal_check(signature.inputs.empty(), "@prepare takes no inputs");
  std::uint64_t end = 0;
  for (TensorDescription& t : signature.outputs) {
    t.offset = round_up(end, HD_ALIGNMENT);
    end = t.offset + bytes_of(t);
  }
  signature.arguments = {{"prepared", end, HD_OUT, HD_ALIGNMENT}};
}

SignatureDescription describe_signature(const FunctionPlan& f) {
  SignatureDescription signature{f.name, signature_text(f), {}, {}, {}};
  for (const Argument& a : f.inputs) signature.inputs.push_back(describe_tensor(a));
  for (const Argument& a : f.outputs) signature.outputs.push_back(describe_tensor(a));
  if (f.name == kPrepare) {
    assign_prepared(signature);
  } else {
    ArgumentAssigner(signature).assign();
  }
  return signature;
}

std::uint8_t space_number(Space space) {
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

// `prepared`: the signature of @prepare, in whose block its outputs lie.
BufferDescription describe_buffer(const Buffer& b, std::uint32_t first_constant,
                                  const SignatureDescription* prepared) {
  const std::uint32_t index = b.space == Space::constant ? first_constant + b.index : b.index;
  return {space_number(b.space),
          b.space == Space::argument || b.space == Space::constant ? index : 0,
          b.space == Space::prepared ? prepared->outputs.at(b.index).offset
                                     : static_cast<std::uint64_t>(b.offset.constant()),
          b.type.dtype,
          constant_extents(b.type.dims),
          constant_extents(b.strides)};
}

// A step's kind, operands and sub-plans.
struct StepDescriber {
  const Plan& plan;
  StepDescription& out;

  void operator()(const KernelStep& s) const {
    const std::size_t inputs = plan.kernels[s.kernel].in.size();
    internal_check(inputs <= s.buffers.size(),
                   "a kernel step with fewer buffers than its kernel's inputs");
    const auto middle = s.buffers.begin() + static_cast<std::ptrdiff_t>(inputs);
    out.kernel = s.kernel;
    if (flushes_denormals(plan.kernels[s.kernel])) out.flags = HD_DENORMALS_AS_ZEROS;
    out.inputs.assign(s.buffers.begin(), middle);
    out.outputs.assign(middle, s.buffers.end());
  }
  void operator()(const CopyStep& s) const {
    out.kind = HD_STEP_COPY;
    out.inputs = {s.from};
    out.outputs = {s.to};
  }
  void operator()(const CallStep& s) const { set_sub(HD_STEP_CALL, s.plan, 0); }
  void operator()(const CondStep& s) const {
    set_sub(HD_STEP_COND, s.yes, s.no);
    out.inputs = {s.predicate};
  }
  void operator()(const WhileStep& s) const { set_sub(HD_STEP_WHILE, s.test, s.body); }
  void operator()(const ScanStep& s) const { set_sub(HD_STEP_SCAN, s.body, 0); }
  void set_sub(std::uint16_t kind, std::uint32_t first, std::uint32_t second) const {
    out.kind = kind;
    out.sub[0] = first;
    out.sub[1] = second;
  }
};

// The position of the flag among the step's buffers.
std::int32_t fault_position(const StepDescription& step, std::int32_t fault) {
  if (fault < 0) return -1;
  std::vector<std::uint32_t> all = step.inputs;
  all.insert(all.end(), step.outputs.begin(), step.outputs.end());
  const auto found = std::find(all.begin(), all.end(), static_cast<std::uint32_t>(fault));
  internal_check(found != all.end(), "a fault flag that is none of its step's buffers");
  return static_cast<std::int32_t>(found - all.begin());
}

FunctionDescription describe_function(const Plan& plan, const FunctionPlan& f,
                                      std::uint32_t first_constant,
                                      const SignatureDescription* prepared) {
  FunctionDescription out;
  for (const Buffer& b : f.buffers) {
    out.buffers.push_back(describe_buffer(b, first_constant, prepared));
  }
  for (const Step& s : f.steps) {
    StepDescription& step = out.steps.emplace_back();
    step.wave = s.wave;
    step.source = s.place.empty() ? s.label : s.label + " " + s.place;
    step.nodes = s.nodes;
    std::visit(StepDescriber{plan, step}, s.what);
    step.fault = fault_position(step, s.fault);
  }
  out.arena_bytes = static_cast<std::uint64_t>(f.arena_bytes.constant());
  return out;
}

// A kernel's work is that of the first step that runs it: equal kernels do equal work.
std::vector<KernelDescription> describe_kernels(const CompiledPlan& compiled) {
  internal_check(compiled.objects.size() == compiled.plan->kernels.size(), "one object per kernel");
  std::vector<KernelDescription> kernels;
  for (const KernelObject& o : compiled.objects) {
    kernels.push_back({o.symbol, nullptr, 0, 0, static_cast<std::uint64_t>(o.scratch_once),
                       static_cast<std::uint64_t>(o.scratch_task),
                       static_cast<std::uint64_t>(o.device_bytes)});
  }
  for (const FunctionPlan& f : compiled.plan->functions) {
    for (const Step& s : f.steps) {
      const KernelStep* kernel = std::get_if<KernelStep>(&s.what);
      if (!kernel || kernels[kernel->kernel].bytes) continue;
      kernels[kernel->kernel].flops = static_cast<std::uint64_t>(s.flops);
      kernels[kernel->kernel].bytes = static_cast<std::uint64_t>(s.bytes);
    }
  }
  return kernels;
}

}  // namespace

ArtifactDescription describe(std::string name, std::span<const CompiledPlan> plans) {
  internal_check(!plans.empty(), "an artifact without a plan");
  ArtifactDescription out;
  out.name = std::move(name);
  const std::vector<FunctionPlan>& functions = plans[0].plan->functions;
  for (const FunctionPlan& f : functions) {
    if (f.name == kPrepare) out.prepare = static_cast<int>(out.signatures.size());
    out.signatures.push_back(describe_signature(f));
  }
  for (const CompiledPlan& compiled : plans) {
    const Plan& plan = *compiled.plan;
    internal_check(plan.functions.size() == functions.size(), "plans with different functions");
    PlanDescription& p = out.plans.emplace_back();
    p.features = absl::StrJoin(plan.target.features, ",");
    p.device = device_of(plan.target);
    const std::uint32_t first_constant = static_cast<std::uint32_t>(out.constants.size());
    for (const Literal& l : plan.constants)
      out.constants.push_back({l.bytes->data(), l.bytes->size()});
    const SignatureDescription* prepared =
        out.prepare < 0 ? nullptr : &out.signatures[static_cast<std::size_t>(out.prepare)];
    for (const FunctionPlan& f : plan.functions)
      p.functions.push_back(describe_function(plan, f, first_constant, prepared));
    p.kernels = describe_kernels(compiled);
    if (prepared) p.prepared_bytes = prepared->arguments[0].bytes;
  }
  return out;
}

void bind_kernels(ArtifactDescription& description,
                  const std::function<void*(const std::string&)>& find) {
  for (PlanDescription& plan : description.plans) {
    for (KernelDescription& kernel : plan.kernels) {
      void* entry = find(kernel.name);
      if (!entry)
        throw CompileError(
            {.message = absl::StrCat("the compiled library has no kernel ", kernel.name)});
      kernel.run = reinterpret_cast<hd_kernel_fn>(entry);
    }
  }
}

}  // namespace heddle
