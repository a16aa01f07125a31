// The spine: program -> plan -> kernels -> an executable in this process.
#ifndef HEDDLE_BACKENDS_COMPILE_H_
#define HEDDLE_BACKENDS_COMPILE_H_

#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/backends/kernel_object.h"
#include "heddle/backends/lower.h"
#include "heddle/runtime/core/abi.h"

namespace heddle {

/// done of total kernels are ready; `what` names the last one.
using CompileProgress = std::function<void(int done, int total, std::string_view what)>;

struct CompileOptions {
  Target target = Target::host();
  int threads = 0;  ///< of the executable; 0: one per CPU. Results do not depend on it.
  int jobs = 0;     ///< kernels compiled side by side; 0: one per CPU. Results do not depend on it.
  CompileProgress progress{};
  StageObserver observer{};
  /// Kernels take their extents when they run: the same program with other extents compiles nothing
  /// anew. Kernels' scratch then comes from the heap.
  bool generic = false;
  bool check_nan = false;  ///< after each step, look for NaN and infinity; so does HEDDLE_CHECK=nan
};

/// A compiled program in this process. One call at a time.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Results in the order of the outputs; arguments are not changed, donated ones neither.
  /// ValueError names the argument whose count, dtype or extents differ; RuntimeError with the
  /// runtime's words when the run fails.
  virtual std::vector<Literal> run(std::string_view function, std::span<const Literal> arguments,
                                   Location where = std::source_location::current()) = 0;
  /// The runtime's instance behind it: for calls without copies.
  virtual hd_instance* instance() = 0;
  virtual const Plan& plan() const = 0;
  /// What is known of the plan's kernels, in their order; without their code.
  virtual std::span<const KernelObject> kernels() const = 0;
};

/// Everything is cached: kernels, and the library linked of them. CompileError names the kernel
/// that failed; nothing falls back silently. Errors have the caller's place. On a carrier with a
/// device the program is there as a whole: arguments are sent, results fetched; NotAvailableError
/// without it.
std::unique_ptr<Executable> compile(const Program& program, const CompileOptions& options = {},
                                    Location where = std::source_location::current());

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_COMPILE_H_
