/* Kernels from outside, as compiled programs call them. */
#include "heddle/runtime/kernel.h"

/* y = scale x + sum(offsets) + (flag ? 1000 : 0) + letters; ports: x, flag, offsets, scale, word */
int tests_affine(void** argv) {
  const float* x = hd_kernel_data(argv, 0);
  const int64_t* offsets = hd_kernel_data(argv, 2);
  double shift = hd_kernel_number(argv, 1) ? 1000 : 0;
  for (int64_t i = 0; i < hd_kernel_elements(argv, 2); ++i) shift += (double)offsets[i];
  shift += (double)hd_kernel_elements(argv, 4);
  float* y = hd_kernel_data(argv, 5);
  for (int64_t i = 0; i < hd_kernel_elements(argv, 5); ++i) {
    y[i] = (float)(hd_kernel_number(argv, 3) * x[i] + shift);
  }
  return 0;
}

/* Of a matrix and another: the first's row sums, and twice the second. */
int tests_two_results(void** argv) {
  const float *x = hd_kernel_data(argv, 0), *y = hd_kernel_data(argv, 1);
  float *sums = hd_kernel_data(argv, 2), *twice = hd_kernel_data(argv, 3);
  const int64_t rows = hd_kernel_extent(argv, 0, 0), columns = hd_kernel_extent(argv, 0, 1);
  if (hd_kernel_rank(argv, 0) != 2) return 1;
  for (int64_t r = 0; r < rows; ++r) {
    sums[r] = 0;
    for (int64_t c = 0; c < columns; ++c) sums[r] += x[r * columns + c];
  }
  for (int64_t i = 0; i < rows * columns; ++i) twice[i] = 2 * y[i];
  return 0;
}

/* Not a hyperbolic tangent: whoever calls it shows that it did. */
int tests_seven(void** argv) {
  float* y = hd_kernel_data(argv, 1);
  for (int64_t i = 0; i < hd_kernel_elements(argv, 1); ++i) y[i] = 7;
  return 0;
}

int tests_failing(void** argv) { return argv == 0 ? 0 : 3; }
