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

// A buffer of an extern stage without memory asks which region is wanted.
bool is_question(const hd_kernel_buffer* b) { return !b->host && !b->device; }

void ask_for_fibres(hd_kernel_buffer* keys, const hd_kernel_buffer* order, int32_t length) {
  keys->dim[0].min = 0;
  keys->dim[0].extent = length;
  for (int a = 1; a < order->dimensions; ++a) {
    keys->dim[a].min = order->dim[a].min;
    keys->dim[a].extent = order->dim[a].extent;
  }
}

uint8_t* row(const hd_kernel_buffer* b, int axis, int32_t place) {
  const hd_kernel_dimension& d = b->dim[axis];
  return b->host + int64_t{place - d.min} * d.stride * ((b->bits + 7) / 8);
}

// Axis by axis from the outermost one; axis 0 is the fibre.
template <class Key>
void sort_axes(hd_kernel_buffer keys, int32_t count, hd_kernel_buffer order, hd_kernel_buffer spare,
               int axis) {
  if (axis == 0) {
    return hdkernel::sort_fibre(reinterpret_cast<const Key*>(keys.host), keys.dim[0].extent, count,
                                reinterpret_cast<int32_t*>(order.host),
                                reinterpret_cast<int32_t*>(spare.host));
  }
  hd_kernel_buffer k = keys, o = order, s = spare;
  for (int32_t i = 0; i < order.dim[axis].extent; ++i) {
    const int32_t place = order.dim[axis].min + i;
    k.host = row(&keys, axis, place), o.host = row(&order, axis, place);
    s.host = row(&spare, axis, place);
    sort_axes<Key>(k, count, o, s, axis - 1);
  }
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
  buffer->device = device(context).allocate_array(bytes_of(*buffer));
  buffer->device_interface = interface;
  return buffer->device ? HD_OK : HD_DEVICE_FAILED;
}
int halide_device_free(void* context, hd_kernel_buffer* buffer) {
  if (buffer->device) device(context).release(buffer->device);
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
// The first `count` places of the stable order of unsigned keys, along axis 0 of `length` keys; as
// an extern stage of Halide.
int hd_argsort(hd_kernel_buffer* keys, int32_t length, int32_t count, hd_kernel_buffer* order,
               hd_kernel_buffer* spare) {
  if (is_question(keys) || is_question(order)) {
    ask_for_fibres(keys, order, length);
    return 0;
  }
  const int last = order->dimensions - 1;
  if (keys->bits == 8) sort_axes<uint8_t>(*keys, count, *order, *spare, last);
  if (keys->bits == 16) sort_axes<uint16_t>(*keys, count, *order, *spare, last);
  if (keys->bits == 32) sort_axes<uint32_t>(*keys, count, *order, *spare, last);
  if (keys->bits == 64) sort_axes<uint64_t>(*keys, count, *order, *spare, last);
  return 0;
}

}  // extern "C"
