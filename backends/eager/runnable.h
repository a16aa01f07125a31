// A function made ready to run on tensors of one set of types, on one carrier.
#ifndef HEDDLE_BACKENDS_EAGER_RUNNABLE_H_
#define HEDDLE_BACKENDS_EAGER_RUNNABLE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "heddle/backends/eager/storage.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/program.h"

namespace heddle {

class Runnable {
 public:
  virtual ~Runnable() = default;
  /// One pointer per input and per output of the function; dense, aligned to the element. Any
  /// number of threads may call it. RuntimeError with the carrier's words when the run fails.
  virtual void run(std::span<const std::byte* const> inputs,
                   std::span<std::byte* const> outputs) = 0;
};

/// cpu: lowered, its kernels in their generic form, compiled once per process and kept on disk.
/// reference: interpreted. opencl, metal: sent to the device, run there, fetched.
/// NotImplementedError for a carrier of composites or with storage of its own; errors as `compile`.
std::unique_ptr<Runnable> make_runnable(const Function& function, const Carrier& carrier);

/// On literals: `run` gets the inputs of `function` and gives its outputs.
using LiteralFunction = std::function<std::vector<Literal>(std::span<const Literal>)>;
std::unique_ptr<Runnable> make_runnable(const Function& function, LiteralFunction run);

/// Compiles and links, side by side, what the functions' first runs on `cpu` will look for in the
/// cache. Returns the number of distinct kernels.
std::size_t warm_cache(std::span<const Function> functions, const WorkerOptions& options);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_RUNNABLE_H_
