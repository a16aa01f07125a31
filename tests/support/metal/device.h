// A Metal device that is none: the functions of Objective-C and Metal that runtime/device/metal.cc
// asks for, with objects of its own. Shaders are compiled with the C++ compiler against
// support/metal/metal_stdlib.h and run on the CPU, when the commands they are in are waited for. An
// access beyond a buffer or a block's memory ends the process; a call that a Mac would not take is
// a fault.
#ifndef HEDDLE_TESTS_SUPPORT_METAL_DEVICE_H_
#define HEDDLE_TESTS_SUPPORT_METAL_DEVICE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::testing::metal {

/// What was wrong with calls since the last call of this: one line each.
std::vector<std::string> take_faults();
/// Objects of a kind ("MTLBuffer", "MTLCommandBuffer") that are not released.
int live_objects(const std::string& kind);
/// Command buffers that were committed since the last call of this.
int take_commits();

/// Calls of a method ("newBufferWithLength:options:") since the last call of this for it; for C
/// programs `int metal_on_cpu_calls(const char*)`, and `int metal_on_cpu_faults(void)`, which
/// prints them.
int take_calls(const std::string& method);
/// Memory of an MTLBuffer that a program makes for itself, and its end. It is what
/// newBufferWithLength: gives.
void* new_buffer(std::size_t bytes);
std::byte* contents(void* buffer);
void release_buffer(void* buffer);

/// The next call of this method fails as it can on a Mac: "newBufferWithLength:options:" (no room),
/// "newBufferWithBytesNoCopy:length:options:deallocator:" (likewise),
/// "newLibraryWithSource:options:error:" and "newComputePipelineStateWithFunction:error:" (with
/// `why`), "commit" (the commands end in an error, with `why`).
void fail_next(const std::string& method, const std::string& why = "");
/// There is no GPU, until this is called again.
void set_absent(bool absent);

/// The text of the shaders in a kernel's object file; "" when there is none.
std::string shader_text(const std::vector<std::byte>& object);
/// Compiles modules ahead, two at a time.
void compile_shaders(const std::vector<std::string>& texts);
/// The C++ compiler's complaints about a shader, compiled as strictly as can be: "" when it has
/// none. `compiler`: a clang++ also tells address spaces apart.
std::string complaints(const std::string& shader, const std::string& compiler);

}  // namespace heddle::testing::metal

#endif  // HEDDLE_TESTS_SUPPORT_METAL_DEVICE_H_
