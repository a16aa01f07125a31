#include "support/test_device.h"

#include <cstdlib>

#include "heddle/backends/artifact/embedded.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/graph/error.h"

namespace heddle::testing::device {
namespace {

// One run of its own.
template <class Work>
void run(Work work) {
  char why[1024] = "";
  plan_device().begin();
  work();
  const int status = plan_device().wait(why, sizeof why);
  plan_device().end();
  if (status != HD_OK) throw RuntimeError({.message = why});
}

}  // namespace

Target target() {
  Target t = Target::host();
  t.carrier = plan_device().name;
  return t;
}

std::uint64_t allocate(std::size_t bytes) {
  const hd_memory memory = plan_device().allocate(bytes);
  if (memory == 0) throw RuntimeError({.message = "no device memory left"});
  return memory;
}
void release(std::uint64_t memory) { plan_device().release(memory); }
void write(std::uint64_t memory, std::span<const std::byte> bytes) {
  run([&] { plan_device().write(memory, 0, bytes.data(), bytes.size()); });
}
std::vector<std::byte> read(std::uint64_t memory, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  run([&] { plan_device().read(memory, 0, result.data(), bytes); });
  return result;
}
const void* interface() { return &plan_device(); }

void* context() {
  // Of arrays between launches kernels ask for the host's side, which has no bytes.
  static const hd_services services = {nullptr,
                                       [](void*, std::size_t bytes) -> void* {
                                         if (bytes != 0) std::abort();
                                         return nullptr;
                                       },
                                       [](void*, void*) {},
                                       nullptr,
                                       [](void*, std::uint64_t bytes) { return allocate(bytes); },
                                       [](void*, hd_memory array) { release(array); }};
  static hd_context context = {&services, &plan_device()};
  return &context;
}
std::vector<std::string> glue(const std::string& folder) {
  put_file(folder, "glue.o", glue_object());
  return {folder + "/glue.o"};
}

}  // namespace heddle::testing::device
