// From a kernel to an object file.
#ifndef HEDDLE_BACKENDS_HALIDE_BUILD_H_
#define HEDDLE_BACKENDS_HALIDE_BUILD_H_

#include <string>

#include "heddle/schedule/kernel.h"

namespace heddle::halide {

/// What the caller of a kernel must know beside its object.
struct KernelFacts {
  std::string symbol;             ///< the entry: int symbol(void **argv)
  std::int64_t scratch_once = 0;  ///< bytes the calling thread holds at most, outside tasks
  std::int64_t scratch_task = 0;  ///< bytes one task of a parallel loop holds at most
  // On a device.
  int launches = 0;
  std::int64_t threads = 0;       ///< of the largest block
  std::int64_t shared_bytes = 0;  ///< of the block that has most
  std::int64_t device_bytes = 0;  ///< of all arrays between launches, each rounded up to 512
};

/// Writes the object. One kernel per process: names would be counted up otherwise, and the bytes
/// differ. `checked`: with Halide's own checks of regions and layouts, for tests. Throws
/// CompileError, or Halide::Error.
KernelFacts compile_kernel(const Kernel& kernel, const std::string& object_path, bool checked);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_BUILD_H_
