/* Inputs for the digits library that need no file. */
#ifndef INPUTS_H_
#define INPUTS_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

static float batch_x[32 * 64], all_x[360 * 64], params[digits_params_count], adam[digits_adam_count];
static int32_t batch_y[32], digit[360];

static void fill_inputs(void) {
  for (int i = 0; i < 360 * 64; ++i) all_x[i] = (float)(i * 31 % 17) / 16.0f;
  memcpy(batch_x, all_x, sizeof batch_x);
  for (int i = 0; i < 32; ++i) batch_y[i] = i % 10;
  for (int i = 0; i < digits_params_count; ++i) params[i] = (float)((i * 7919) % 1000 - 500) / 5000.0f;
  memset(adam, 0, sizeof adam);
}

#define REQUIRE(condition, ...)         \
  do {                                  \
    if (!(condition)) {                 \
      fprintf(stderr, __VA_ARGS__);     \
      fprintf(stderr, "\n%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                          \
    }                                   \
  } while (0)

#endif
