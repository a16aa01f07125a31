#include "heddle/backends/eager/compiled_function.h"

#include <map>

#include "heddle/backends/artifact/describe.h"
#include "heddle/backends/device.h"
#include "heddle/backends/linked.h"
#include "heddle/backends/worker.h"

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
      Loaded loaded{o, entry};
      loaded.facts.object.clear();
      loaded_.insert_or_assign(to_text(kernels[i]), std::move(loaded));
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

}  // namespace

CompiledFunction::CompiledFunction(const Function& function, const Target& target, bool there)
    : lowered_(lower(Program({function}), target, nullptr, !target.on_device())),
      tables_(make_tables(target)),
      flags_(there ? HD_DEVICE_TENSORS : HD_HEAP_SCRATCH) {}

ArtifactTables CompiledFunction::make_tables(const Target& target) {
  find_device(target);  // before kernels are compiled that nothing can run
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
std::unique_ptr<Instance> CompiledFunction::take() {
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
  options.flags = flags_;
  return std::make_unique<Instance>(tables_.artifact(), &options);
}

void CompiledFunction::give_back(std::unique_ptr<Instance> instance) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(instance));
}

template <class Arguments>
void CompiledFunction::run_with(Arguments arguments) {
  std::unique_ptr<Instance> instance;
  try {
    instance = take();
    instance->run(0, arguments);
  } catch (const StatusError& e) {
    if (instance != nullptr) give_back(std::move(instance));
    if (e.status() == HD_FAULT) {
      throw OverflowError({.message = "an exact result does not fit an i32"});
    }
    throw RuntimeError({.message = e.what()});
  }
  give_back(std::move(instance));
}
template void CompiledFunction::run_with(std::span<void* const>);
template void CompiledFunction::run_with(std::span<const hd_tensor>);

}  // namespace heddle
