#include "heddle/runtime/tables.h"

#include <algorithm>
#include <deque>

namespace heddle {
namespace {

std::uint64_t bytes_of(const TensorDescription& tensor) {
  std::uint64_t bytes = size_of(tensor.dtype);
  for (std::int64_t extent : tensor.dims) bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

// What one plan's tables point to.
struct PlanStorage {
  std::vector<hd_function> functions;
  std::vector<hd_step> steps;
  std::vector<hd_buffer> buffers;
  std::vector<std::uint32_t> args, nodes;
  std::vector<std::int64_t> dims;
  std::vector<hd_kernel> kernels;
  std::vector<const char*> sources;
};

struct SignatureStorage {
  std::vector<hd_argument> arguments;
  std::vector<hd_tensor_spec> tensors;
  std::vector<std::int64_t> dims;
};

template <class T>
std::uint32_t count(const std::vector<T>& values) {
  return static_cast<std::uint32_t>(values.size());
}

}  // namespace

void assign_arguments(SignatureDescription& signature) {
  signature.arguments.clear();
  for (TensorDescription& input : signature.inputs) {
    input.argument = count(signature.arguments);
    input.offset = 0;
    signature.arguments.push_back(
        {input.name, bytes_of(input), HD_IN, static_cast<std::uint32_t>(size_of(input.dtype))});
  }
  for (TensorDescription& output : signature.outputs) {
    output.offset = 0;
    if (output.shares >= 0) {
      output.argument = signature.inputs[static_cast<std::size_t>(output.shares)].argument;
      signature.arguments[output.argument].access |= HD_OUT;
      continue;
    }
    output.argument = count(signature.arguments);
    signature.arguments.push_back(
        {output.name, bytes_of(output), HD_OUT, static_cast<std::uint32_t>(size_of(output.dtype))});
  }
}

struct ArtifactTables::Storage {
  std::deque<std::string> texts;  // a deque: the strings stay where they are
  std::deque<SignatureStorage> signature_parts;
  std::deque<PlanStorage> plan_parts;
  std::vector<hd_signature> signatures;
  std::vector<hd_plan> plans;
  std::vector<hd_constant> constants;
  hd_artifact artifact{};

  const char* keep(const std::string& text) { return texts.emplace_back(text).c_str(); }
  void add_signature(const SignatureDescription& description);
  void add_plan(const PlanDescription& description);
  void add_function(PlanStorage& plan, const FunctionDescription& description);
  void add_step(PlanStorage& plan, const StepDescription& description);
};

void ArtifactTables::Storage::add_signature(const SignatureDescription& description) {
  SignatureStorage& part = signature_parts.emplace_back();
  for (const ArgumentDescription& a : description.arguments) {
    part.arguments.push_back({keep(a.name), a.bytes, a.access, a.alignment});
  }
  const auto add_tensor = [&](const TensorDescription& t) {
    part.tensors.push_back({keep(t.name), t.argument, static_cast<std::uint8_t>(t.dtype),
                            static_cast<std::uint8_t>(t.dims.size()), t.donated, 0, t.shares,
                            count(part.dims), t.offset});
    part.dims.insert(part.dims.end(), t.dims.begin(), t.dims.end());
  };
  for (const TensorDescription& t : description.inputs) add_tensor(t);
  for (const TensorDescription& t : description.outputs) add_tensor(t);
  signatures.push_back({keep(description.name), keep(description.doc), part.arguments.data(),
                        part.tensors.data(), part.dims.data(), count(part.arguments),
                        count(description.inputs), count(description.outputs), count(part.dims)});
}

void ArtifactTables::Storage::add_step(PlanStorage& plan, const StepDescription& s) {
  plan.steps.push_back({s.kind,
                        static_cast<std::uint16_t>(s.inputs.size()),
                        static_cast<std::uint16_t>(s.outputs.size()),
                        s.flags,
                        s.wave,
                        s.kernel,
                        count(plan.args),
                        {s.sub[0], s.sub[1]},
                        count(plan.sources),
                        s.fault,
                        count(plan.nodes),
                        count(s.nodes)});
  plan.args.insert(plan.args.end(), s.inputs.begin(), s.inputs.end());
  plan.args.insert(plan.args.end(), s.outputs.begin(), s.outputs.end());
  plan.nodes.insert(plan.nodes.end(), s.nodes.begin(), s.nodes.end());
  plan.sources.push_back(keep(s.source));
}

void ArtifactTables::Storage::add_function(PlanStorage& plan, const FunctionDescription& f) {
  plan.functions.push_back(
      {count(plan.steps), count(f.steps), count(plan.buffers), count(f.buffers), f.arena_bytes});
  for (const BufferDescription& b : f.buffers) {
    plan.buffers.push_back({b.space, static_cast<std::uint8_t>(b.dtype),
                            static_cast<std::uint8_t>(b.dims.size()), 0, b.index, count(plan.dims),
                            0, b.offset, 0});
    plan.dims.insert(plan.dims.end(), b.dims.begin(), b.dims.end());
    std::vector<std::int64_t> strides = b.strides;
    if (strides.empty()) {
      strides.assign(b.dims.size(), 1);
      for (std::size_t i = b.dims.size(); i-- > 1;) strides[i - 1] = strides[i] * b.dims[i];
    }
    plan.dims.insert(plan.dims.end(), strides.begin(), strides.end());
  }
  for (const StepDescription& s : f.steps) add_step(plan, s);
}

void ArtifactTables::Storage::add_plan(const PlanDescription& description) {
  PlanStorage& part = plan_parts.emplace_back();
  for (const FunctionDescription& f : description.functions) add_function(part, f);
  std::uint64_t once = 0, task = 0;
  for (const KernelDescription& k : description.kernels) {
    part.kernels.push_back(
        {k.run, keep(k.name), k.flops, k.bytes, k.scratch_once, k.scratch_task, k.device_bytes});
    once = std::max(once, k.scratch_once);
    task = std::max(task, k.scratch_task);
  }
  plans.push_back({keep(description.features),
                   part.functions.data(),
                   part.steps.data(),
                   part.buffers.data(),
                   part.args.data(),
                   part.nodes.data(),
                   part.dims.data(),
                   part.kernels.data(),
                   part.sources.data(),
                   count(part.functions),
                   count(part.steps),
                   count(part.buffers),
                   count(part.args),
                   count(part.nodes),
                   count(part.dims),
                   count(part.kernels),
                   count(part.sources),
                   description.prepared_bytes,
                   once,
                   task,
                   description.device});
}

ArtifactTables::ArtifactTables(const ArtifactDescription& description)
    : storage_(std::make_unique<Storage>()) {
  for (const SignatureDescription& s : description.signatures) storage_->add_signature(s);
  for (const PlanDescription& p : description.plans) storage_->add_plan(p);
  for (const ConstantDescription& c : description.constants)
    storage_->constants.push_back({c.data, c.bytes});
  hd_artifact& artifact = storage_->artifact;
  artifact = {HD_MAGIC,
              HD_ABI,
              HD_FORMAT,
              count(storage_->signatures),
              count(storage_->plans),
              count(storage_->constants),
              description.prepare,
              0,
              0,
              storage_->keep(description.name),
              storage_->signatures.data(),
              storage_->plans.data(),
              storage_->constants.data()};
  artifact.checksum = hd_checksum(&artifact);
}

ArtifactTables::~ArtifactTables() = default;
ArtifactTables::ArtifactTables(ArtifactTables&&) noexcept = default;
ArtifactTables& ArtifactTables::operator=(ArtifactTables&&) noexcept = default;
const hd_artifact& ArtifactTables::artifact() const { return storage_->artifact; }

}  // namespace heddle
