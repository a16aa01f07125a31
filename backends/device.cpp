#include "heddle/backends/device.h"

#include "heddle/graph/error.h"
#include "heddle/runtime/device/opencl.h"

namespace heddle {

const hd_device* find_device(const Target& target) {
  if (!target.on_device()) return nullptr;
  if (target.carrier != hd_opencl_device.name) {
    throw NotAvailableError({.message = "no carrier to run on",
                             .found = "'" + target.carrier + "'",
                             .needed = "cpu or opencl"});
  }
  char why[512] = "";
  if (hd_opencl_device.open(why, sizeof why) != HD_OK) {
    throw NotAvailableError({.message = "carrier " + target.carrier + ": " + why});
  }
  return &hd_opencl_device;
}

}  // namespace heddle
