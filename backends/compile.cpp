#include "heddle/backends/compile.h"

#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "heddle/backends/artifact/describe.h"
#include "heddle/backends/device.h"
#include "heddle/backends/linked.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/interpret.h"
#include "heddle/runtime/runtime.hpp"

namespace heddle {
namespace {

// Literals as the runtime takes tensors. Donated arguments are copied first: literals never change.
class Call {
 public:
  Call(const Function& f, const FunctionPlan& plan, std::span<const Literal> arguments) {
    check_arguments(f, arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      storage_.push_back(plan.inputs[i].donate ? *arguments[i].bytes : std::vector<std::byte>());
      const void* data =
          plan.inputs[i].donate ? storage_.back().data() : arguments[i].bytes->data();
      add(plan.inputs[i].type, const_cast<void*>(data));
    }
    for (const Argument& out : plan.outputs) {
      storage_.emplace_back();
      if (out.shares >= 0) {
        add(out.type, tensors_[static_cast<std::size_t>(out.shares)].data);
        continue;
      }
      storage_.back().resize(static_cast<std::size_t>(byte_count(out.type)));
      add(out.type, storage_.back().data());
    }
  }

  std::span<const hd_tensor> tensors() const { return tensors_; }

  std::vector<Literal> results(const FunctionPlan& plan) const {
    std::vector<Literal> results;
    for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
      const Type& type = plan.outputs[o].type;
      const auto* data = static_cast<const std::byte*>(tensors_[plan.inputs.size() + o].data);
      std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
      if (!bytes.empty()) std::memcpy(bytes.data(), data, bytes.size());
      results.push_back(literal_from_bytes(type, std::move(bytes)));
    }
    return results;
  }

 private:
  void add(const Type& type, void* data) {
    shapes_.push_back(constant_extents(type.dims));
    tensors_.push_back({.data = data,
                        .shape = shapes_.back().data(),
                        .strides = nullptr,
                        .dtype = static_cast<std::uint32_t>(type.dtype),
                        .rank = static_cast<std::uint32_t>(type.rank()),
                        .device = 0});
  }

  std::vector<std::vector<std::byte>> storage_;
  std::vector<std::vector<std::int64_t>> shapes_;
  std::vector<hd_tensor> tensors_;
};

bool wants_nan_check() {
  const char* check = std::getenv("HEDDLE_CHECK");
  const std::string_view text = check == nullptr ? "" : check;
  if (text.empty() || text == "nan") return !text.empty();
  throw ValueError({.message = "HEDDLE_CHECK names what to look for after each step",
                    .found = "'" + std::string(text) + "'",
                    .needed = "nan"});
}

class InProcess final : public Executable {
 public:
  InProcess(Lowered lowered, const std::vector<KernelObject>& objects, SharedObject kernels,
            const CompileOptions& options)
      : lowered_(std::move(lowered)), kernels_(std::move(kernels)), tables_(make_tables(objects)) {
    for (const KernelObject& o : objects) {
      facts_.push_back(o);
      facts_.back().object.clear();
    }
    hd_options run_options = default_options();
    run_options.threads = options.threads;
    if (options.threads == 0) run_options.pool = process_pool();
    if (options.generic) run_options.flags |= HD_HEAP_SCRATCH;
    if (options.check_nan || wants_nan_check()) run_options.flags |= HD_CHECK_NAN;
    try {
      instance_.emplace(tables_.artifact(), &run_options);
    } catch (const StatusError& e) {
      throw RuntimeError(
          {.message = absl::StrCat("function '", lowered_.program.entry().name, "': ", e.what())});
    }
  }

  std::vector<Literal> run(std::string_view function, std::span<const Literal> arguments,
                           Location where) override {
    return with_context({.where = where}, [&] { return run_checked(function, arguments); });
  }

  hd_instance* instance() override { return instance_->handle(); }
  const Plan& plan() const override { return lowered_.plan; }
  std::span<const KernelObject> kernels() const override { return facts_; }

 private:
  std::vector<Literal> run_checked(std::string_view function, std::span<const Literal> arguments) {
    const Function& f = lowered_.program.at(function);
    const auto index = static_cast<std::size_t>(&f - lowered_.program.functions().data());
    const FunctionPlan& plan = lowered_.plan.functions[index];
    const Call call(f, plan, arguments);
    try {
      instance_->run(static_cast<std::uint32_t>(index), call.tensors());
    } catch (const StatusError& e) {
      if (e.status() == HD_FAULT) throw OverflowError({.message = e.what()});
      throw RuntimeError({.message = e.what()});
    }
    return call.results(plan);
  }

  ArtifactTables make_tables(const std::vector<KernelObject>& objects) const {
    const CompiledPlan compiled{&lowered_.plan, objects};
    ArtifactDescription description = describe("heddle", std::span(&compiled, 1));
    bind_kernels(description, [&](const std::string& symbol) { return kernels_.find(symbol); });
    return ArtifactTables(description);
  }

  Lowered lowered_;
  SharedObject kernels_;
  ArtifactTables tables_;
  std::vector<KernelObject> facts_;  // without the objects' bytes
  std::optional<Instance> instance_;
};

std::unique_ptr<Executable> compile_program(const Program& program, const CompileOptions& options) {
  if (options.threads < 0 || options.jobs < 0) {
    throw ValueError({.message = "compile: threads and jobs are at least 0, which is one per CPU",
                      .found = absl::StrCat(options.threads, " and ", options.jobs)});
  }
  if (options.target.triple != Target::host().triple) {
    throw NotAvailableError({.message = "compile: programs run on this machine only",
                             .found = options.target.triple,
                             .needed = Target::host().triple});
  }
  if (options.generic && options.target.on_device()) {
    throw NotImplementedError({.message = "compile: kernels of a device know their extents",
                               .found = "generic kernels for " + options.target.carrier,
                               .needed = "the carrier cpu"});
  }
  with_context({.operation = "compile"}, [&] { find_device(options.target); });  // before any work
  Lowered lowered = lower(program, options.target, options.observer, options.generic);
  const Cache cache = Cache::open();
  const std::vector<KernelObject> objects =
      compile_kernels(lowered.plan, cache, {.jobs = options.jobs, .progress = options.progress});
  SharedObject kernels;
  if (!objects.empty()) kernels = SharedObject::from_bytes(linked(objects, cache));
  return std::make_unique<InProcess>(std::move(lowered), objects, std::move(kernels), options);
}

}  // namespace

std::unique_ptr<Executable> compile(const Program& program, const CompileOptions& options,
                                    Location where) {
  return with_context({.where = where}, [&] { return compile_program(program, options); });
}

}  // namespace heddle
