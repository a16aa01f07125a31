#ifndef ACME_SWISH_KERNEL_H_
#define ACME_SWISH_KERNEL_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* y[i] = x[i] / (1 + exp(-beta x[i])). Returns 0. */
int acme_swish_beta(const float* x, float beta, float* y, size_t count);
/* How often it was called. */
int acme_swish_beta_calls(void);

#ifdef __cplusplus
}
#endif

#endif /* ACME_SWISH_KERNEL_H_ */
