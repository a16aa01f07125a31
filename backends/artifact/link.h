// Links kernels into a shared object for this process. No compiler runs: only the linker.
#ifndef HEDDLE_BACKENDS_ARTIFACT_LINK_H_
#define HEDDLE_BACKENDS_ARTIFACT_LINK_H_

#include <cstddef>
#include <span>
#include <vector>

#include "heddle/backends/kernel_object.h"

namespace heddle {

/// The bytes of a shared object that exports each kernel's symbol and nothing else. Objects of
/// equal symbol stand in it once. The same objects give the same bytes. CompileError with the
/// linker's text.
std::vector<std::byte> link_kernels(std::span<const KernelObject> objects);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_LINK_H_
