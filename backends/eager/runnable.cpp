#include "heddle/backends/eager/runnable.h"

#include <cstring>
#include <map>
#include <mutex>

#include "heddle/backends/artifact/describe.h"
#include "heddle/backends/linked.h"
#include "heddle/backends/lower.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/interpret.h"
#include "heddle/runtime/runtime.hpp"
#include "heddle/schedule/generic.h"

namespace heddle {
namespace {

// Kernels of this process, each loaded once. There are as many as operations and dtypes in use.
class LoadedKernels {
 public:
  /// One symbol per kernel, in their order. Those that are new are compiled side by side.
  std::vector<void*> load(std::span<const Kernel> kernels, std::vector<KernelObject>& objects) {
    const std::lock_guard lock(mutex_);
    std::vector<Kernel> missing;
    for (const Kernel& k : kernels) {
      if (loaded_.count(to_text(k)) == 0) missing.push_back(k);
    }
    if (!missing.empty()) load_missing(missing);
    std::vector<void*> entries;
    for (const Kernel& k : kernels) {
      const Loaded& l = loaded_.at(to_text(k));
      objects.push_back(l.facts);
      entries.push_back(l.entry);
    }
    return entries;
  }

 private:
  struct Loaded {
    KernelObject facts;  // without the object's bytes
    void* entry;
  };

  void load_missing(const std::vector<Kernel>& kernels) {
    const Cache cache = Cache::open();
    const std::vector<KernelObject> objects = compile_kernels(kernels, cache);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      // One library per kernel: whoever needs the kernel finds it linked, whatever else they need.
      const KernelObject& o = objects[i];
      libraries_.push_back(SharedObject::from_bytes(linked({o}, cache)));
      void* entry = libraries_.back().find(o.symbol);
      internal_check(entry != nullptr, "a linked kernel without its symbol");
      loaded_.insert_or_assign(to_text(kernels[i]),
                               Loaded{{{}, o.symbol, o.scratch_once, o.scratch_task}, entry});
    }
  }

  std::mutex mutex_;
  std::map<std::string, Loaded> loaded_;
  std::vector<SharedObject> libraries_;
};

// Never destroyed: the threads of the pool may still be in a kernel's tail.
LoadedKernels& loaded_kernels() {
  static LoadedKernels* const kernels = new LoadedKernels;
  return *kernels;
}

class Compiled final : public Runnable {
 public:
  explicit Compiled(const Function& function)
      : lowered_(lower(Program({function}), Target::host())), tables_(make_tables()) {}

  void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) override {
    std::vector<void*> arguments;
    arguments.reserve(inputs.size() + outputs.size());
    for (const std::byte* p : inputs) arguments.push_back(const_cast<std::byte*>(p));
    for (std::byte* p : outputs) arguments.push_back(p);
    std::unique_ptr<Instance> instance = take();
    try {
      instance->run(0, std::span<void* const>(arguments));
    } catch (const StatusError& e) {
      give_back(std::move(instance));
      if (e.status() == HD_FAULT) {
        throw OverflowError({.message = "an exact result does not fit an i32"});
      }
      throw RuntimeError({.message = e.what()});
    }
    give_back(std::move(instance));
  }

 private:
  ArtifactTables make_tables() {
    lowered_.plan = generalize(lowered_.plan);
    std::vector<KernelObject> objects;
    const std::vector<void*> entries = loaded_kernels().load(lowered_.plan.kernels, objects);
    const CompiledPlan compiled{&lowered_.plan, objects};
    ArtifactDescription description = describe("eager", std::span(&compiled, 1));
    bind_kernels(description, [&](const std::string& symbol) -> void* {
      for (std::size_t i = 0; i < objects.size(); ++i) {
        if (objects[i].symbol == symbol) return entries[i];
      }
      return nullptr;
    });
    return ArtifactTables(description);
  }

  // One call at a time per instance: as many instances as calls have run side by side.
  std::unique_ptr<Instance> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Instance> instance = std::move(free_.back());
        free_.pop_back();
        return instance;
      }
    }
    hd_options options = default_options();
    options.pool = process_pool();
    options.flags = HD_HEAP_SCRATCH;
    return std::make_unique<Instance>(tables_.artifact(), &options);
  }
  void give_back(std::unique_ptr<Instance> instance) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(instance));
  }

  Lowered lowered_;
  ArtifactTables tables_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Instance>> free_;
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
  return generalize(lower(Program({function}), Target::host()).plan).kernels;
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
  if (carrier.composite != nullptr || carrier.storage != nullptr) {
    throw NotImplementedError({.message = "carrier " + carrier.name + " runs no whole programs"});
  }
  if (carrier.built_in == BuiltInKernels::interpreted) {
    return make_runnable(function, [program = Program({function})](std::span<const Literal> in) {
      return interpret(program, program.entry().name, in);
    });
  }
  return std::make_unique<Compiled>(function);
}

}  // namespace heddle
