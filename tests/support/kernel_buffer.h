// A kernel's argument, as Halide's runtime header lays it out.
#ifndef HEDDLE_TESTS_SUPPORT_KERNEL_BUFFER_H_
#define HEDDLE_TESTS_SUPPORT_KERNEL_BUFFER_H_

#include <cstdint>

#include "heddle/runtime/dtype.h"

namespace heddle::testing {

struct BufferDimension {
  std::int32_t min = 0, extent = 0, stride = 0;
  std::uint32_t flags = 0;
};
struct BufferType {
  std::uint8_t code = 0, bits = 0;
  std::uint16_t lanes = 1;
};
struct Buffer {
  static constexpr std::uint64_t kHostDirty = 1, kDeviceDirty = 2;

  std::uint64_t device = 0;
  const void* interface = nullptr;
  std::uint8_t* host = nullptr;
  std::uint64_t flags = 0;
  BufferType type;
  std::int32_t dimensions = 0;
  BufferDimension* dim = nullptr;
  void* padding = nullptr;
};
static_assert(sizeof(Buffer) == 56);

inline BufferType buffer_type(DType d) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(d));
  if (bits == 16 && is_floating(d)) return {1, bits, 1};  // bits to a kernel
  if (is_floating(d)) return {2, bits, 1};
  return {static_cast<std::uint8_t>(d == DType::boolean || !is_signed(d) ? 1 : 0), bits, 1};
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_SUPPORT_KERNEL_BUFFER_H_
