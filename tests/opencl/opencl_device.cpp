#include <cstdlib>

#include "heddle/graph/error.h"
#include "heddle/runtime/device/opencl.h"
#include "support/test_device.h"

namespace heddle::testing::device {

const hd_device& plan_device() { return hd_opencl_device; }

void prepare(std::span<const KernelObject>) {
  ::setenv("POCL_CACHE_DIR", HEDDLE_BINARY_DIR "/test-shaders/pocl", 0);  // not the user's
  // Work-groups as loops that nobody turns into vectors: a quarter less to compile.
  ::setenv("POCL_WORK_GROUP_METHOD", "loops", 0);
  char why[512];
  if (hd_opencl_device.open(why, sizeof why) != HD_OK) throw NotAvailableError({.message = why});
}

std::vector<std::string> libraries() { return {}; }
std::size_t live_allocations() { return hd_opencl_live_memories(); }
std::vector<std::string> take_faults() {
  char why[1024] = "";
  if (hd_opencl_device.wait(why, sizeof why) == HD_OK) return {};
  return {why};
}

}  // namespace heddle::testing::device
