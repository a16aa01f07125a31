// Metal as the device of a plan. In the core's strict dialect: Objective-C is spoken through its C
// functions, which are looked for when first asked for, so that the same source compiles anywhere
// and needs no framework to link.
#ifndef HEDDLE_RUNTIME_DEVICE_METAL_H_
#define HEDDLE_RUNTIME_DEVICE_METAL_H_

#include "heddle/runtime/core/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The system's default GPU with one queue, for this process. Memories are MTLBuffers that the host
   sees too, views are offsets into them; what a run asks for goes into one command buffer. */
extern const hd_device hd_metal_device;

/* "Apple M2", once it is open. */
const char* hd_metal_device_name(void);
/* Memories and views that are not released, kernels' arrays too. */
uint64_t hd_metal_live_memories(void);

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_RUNTIME_DEVICE_METAL_H_
