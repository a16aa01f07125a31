// Where the elements of tiled tensors are: files without a name, or memory when they are small.
#ifndef HEDDLE_BACKENDS_TILED_FILE_H_
#define HEDDLE_BACKENDS_TILED_FILE_H_

#include <cstddef>
#include <string>

#include "heddle/backends/eager/storage_provider.h"

namespace heddle {

/// Tensors of up to `in_memory` bytes are in memory, others in a file in `folder`, all of every
/// dtype, dense and row-major; new ones are zero. RuntimeError with the folder, the tensor's bytes
/// and the system's words. Nothing is mapped: what a program uses of a file is what it reads.
StorageProvider tiled_storage(const std::string& folder, std::size_t in_memory);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_TILED_FILE_H_
