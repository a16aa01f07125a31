// What the compile worker makes of one kernel.
#ifndef HEDDLE_BACKENDS_KERNEL_OBJECT_H_
#define HEDDLE_BACKENDS_KERNEL_OBJECT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

struct KernelObject {
  std::vector<std::byte> object;  ///< a relocatable object file (ELF, Mach-O)
  std::string
      symbol;  ///< int symbol(void **argv): argv[0] the thread context, then one buffer per port
  /// Heap scratch held at once, each allocation rounded up to 64: by the calling thread outside
  /// parallel loops, and by one task.
  std::int64_t scratch_once = 0, scratch_task = 0;
  // Of a device's kernel; 0 else.
  std::int64_t launches = 0;
  std::int64_t threads = 0;       ///< of the largest block
  std::int64_t shared_bytes = 0;  ///< of the block that has most
  std::int64_t device_bytes = 0;  ///< of the arrays between launches, each rounded up to 512
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_KERNEL_OBJECT_H_
