// A function compiled for calls: its kernels are loaded once per process, and kept on disk.
#ifndef HEDDLE_BACKENDS_EAGER_COMPILED_FUNCTION_H_
#define HEDDLE_BACKENDS_EAGER_COMPILED_FUNCTION_H_

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "heddle/backends/lower.h"
#include "heddle/graph/program.h"
#include "heddle/runtime/runtime.hpp"
#include "heddle/runtime/tables.h"

namespace heddle {

class CompiledFunction {
 public:
  /// On the cpu kernels are generic: other extents compile nothing anew. On a device they know
  /// theirs. Errors as `compile`. there: every call gives tensors that are on the device.
  CompiledFunction(const Function& function, const Target& target, bool there = false);

  /// One pointer per input and per output, or one tensor. Any number of threads. OverflowError,
  /// RuntimeError with the runtime's words.
  void run(std::span<void* const> arguments) { run_with(arguments); }
  void run(std::span<const hd_tensor> tensors) { run_with(tensors); }

 private:
  ArtifactTables make_tables(const Target& target);
  std::unique_ptr<Instance> take();
  void give_back(std::unique_ptr<Instance> instance);
  template <class Arguments>
  void run_with(Arguments arguments);

  Lowered lowered_;
  ArtifactTables tables_;
  const std::uint32_t flags_;  ///< of instances
  std::mutex mutex_;
  std::vector<std::unique_ptr<Instance>> free_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_COMPILED_FUNCTION_H_
