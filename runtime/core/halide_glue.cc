// The few functions that Halide's kernels call, on the kernels' side: each goes through the user
// context, so that a library of kernels holds no thread pool, no allocator and no state, and runs
// under whichever core calls it.
#include "heddle/runtime/core/abi.h"
#include "heddle/runtime/core/argsort.h"

namespace {

const hd_services& services(void* context) { return *static_cast<hd_context*>(context)->services; }
const hd_device& device(void* context) { return *static_cast<hd_context*>(context)->device; }

// The device is the context's: what kernels call it by is looked at by nobody.
const char kInterface = 0;

uint64_t bytes_of(const hd_kernel_buffer& b) {
  int64_t last = 0;
  for (int d = 0; d < b.dimensions; ++d) last += int64_t{b.dim[d].extent - 1} * b.dim[d].stride;
  return uint64_t(last + 1) * uint64_t((b.bits + 7) / 8);
}

int launch(void* context, void* module, const char* name, const int32_t (&blocks)[3],
           const int32_t (&threads)[3], int shared_bytes, const void* kinds, void** arguments,
           const int8_t* is_buffer) {
  return device(context).launch(module, name, blocks, threads, shared_bytes, kinds, arguments,
                                is_buffer);
}

}  // namespace

extern "C" {

int halide_do_par_for(void* context, hd_task_fn task, int first, int count, uint8_t* closure) {
  return services(context).do_par_for(context, task, first, count, closure);
}

void* halide_malloc(void* context, size_t bytes) {
  return services(context).allocate(context, bytes);
}

void halide_free(void* context, void* pointer) { services(context).release(context, pointer); }

void halide_error(void* context, const char* text) { services(context).error(context, text); }

// ---- kernels for a device ----

const void* halide_opencl_device_interface() { return &kInterface; }
const void* halide_metal_device_interface() { return &kInterface; }

int halide_opencl_initialize_kernels(void* context, void** module, const char* text, int size) {
  return device(context).load(module, text, size);
}
int halide_metal_initialize_kernels(void* context, void** module, const char* text, int size) {
  return device(context).load(module, text, size);
}
void halide_opencl_finalize_kernels(void*, void*) {}
void halide_metal_finalize_kernels(void*, void*) {}

int halide_opencl_run(void* context, void* module, const char* name, int blocks_x, int blocks_y,
                      int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                      const void* sizes, void** arguments, const int8_t* is_buffer) {
  return launch(context, module, name, {blocks_x, blocks_y, blocks_z},
                {threads_x, threads_y, threads_z}, shared_bytes, sizes, arguments, is_buffer);
}
int halide_metal_run(void* context, void* module, const char* name, int blocks_x, int blocks_y,
                     int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                     const void* types, void** arguments, const int8_t* is_buffer) {
  return launch(context, module, name, {blocks_x, blocks_y, blocks_z},
                {threads_x, threads_y, threads_z}, shared_bytes, types, arguments, is_buffer);
}

int halide_device_malloc(void* context, hd_kernel_buffer* buffer, const void* interface) {
  if (buffer->device) return HD_OK;
  buffer->device = services(context).take_array(context, bytes_of(*buffer));
  buffer->device_interface = interface;
  return buffer->device ? HD_OK : HD_DEVICE_FAILED;
}
int halide_device_free(void* context, hd_kernel_buffer* buffer) {
  if (buffer->device) services(context).give_array(context, buffer->device);
  buffer->device = 0;
  buffer->device_interface = nullptr;
  return HD_OK;
}
void halide_device_free_as_destructor(void* context, void* buffer) {
  halide_device_free(context, static_cast<hd_kernel_buffer*>(buffer));
}
// Arguments are in the device's memory already.
int halide_copy_to_device(void* context, hd_kernel_buffer* buffer, const void* interface) {
  return halide_device_malloc(context, buffer, interface);
}

// ---- sorting ----

// The first `count` places of the stable order of unsigned keys, along axis 0 of `length` keys; as
// an extern stage of Halide.
int hd_argsort(hd_kernel_buffer* keys, int32_t length, int32_t count, hd_kernel_buffer* order,
               hd_kernel_buffer* spare) {
  return hdkernel::sort_stage(keys, length, count, order, spare);
}

}  // extern "C"
