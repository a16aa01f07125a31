// OpenCL as the device of a plan, through a libOpenCL that is looked for when first asked for. In
// the core's strict dialect.
#ifndef HEDDLE_RUNTIME_DEVICE_OPENCL_H_
#define HEDDLE_RUNTIME_DEVICE_OPENCL_H_

#include "heddle/runtime/core/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first device that computes, a GPU before others, with one queue, for this process. Memories
   are cl_mem, views are sub-buffers. */
extern const hd_device hd_opencl_device;

/* "Portable Computing Language: pthread-AMD EPYC", once it is open. */
const char* hd_opencl_device_name(void);
/* Memories and views that are not released. */
uint64_t hd_opencl_live_memories(void);

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_RUNTIME_DEVICE_OPENCL_H_
