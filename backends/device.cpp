#include "heddle/backends/device.h"

#include "heddle/graph/error.h"
#include "heddle/runtime/device/opencl.h"

namespace heddle {

const hd_device* device_of(const Target& target) {
  if (!target.on_device()) return nullptr;
  if (target.carrier == hd_opencl_device.name) return &hd_opencl_device;
  throw NotAvailableError({.message = "no carrier to run on",
                           .found = "'" + target.carrier + "'",
                           .needed = "cpu or opencl"});
}

const hd_device* find_device(const Target& target) {
  const hd_device* device = device_of(target);
  char why[512] = "";
  if (device != nullptr && device->open(why, sizeof why) != HD_OK) {
    throw NotAvailableError({.message = "carrier " + target.carrier + ": " + why});
  }
  return device;
}

}  // namespace heddle
