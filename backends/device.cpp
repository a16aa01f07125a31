#include "heddle/backends/device.h"

#include "heddle/graph/error.h"
#include "heddle/runtime/device/metal.h"
#include "heddle/runtime/device/opencl.h"

namespace heddle {

const hd_device* device_of(const Target& target) {
  if (!target.on_device()) return nullptr;
  for (const hd_device* device : {&hd_opencl_device, &hd_metal_device}) {
    if (target.carrier == device->name) return device;
  }
  throw NotAvailableError({.message = "no carrier to run on",
                           .found = "'" + target.carrier + "'",
                           .needed = "cpu, opencl or metal"});
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
