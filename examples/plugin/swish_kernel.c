#include "swish_kernel.h"

#include <math.h>

#include "heddle/runtime/kernel.h"

static int calls;

int acme_swish_beta(const float* x, float beta, float* y, size_t count) {
  ++calls;
  for (size_t i = 0; i < count; ++i) y[i] = x[i] / (1 + expf(-beta * x[i]));
  return 0;
}

/* The same for compiled programs. Ports: x, beta, y. */
int acme_swish_beta_compiled(void** argv) {
  const float beta = (float)hd_kernel_number(argv, 1);
  return acme_swish_beta(hd_kernel_data(argv, 0), beta, hd_kernel_data(argv, 2),
                         (size_t)hd_kernel_elements(argv, 0));
}

int acme_swish_beta_calls(void) { return calls; }
