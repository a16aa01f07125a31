// Kernels linked for this process, from the cache when they were linked before.
#ifndef HEDDLE_BACKENDS_LINKED_H_
#define HEDDLE_BACKENDS_LINKED_H_

#include <cstddef>
#include <vector>

#include "heddle/backends/cache.h"
#include "heddle/backends/kernel_object.h"

namespace heddle {

/// The bytes of a shared object with every kernel's symbol. CompileError with the linker's text.
std::vector<std::byte> linked(const std::vector<KernelObject>& objects, const Cache& cache);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_LINKED_H_
