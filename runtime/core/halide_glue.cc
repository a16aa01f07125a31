// The few functions that Halide's kernels call, on the kernels' side: each goes through the user
// context, so that a library of kernels holds no thread pool, no allocator and no state, and runs
// under whichever core calls it.
#include "heddle/runtime/core/abi.h"

namespace {
const hd_services& services(void* context) { return *static_cast<hd_context*>(context)->services; }
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

}  // extern "C"
