// A Metal device that is none: it gives kernels the functions of Halide's Metal runtime, compiles
// their shaders with the C++ compiler against support/metal/metal_stdlib.h and runs them on the
// CPU. An access beyond an array, of the device's or of a block's memory, ends the process.
#ifndef HEDDLE_TESTS_SUPPORT_METAL_DEVICE_H_
#define HEDDLE_TESTS_SUPPORT_METAL_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::testing::metal {

/// Device memory, filled with 0xFF. An error is a fault.
std::uint64_t allocate(std::size_t bytes);
void release(std::uint64_t memory);
/// What the handle stands for, to be read and written by the host between launches.
std::byte* contents(std::uint64_t memory);
const void* device_interface();
std::size_t live_allocations();

struct Launch {
  std::string name;
  std::size_t blocks = 0;
  int threads = 0, shared_bytes = 0, buffers = 0;
};
/// Since the last call.
std::vector<Launch> take_launches();
/// What was wrong with calls since the last call: one line each.
std::vector<std::string> take_faults();

/// The text of the shaders in a kernel's object file; "" when there is none.
std::string shader_text(const std::vector<std::byte>& object);
/// Compiles modules ahead, two at a time.
void compile_shaders(const std::vector<std::string>& texts);
/// The C++ compiler's complaints about a shader, compiled as strictly as can be: "" when it has
/// none. `compiler`: a clang++ also tells address spaces apart.
std::string complaints(const std::string& shader, const std::string& compiler);

}  // namespace heddle::testing::metal

#endif  // HEDDLE_TESTS_SUPPORT_METAL_DEVICE_H_
