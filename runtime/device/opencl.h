// OpenCL for compiled kernels: memory of a device and its one queue, through a libOpenCL that is
// looked for when first asked for. In the core's strict dialect. The functions kernels call
// (halide_opencl_run ...) are defined beside these.
#ifndef HEDDLE_RUNTIME_DEVICE_OPENCL_H_
#define HEDDLE_RUNTIME_DEVICE_OPENCL_H_

#include <stddef.h>
#include <stdint.h>

namespace hdcore::opencl {

/// Connects this process with the first device that computes: a GPU before others. 0, or why there
/// is none, in `why`; then nothing else here may be called. Any thread, any number of times.
int open(char* why, size_t size);
/// "Portable Computing Language: pthread-AMD EPYC".
const char* device_name();

/// Device memory: 0 when there is none left. `memory` stays the caller's until release().
uint64_t allocate(uint64_t bytes);
void release(uint64_t memory);
/// 0, or OpenCL's error. Blocking: what was queued before is done, and the copy is.
int write(uint64_t memory, uint64_t offset, const void* from, uint64_t bytes);
int read(uint64_t memory, uint64_t offset, void* to, uint64_t bytes);
/// Waits for all launches. The first error since the last call, or 0: kernels do not look at what
/// their launches return, and after an error nothing is launched until this has said so.
int finish();
/// Words of that error: the launch or the build that failed, and OpenCL's number or log.
const char* error_text();

/// What a kernel's buffer says its `device` is of.
const void* device_interface();
uint64_t live_allocations();

}  // namespace hdcore::opencl

#endif  // HEDDLE_RUNTIME_DEVICE_OPENCL_H_
