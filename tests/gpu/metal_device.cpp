#include "heddle/graph/error.h"
#include "heddle/runtime/device/metal.h"
#include "support/metal/device.h"
#include "support/test_device.h"

namespace heddle::testing::device {

const hd_device& plan_device() { return hd_metal_device; }

void prepare(std::span<const KernelObject> objects) {
  std::vector<std::string> shaders;
  for (const KernelObject& o : objects) shaders.push_back(metal::shader_text(o.object));
  metal::compile_shaders(shaders);
  char why[512];
  if (hd_metal_device.open(why, sizeof why) != HD_OK) throw NotAvailableError({.message = why});
}

std::vector<std::string> libraries() {
  const std::string library = HEDDLE_METAL_ON_CPU;
  return {"-Wl,--no-as-needed", library, "-Wl,-rpath," + library.substr(0, library.rfind('/'))};
}
std::size_t live_allocations() { return hd_metal_live_memories(); }
std::vector<std::string> take_faults() {
  char why[1024] = "";
  const int status = hd_metal_device.wait(why, sizeof why);
  std::vector<std::string> faults = metal::take_faults();
  if (status != HD_OK) faults.emplace_back(why);
  return faults;
}

}  // namespace heddle::testing::device
