#include "swish_kernel.h"

#include <math.h>

static int calls;

int acme_swish_beta(const float* x, float beta, float* y, size_t count) {
  ++calls;
  for (size_t i = 0; i < count; ++i) y[i] = x[i] / (1 + expf(-beta * x[i]));
  return 0;
}

int acme_swish_beta_calls(void) { return calls; }
