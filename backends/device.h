// Devices of this machine, by the carrier whose kernels run on them.
#ifndef HEDDLE_BACKENDS_DEVICE_H_
#define HEDDLE_BACKENDS_DEVICE_H_

#include "heddle/runtime/core/abi.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// The target's, opened; null for the cpu. NotAvailableError says what to install, or which
/// carriers this machine runs.
const hd_device* find_device(const Target& target);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_DEVICE_H_
