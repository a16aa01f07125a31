// Compiles kernels for the test device (support/test_device.h) through the worker and runs them
// there.
#ifndef HEDDLE_TESTS_GPU_DEVICE_RUNNER_H_
#define HEDDLE_TESTS_GPU_DEVICE_RUNNER_H_

#include <span>
#include <string>
#include <vector>

#include "backends/cases.h"

namespace heddle::testing {

class DeviceRunner {
 public:
  explicit DeviceRunner(std::vector<Kernel> kernels);
  ~DeviceRunner();
  DeviceRunner(const DeviceRunner&) = delete;
  DeviceRunner& operator=(const DeviceRunner&) = delete;

  /// Outputs in order; a shared one starts as a copy of its input. Fails the test when the kernel
  /// returns an error, when the device finds a fault, or when device memory is left.
  std::vector<Literal> run(std::size_t kernel, std::span<const Literal> inputs);

  const KernelObject& object(std::size_t kernel) const { return objects_[kernel]; }

 private:
  std::vector<Kernel> kernels_;
  std::vector<KernelObject> objects_;
  TemporaryFolder folder_;
  void* library_ = nullptr;
};

/// Results agree with the interpreter, on random inputs. Cases of more than `most` elements in an
/// input are left out: here every thread takes its turn. On opencl, whose kernels are the same
/// schedules in another language and slow to compile, each body runs with two of its sizes.
void check_on_device(std::vector<KernelCase> cases, std::int64_t most = 70000);

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_GPU_DEVICE_RUNNER_H_
