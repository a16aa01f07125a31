#include <cstdlib>

#include "heddle/backends/artifact/embedded.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/graph/error.h"
#include "heddle/runtime/device/opencl.h"
#include "support/test_device.h"

namespace heddle::testing::device {
namespace {

const hd_device& device = hd_opencl_device;

// One run of its own.
template <class Work>
void run(Work work) {
  char why[1024] = "";
  device.begin();
  work();
  const int status = device.wait(why, sizeof why);
  device.end();
  if (status != HD_OK) throw RuntimeError({.message = why});
}

}  // namespace

Target target() {
  Target t = Target::host();
  t.carrier = "opencl";
  return t;
}

void prepare(std::span<const KernelObject>) {
  ::setenv("POCL_CACHE_DIR", HEDDLE_BINARY_DIR "/test-shaders/pocl", 0);  // not the user's
  char why[512];
  if (device.open(why, sizeof why) != HD_OK) throw NotAvailableError({.message = why});
}

std::uint64_t allocate(std::size_t bytes) {
  const hd_memory memory = device.allocate(bytes);
  if (memory == 0) throw RuntimeError({.message = "no device memory left"});
  return memory;
}
void release(std::uint64_t memory) { device.release(memory); }
void write(std::uint64_t memory, std::span<const std::byte> bytes) {
  run([&] { device.write(memory, 0, bytes.data(), bytes.size()); });
}
std::vector<std::byte> read(std::uint64_t memory, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  run([&] { device.read(memory, 0, result.data(), bytes); });
  return result;
}
const void* interface() { return &device; }

void* context() {
  // Of arrays between launches kernels ask for the host's side, which has no bytes.
  static const hd_services services = {nullptr,
                                       [](void*, std::size_t bytes) -> void* {
                                         if (bytes != 0) std::abort();
                                         return nullptr;
                                       },
                                       [](void*, void*) {}, nullptr};
  static hd_context context = {&services, &device};
  return &context;
}
std::vector<std::string> glue(const std::string& folder) {
  put_file(folder, "glue.o", glue_object());
  return {folder + "/glue.o"};
}
std::size_t live_allocations() { return hd_opencl_live_memories(); }
std::vector<std::string> take_faults() {
  char why[1024] = "";
  if (device.wait(why, sizeof why) == HD_OK) return {};
  return {why};
}

}  // namespace heddle::testing::device
