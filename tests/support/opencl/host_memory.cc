// Arrays between launches have no memory on the host, which kernels ask for all the same.
#include <stddef.h>

extern "C" {
void* halide_malloc(void*, size_t bytes);
void halide_free(void*, void*);

void* halide_malloc(void*, size_t bytes) {
  if (bytes != 0) __builtin_trap();
  return nullptr;
}
void halide_free(void*, void*) {}
}
