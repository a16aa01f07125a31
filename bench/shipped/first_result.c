/* From the start of the process to the first result: what bench/shipped.py times, whole. */
#include <stdio.h>

#include "mlp.h"

int main(void) {
  static float x[32 * 784], logits[32 * 10];
  for (int i = 0; i < 32 * 784; ++i) x[i] = (float)(i % 17) / 16.0f;
  mlp_options options = {.size = sizeof options, .threads = 1};
  mlp_t* mlp = mlp_create(&options);
  if (mlp == NULL || mlp_run(mlp, x, logits) != 0) {
    fprintf(stderr, "mlp: %s\n", mlp_error(mlp));
    return 1;
  }
  printf("%g\n", (double)logits[0]);
  mlp_destroy(mlp);
  return 0;
}
