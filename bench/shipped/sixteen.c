/* Nanoseconds of a call of y = a x + b on 16 floats: of the library, and of a function written by
 * hand in another file. */
#define _POSIX_C_SOURCE 199309L
#include "sixteen.h"

#include <stdio.h>
#include <time.h>

void by_hand(const float* a, const float* x, const float* b, float* y);

static float a[16], x[16], b[16], y[16];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The best of 200 groups of 10000 calls. */
#define BEST_OF(call)                              \
  do {                                             \
    for (int group = 0; group < 200; ++group) {    \
      const double start = now();                  \
      for (int i = 0; i < 10000; ++i) call;        \
      const double each = (now() - start) / 10000; \
      if (group == 0 || each < best) best = each;  \
    }                                              \
  } while (0)

int main(void) {
  for (int i = 0; i < 16; ++i) a[i] = (float)i, x[i] = 0.5f, b[i] = 1.0f;
  sixteen_options options = {.size = sizeof options, .threads = 1};
  sixteen_t* sixteen = sixteen_create(&options);
  if (sixteen == NULL || sixteen_run(sixteen, a, x, b, y) != 0) return 1;
  for (int i = 0; i < 16; ++i) {
    if (y[i] != 0.5f * (float)i + 1.0f) return 1;
  }
  double best = 0;
  BEST_OF(sixteen_run(sixteen, a, x, b, y));
  printf("%g ", best);
  BEST_OF(by_hand(a, x, b, y));
  printf("%g\n", best);
  sixteen_destroy(sixteen);
  return 0;
}
