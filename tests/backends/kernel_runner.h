// Compiles kernels through the worker, links them into one library and calls them on literals: the
// part of a runtime that tests of kernels need, with its own thread count and scratch accounting.
#ifndef HEDDLE_TESTS_BACKENDS_KERNEL_RUNNER_H_
#define HEDDLE_TESTS_BACKENDS_KERNEL_RUNNER_H_

#include <span>
#include <string>
#include <vector>

#include "heddle/backends/artifact/toolchain.h"
#include "heddle/backends/kernel_object.h"
#include "heddle/graph/literal.h"
#include "heddle/schedule/kernel.h"
#include "support/guarded_memory.h"

namespace heddle::testing {

class KernelRunner {
 public:
  /// `checked`: with Halide's own checks of every region read and written.
  explicit KernelRunner(std::vector<Kernel> kernels, bool checked = false);
  ~KernelRunner();
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;

  /// Outputs in order; a shared one starts as a copy of its input. Fails the test when the kernel
  /// returns an error, writes beside an output, or takes more scratch than its facts say.
  std::vector<Literal> run(std::size_t kernel, std::span<const Literal> inputs, int threads = 1);
  /// The same with one end of every buffer at a page that cannot be touched, even to read.
  std::vector<Literal> run_guarded(std::size_t kernel, std::span<const Literal> inputs,
                                   Guard guard);
  /// Seconds of the fastest of `times` calls, buffers prepared once.
  double seconds(std::size_t kernel, std::span<const Literal> inputs, int threads, int times);

  const KernelObject& object(std::size_t kernel) const { return objects_[kernel]; }

 private:
  struct Call;
  std::vector<Literal> run_call(std::size_t kernel, Call& call, int threads);
  std::vector<Kernel> kernels_;
  std::vector<KernelObject> objects_;
  TemporaryFolder folder_;
  void* library_ = nullptr;
  bool checked_;
};

/// Writes the objects into `folder`, each once; the command that links them to kernels.so there.
std::vector<std::string> link_command(const std::vector<KernelObject>& objects,
                                      const std::string& folder);

/// The kernel of a whole function, ports dense. `shares`: by output, the input it overwrites.
/// `carrier`: of this machine.
Kernel kernel_of(const Function& body, RecipeKind kind, std::vector<int> shares = {},
                 const std::string& carrier = "cpu");

/// Random elements in [low, high): the same for the same seed on every machine.
Literal random_literal(const Type& type, unsigned seed, double low = -2, double high = 2);

/// Fails with the first element that differs by more than atol + rtol * |want|; NaN equals NaN.
void expect_close(const Literal& got, const Literal& want, double rtol, double atol,
                  const std::string& what);

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_BACKENDS_KERNEL_RUNNER_H_
