#include <math.h>
#include <stdio.h>

#include "line.h"

int main(void) {
  const float x[5] = {0, 1, 2, 3, 4}, y[5] = {0, 2, 4, 6, 8}, w = 1;
  float loss = -1, slope = -1;
  line_t *line = line_create(NULL);
  if (line == NULL || line_loss(line, x, y, &w, &loss) != 0 || line_slope(line, x, y, &w, &slope) != 0) {
    printf("%s\n", line_error(line));
    return 1;
  }
  line_destroy(line);
  /* mean x^2 = 6: loss (1-2)^2 6, slope 2 (1-2) 6. */
  printf("loss %g slope %g\n", loss, slope);
  return fabsf(loss - 6) < 1e-5f && fabsf(slope + 12) < 1e-4f ? 0 : 1;
}
