// The carriers "opencl" and "metal": tensors in the memory of a device, and compiled kernels that
// run there.
//
//   hd::Tensor x = hd::tensor({1, 2, 3, 4}, {2, 2}, {.carrier = "opencl"});
//   hd::Tensor y = hd::on(hd::softmax(x), "cpu");
#ifndef HEDDLE_BACKENDS_ON_DEVICE_CARRIER_H_
#define HEDDLE_BACKENDS_ON_DEVICE_CARRIER_H_

#include "heddle/backends/eager/storage.h"

namespace heddle {

/// A call is one compiled program, and so is the gradient of one: its operands are there, and its
/// results stay there. Kernels know their extents: a call on other extents compiles its own, once,
/// and keeps it on disk. UnsupportedOperationPlan for dtypes that the carrier has not, for calls
/// that change operands, and for plans whose accumulation is sequential.
///
/// It is there whether the machine has a device or not; the first tensor on it opens the device,
/// and is a NotAvailableError, which says what to install, without one. RuntimeError with the
/// device's words when it has no room, or fails; results are dropped then, and operands are as
/// before.
const Carrier& opencl_carrier();
const Carrier& metal_carrier();

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ON_DEVICE_CARRIER_H_
