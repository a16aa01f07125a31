#include <cstdlib>

#include "heddle/graph/error.h"
#include "heddle/runtime/device/opencl.h"
#include "support/test_device.h"

namespace heddle::testing::device {
namespace {

namespace opencl = hdcore::opencl;

void check(int error, const char* what) {
  if (error != 0) {
    throw RuntimeError({.message = std::string(what) + ": OpenCL error " + std::to_string(error)});
  }
}

}  // namespace

Target target() {
  Target t = Target::host();
  t.carrier = "opencl";
  return t;
}

void prepare(std::span<const KernelObject>) {
  ::setenv("POCL_CACHE_DIR", HEDDLE_BINARY_DIR "/test-shaders/pocl", 0);  // not the user's
  char why[256];
  if (opencl::open(why, sizeof why) != 0) throw NotAvailableError({.message = why});
}

std::uint64_t allocate(std::size_t bytes) {
  const std::uint64_t memory = opencl::allocate(bytes);
  if (memory == 0) throw RuntimeError({.message = "no device memory left"});
  return memory;
}
void release(std::uint64_t memory) { opencl::release(memory); }
void write(std::uint64_t memory, std::span<const std::byte> bytes) {
  check(opencl::write(memory, 0, bytes.data(), bytes.size()), "writing");
}
std::vector<std::byte> read(std::uint64_t memory, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  check(opencl::read(memory, 0, result.data(), bytes), "reading");
  return result;
}
const void* interface() { return opencl::device_interface(); }
std::size_t live_allocations() { return opencl::live_allocations(); }
std::vector<std::string> take_faults() {
  if (opencl::finish() == 0) return {};
  return {opencl::error_text()};
}

}  // namespace heddle::testing::device
