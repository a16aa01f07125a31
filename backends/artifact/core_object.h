// The runtime's core, compiled for a target.
#ifndef HEDDLE_BACKENDS_ARTIFACT_CORE_OBJECT_H_
#define HEDDLE_BACKENDS_ARTIFACT_CORE_OBJECT_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "heddle/backends/artifact/machine_tools.h"

namespace heddle {

/// Returns what is kept under `key`, or what `make` makes, kept from then on. The compiler's disk
/// cache has this form.
using Cached = std::function<std::vector<std::byte>(
    const std::string& key, const std::function<std::vector<std::byte>()>& make)>;

/// Core and glue in one object each, compiled at first use per compiler and machine.
std::vector<std::byte> core_object(const MachineTools& tools, const Cached& cached);
/// The functions of a device ("opencl", "metal") beside the core.
std::vector<std::byte> device_object(const MachineTools& tools, const std::string& device,
                                     const Cached& cached);
std::vector<std::byte> glue_object_for(const MachineTools& tools, const Cached& cached);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_CORE_OBJECT_H_
