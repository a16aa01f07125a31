// The device that a test program's kernels run on: each program links with one
// (gpu/metal_device.cpp, opencl/opencl_device.cpp).
#ifndef HEDDLE_TESTS_SUPPORT_TEST_DEVICE_H_
#define HEDDLE_TESTS_SUPPORT_TEST_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heddle/backends/kernel_object.h"
#include "heddle/runtime/core/abi.h"
#include "heddle/schedule/target.h"

namespace heddle::testing::device {

/// What plans take it for.
const hd_device& plan_device();
/// This machine's, with the device's carrier.
Target target();
/// Opens it, and does whatever makes the first launches of the kernels quick. NotAvailableError
/// when there is none.
void prepare(std::span<const KernelObject> objects);

std::uint64_t allocate(std::size_t bytes);
void release(std::uint64_t memory);
void write(std::uint64_t memory, std::span<const std::byte> bytes);
std::vector<std::byte> read(std::uint64_t memory, std::size_t bytes);
const void* interface();
/// What kernels get as their user context, and the objects (written into `folder`, named with it)
/// that they are linked with.
void* context();
std::vector<std::string> glue(const std::string& folder);
/// What the linker of a C program gets beside an exported library, so that the device is there.
std::vector<std::string> libraries();
std::size_t live_allocations();
/// Waits for what was launched; what was wrong with it since the last call, one line each.
std::vector<std::string> take_faults();

}  // namespace heddle::testing::device

#endif  // HEDDLE_TESTS_SUPPORT_TEST_DEVICE_H_
