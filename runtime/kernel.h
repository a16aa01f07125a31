/* For kernels from outside that compiled programs call: one C function per kernel, in an object
   file of its own.

     #include "heddle/runtime/kernel.h"
     int acme_square(void** argv) {
       const float* x = hd_kernel_data(argv, 0);
       float* y = hd_kernel_data(argv, 1);
       for (int64_t i = 0; i < hd_kernel_elements(argv, 0); ++i) y[i] = x[i] * x[i];
       return 0;
     }

   Ports in order: the tensor operands, the options and the operands that are no tensors in the
   order of their names, the results. All are dense and row-major; a result overlaps nothing. Not 0:
   the kernel failed, and so does the run. It may be called by any thread. */
#ifndef HEDDLE_RUNTIME_KERNEL_H_
#define HEDDLE_RUNTIME_KERNEL_H_

#include "heddle/runtime/core/abi.h"

static inline const hd_kernel_buffer* hd_kernel_port(void** argv, int port) {
  return (const hd_kernel_buffer*)argv[1 + port];
}
static inline void* hd_kernel_data(void** argv, int port) {
  return hd_kernel_port(argv, port)->host;
}
static inline int hd_kernel_rank(void** argv, int port) {
  return hd_kernel_port(argv, port)->dimensions;
}
/* axis 0 is the outermost */
static inline int64_t hd_kernel_extent(void** argv, int port, int axis) {
  const hd_kernel_buffer* b = hd_kernel_port(argv, port);
  return b->dim[b->dimensions - 1 - axis].extent;
}
static inline int64_t hd_kernel_elements(void** argv, int port) {
  int64_t elements = 1;
  for (int a = 0; a < hd_kernel_rank(argv, port); ++a) elements *= hd_kernel_extent(argv, port, a);
  return elements;
}
/* The value of an option that is one number: an i64, an f64 or a flag. */
static inline double hd_kernel_number(void** argv, int port) {
  const hd_kernel_buffer* b = hd_kernel_port(argv, port);
  if (b->bits == 64 && b->code == 2) return *(const double*)(const void*)b->host;
  if (b->bits == 64) return (double)*(const int64_t*)(const void*)b->host;
  return *b->host;
}

#endif /* HEDDLE_RUNTIME_KERNEL_H_ */
