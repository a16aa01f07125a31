// Devices of this machine, by the carrier whose kernels run on them.
#ifndef HEDDLE_BACKENDS_DEVICE_H_
#define HEDDLE_BACKENDS_DEVICE_H_

#include "heddle/runtime/core/abi.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// The target's, which need not be on this machine; null for the cpu. NotAvailableError for a
/// carrier without one.
const hd_device* device_of(const Target& target);
/// The target's, opened; null for the cpu. NotAvailableError says what to install, or which
/// carriers this machine runs.
const hd_device* find_device(const Target& target);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_DEVICE_H_
