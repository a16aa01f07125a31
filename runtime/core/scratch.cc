// Kernels' temporary memory: a stack per thread inside the workspace. Kernels free in nested order,
// but may free an outer block early; its place comes back when everything above it is gone, which
// is what the compiler's bound assumes.
#include "heddle/runtime/core/core.h"

extern "C" {
int posix_memalign(void** pointer, size_t alignment, size_t bytes);
void free(void* pointer);
[[noreturn]] void abort(void);
}

namespace hdcore {
namespace {

// Reached when a kernel needs more than its table says. The kernel cannot be told (it does not test
// for null), so it gets memory that is not part of the workspace; unless that is allowed, the run
// fails.
void* allocate_outside(Context& context, size_t bytes) {
  void* pointer = nullptr;
  if (posix_memalign(&pointer, HD_ALIGNMENT, round_up(bytes) + HD_ALIGNMENT) != 0) abort();
  if (!(context.instance->options.flags & HD_HEAP_SCRATCH))
    __atomic_store_n(&context.instance->kernel_status, HD_KERNEL_FAILED, __ATOMIC_RELAXED);
  return pointer;
}

void report(void* user_context, const char*) {
  Context& context = *static_cast<Context*>(user_context);
  __atomic_store_n(&context.instance->kernel_status, HD_KERNEL_FAILED, __ATOMIC_RELAXED);
}

}  // namespace

void* allocate_scratch(void* user_context, size_t bytes) {
  Context& context = *static_cast<Context*>(user_context);
  // Of arrays on a device kernels ask for the host's side, which has no bytes.
  if (!bytes && context.head.device) return nullptr;
  const uint64_t size = round_up(bytes ? bytes : 1);
  if (context.n_blocks == kMaxBlocks || size > context.capacity - context.used) {
    return allocate_outside(context, bytes);
  }
  context.block[context.n_blocks++] = context.used;
  void* pointer = context.base + context.used;
  context.used += size;
  return pointer;
}

void release_scratch(void* user_context, void* pointer) {
  Context& context = *static_cast<Context*>(user_context);
  uint8_t* const address = static_cast<uint8_t*>(pointer);
  if (!pointer) return;
  if (address < context.base || address >= context.base + context.capacity) {
    free(pointer);
    return;
  }
  const uint64_t offset = static_cast<uint64_t>(address - context.base);
  for (int i = context.n_blocks; i-- > 0;) {
    if (context.block[i] == offset) context.block[i] |= 1;
  }
  while (context.n_blocks && context.block[context.n_blocks - 1] & 1) {
    context.used = context.block[--context.n_blocks] & ~uint64_t{1};
  }
}

const hd_services kServices = {do_par_for, allocate_scratch, release_scratch,
                               report,     take_array,       give_array};

}  // namespace hdcore
