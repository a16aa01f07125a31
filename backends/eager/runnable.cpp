#include "heddle/backends/eager/runnable.h"

#include <map>

#include "heddle/backends/eager/compiled_function.h"
#include "heddle/backends/linked.h"
#include "heddle/backends/lower.h"
#include "heddle/backends/on_device/carrier.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/interpret.h"

namespace heddle {
namespace {

class Compiled final : public Runnable {
 public:
  Compiled(const Function& function, const Target& target) : compiled_(function, target) {}

  void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) override {
    std::vector<void*> arguments;
    arguments.reserve(inputs.size() + outputs.size());
    for (const std::byte* p : inputs) arguments.push_back(const_cast<std::byte*>(p));
    for (std::byte* p : outputs) arguments.push_back(p);
    compiled_.run(std::span<void* const>(arguments));
  }

 private:
  CompiledFunction compiled_;
};

class OnLiterals final : public Runnable {
 public:
  OnLiterals(Function function, LiteralFunction run)
      : function_(std::move(function)), run_(std::move(run)) {}

  void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) override {
    std::vector<Literal> arguments;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Type& type = function_.type(function_.inputs[i].value);
      const auto bytes = static_cast<std::size_t>(byte_count(type));
      arguments.push_back(
          literal_from_bytes(type, std::vector<std::byte>(inputs[i], inputs[i] + bytes)));
    }
    const std::vector<Literal> results = run_(arguments);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      std::copy(results[o].bytes->begin(), results[o].bytes->end(), outputs[o]);
    }
  }

 private:
  Function function_;
  LiteralFunction run_;
};

std::vector<Kernel> kernels_of(const Function& function) {
  return lower(Program({function}), Target::host(), nullptr, true).plan.kernels;
}

}  // namespace

std::size_t warm_cache(std::span<const Function> functions, const WorkerOptions& options) {
  std::map<std::string, Kernel> kernels;
  for (const Function& f : functions) {
    for (Kernel& k : kernels_of(f)) kernels.emplace(to_text(k), std::move(k));
  }
  std::vector<Kernel> all;
  for (auto& [text, kernel] : kernels) all.push_back(std::move(kernel));
  const Cache cache = Cache::open();
  for (const KernelObject& o : compile_kernels(all, cache, options)) linked({o}, cache);
  return all.size();
}

std::unique_ptr<Runnable> make_runnable(const Function& function, LiteralFunction run) {
  return std::make_unique<OnLiterals>(function, std::move(run));
}

std::unique_ptr<Runnable> make_runnable(const Function& function, const Carrier& carrier) {
  if (&carrier == &opencl_carrier() || &carrier == &metal_carrier()) {
    Target target = Target::host();
    target.carrier = carrier.name;
    return std::make_unique<Compiled>(function, target);
  }
  if (carrier.composite != nullptr || carrier.storage != nullptr) {
    throw NotImplementedError({.message = "carrier " + carrier.name + " runs no whole programs"});
  }
  if (carrier.built_in == BuiltInKernels::interpreted) {
    return make_runnable(function, [program = Program({function})](std::span<const Literal> in) {
      return interpret(program, program.entry().name, in, {});
    });
  }
  return std::make_unique<Compiled>(function, Target::host());
}

}  // namespace heddle
