// Compiles kernels: from the cache, or each in a process of its own (heddle-kernelc), several side
// by side. What they give depends on the kernels alone.
#ifndef HEDDLE_BACKENDS_WORKER_H_
#define HEDDLE_BACKENDS_WORKER_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heddle/backends/cache.h"
#include "heddle/backends/kernel_object.h"
#include "heddle/schedule/kernel.h"
#include "heddle/schedule/plan.h"

namespace heddle {

struct WorkerOptions {
  int jobs = 0;            ///< workers side by side; 0: one per CPU
  std::string worker;      ///< path of heddle-kernelc; empty: worker_path()
  bool checked = false;    ///< with the code generator's own checks (tests); never cached
  int most_seconds = 600;  ///< a worker that takes longer hangs: it is killed
  /// done of total distinct kernels are ready; `what` names the last one. Called by one thread at a
  /// time, not by the caller's.
  std::function<void(int done, int total, std::string_view what)> progress{};
};

/// One object per kernel, in their order; equal kernels are compiled once, those from outside bring
/// theirs. CompileError names the
/// kernel whose worker failed, crashed or hung; no further ones are started and nothing is left
/// behind.
std::vector<KernelObject> compile_kernels(std::span<const Kernel> kernels, const Cache& cache,
                                          const WorkerOptions& options = {});

/// Those of a plan: the error names the function that a kernel is for, too.
std::vector<KernelObject> compile_kernels(const Plan& plan, const Cache& cache,
                                          const WorkerOptions& options = {});

/// HEDDLE_KERNELC, else beside the running library or program, else where it was built.
/// NotAvailableError lists the places looked at.
std::string worker_path();
/// What a cache key must say of the worker: a hash of its file, the code generator's version and
/// the ABI number.
std::string worker_identity(const std::string& path);

/// "contract: dot_general+add+max" of a kernel, for messages and progress.
std::string kernel_label(const Kernel& kernel);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_WORKER_H_
