#include <cstring>

#include "support/metal/device.h"
#include "support/test_device.h"

namespace heddle::testing::device {

Target target() {
  Target t = Target::host();
  t.carrier = "metal";
  return t;
}

void prepare(std::span<const KernelObject> objects) {
  std::vector<std::string> shaders;
  for (const KernelObject& o : objects) shaders.push_back(metal::shader_text(o.object));
  metal::compile_shaders(shaders);
}

std::uint64_t allocate(std::size_t bytes) { return metal::allocate(bytes); }
void release(std::uint64_t memory) { metal::release(memory); }
void write(std::uint64_t memory, std::span<const std::byte> bytes) {
  std::memcpy(metal::contents(memory), bytes.data(), bytes.size());
}
std::vector<std::byte> read(std::uint64_t memory, std::size_t bytes) {
  const std::byte* from = metal::contents(memory);
  return {from, from + bytes};
}
const void* interface() { return metal::device_interface(); }
void* context() { return nullptr; }
std::vector<std::string> glue(const std::string&) { return {}; }
std::size_t live_allocations() { return metal::live_allocations(); }
std::vector<std::string> take_faults() { return metal::take_faults(); }

}  // namespace heddle::testing::device
