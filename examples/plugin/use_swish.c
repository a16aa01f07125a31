/* Uses the exported library alone: no Heddle, no acme, no C++. */
#include <math.h>
#include <stdio.h>

#include "swish.h"

int main(void) {
  const float x[6] = {-3, -0.5f, 0, 0.25f, 2, 7};
  float y, slope[6];
  swish_t* swish = swish_create(NULL);
  if (!swish) return fprintf(stderr, "%s\n", swish_error(NULL)), 1;
  if (swish_total(swish, x, &y) || swish_slope(swish, x, slope)) {
    return fprintf(stderr, "%s\n", swish_error(swish)), 1;
  }
  double want = 0, worst = 0;
  for (int i = 0; i < 6; ++i) {
    const double s = 1 / (1 + exp(-1.5 * x[i]));
    want += x[i] * s;
    worst = fmax(worst, fabs(slope[i] - (s + 1.5 * x[i] * s * (1 - s))));
  }
  printf("exported: the sum is %g, should be %g; largest error of its gradient %.1e\n", y, want,
         worst);
  swish_destroy(swish);
  return fabs(y - want) <= 1e-5 && worst <= 1e-5 ? 0 : 1;
}
