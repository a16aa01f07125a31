// NumPy's .npy and .npz files: what the command line reads tensors from and writes results to.
#ifndef HEDDLE_RUNTIME_NPY_H_
#define HEDDLE_RUNTIME_NPY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heddle/runtime/dtype.h"

namespace heddle {

/// A file that is not what it should be, or cannot be read or written; what() names it and the
/// reason.
class NpyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Dense, row-major.
struct NpyArray {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
  bool operator==(const NpyArray&) const = default;
};

using NpyArrays = std::vector<std::pair<std::string, NpyArray>>;  ///< name (without ".npy") and
                                                                  ///< array, in the file's order

/// Versions 1 to 3, little-endian. Refused with a reason: Fortran order (above one axis),
/// big-endian, dtypes that are none of Heddle's (NumPy has no bf16), sizes that do not agree. Safe
/// for any bytes.
NpyArray decode_npy(std::span<const std::byte> bytes);
std::vector<std::byte> encode_npy(const NpyArray& array);

/// Stored and deflated entries. Every size and checksum is verified.
NpyArrays decode_npz(std::span<const std::byte> bytes);
/// Stored entries without dates: the same arrays give the same bytes.
std::vector<std::byte> encode_npz(const NpyArrays& arrays);

/// The same for files; errors begin with the path. Written as write_whole_file does.
NpyArray read_npy(const std::string& path);
NpyArrays read_npz(const std::string& path);
void write_npy(const std::string& path, const NpyArray& array);
void write_npz(const std::string& path, const NpyArrays& arrays);

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_NPY_H_
