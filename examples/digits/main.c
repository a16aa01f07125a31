/* Trains a network on handwritten digits with nothing but libc and the exported library: digits.h and digits.a. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

enum { PIXELS = 64, SAMPLES = 1797, HELD_OUT = 360, TRAIN = SAMPLES - HELD_OUT, BATCH = 32, EPOCHS = 20 };

static float train_x[TRAIN][PIXELS], test_x[HELD_OUT][PIXELS];
static int32_t train_y[TRAIN], test_y[HELD_OUT];

/* SplitMix64: the same numbers on every machine. */
static uint64_t random_state;
static uint64_t next_random(void) {
  uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static float uniform(float limit) { return ((float)(next_random() >> 40) * 0x1p-23f - 1.0f) * limit; }

static int read_line(FILE *file, float *x, int32_t *y) {
  for (int p = 0; p < PIXELS; ++p) {
    int pixel;
    if (fscanf(file, "%d,", &pixel) != 1 || pixel < 0 || pixel > 16) return 0;
    x[p] = (float)pixel / 16.0f;
  }
  int label;
  if (fscanf(file, "%d", &label) != 1 || label < 0 || label > 9) return 0;
  *y = label;
  return 1;
}

/* Every fifth line is held out. Returns 0 when the file is not what it should be. */
static int read_digits(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  int train = 0, test = 0, good = 1;
  for (int i = 0; i < SAMPLES && good; ++i) {
    if (i % 5 == 0) {
      good = read_line(file, test_x[test], &test_y[test]);
      ++test;
    } else {
      good = read_line(file, train_x[train], &train_y[train]);
      ++train;
    }
  }
  fclose(file);
  return good;
}

static void fill_layer(float *w, int in, int out) {
  const float limit = sqrtf(6.0f / (float)in); /* He et al., for relu */
  for (int i = 0; i < in * out; ++i) w[i] = uniform(limit);
}

static void shuffle(int *order) {
  for (int i = TRAIN - 1; i > 0; --i) {
    const int j = (int)(next_random() % (uint64_t)(i + 1)), swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
  }
}

static double accuracy(digits_t *digits, const float *params, int *failed) {
  static int32_t digit[HELD_OUT];
  *failed = digits_predict(digits, &test_x[0][0], params, digit);
  int right = 0;
  for (int i = 0; i < HELD_OUT; ++i) right += digit[i] == test_y[i];
  return (double)right / HELD_OUT;
}

/* One pass over the shuffled samples; the last, partial batch is dropped. Returns the mean loss, or -1. */
static double train_epoch(digits_t *digits, float *params, float *adam, int *order) {
  static float x[BATCH][PIXELS];
  static int32_t y[BATCH];
  double total = 0;
  int steps = 0;
  shuffle(order);
  for (int first = 0; first + BATCH <= TRAIN; first += BATCH, ++steps) {
    for (int i = 0; i < BATCH; ++i) {
      memcpy(x[i], train_x[order[first + i]], sizeof x[i]);
      y[i] = train_y[order[first + i]];
    }
    float loss;
    if (digits_train_step(digits, &x[0][0], y, params, adam, &loss) != 0) return -1;
    total += loss;
  }
  return total / steps;
}

static int save(const char *path, const float *params) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) return 0;
  const size_t written = fwrite(params, sizeof *params, digits_params_count, file);
  return (fclose(file) == 0) & (written == digits_params_count);
}

static int fail(digits_t *digits, const char *what) {
  fprintf(stderr, "digits: %s: %s\n", what, digits_error(digits));
  digits_destroy(digits);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s digits.csv [seed] [threads] [weights-file]\n", argv[0]);
    return 2;
  }
  if (!read_digits(argv[1])) {
    fprintf(stderr, "digits: %s: not the file of 1,797 digits\n", argv[1]);
    return 1;
  }
  const int seed = argc > 2 ? atoi(argv[2]) : 1;
  digits_options options = {.size = sizeof options, .threads = argc > 3 ? atoi(argv[3]) : 0};
  digits_t *digits = digits_create(&options);
  if (digits == NULL) return fail(NULL, "create");

  static float params[digits_params_count], adam[digits_adam_count]; /* adam: all zero before the first step */
  random_state = (uint64_t)seed;
  fill_layer(params + digits_params_layer1_w, PIXELS, 128);
  fill_layer(params + digits_params_layer2_w, 128, 64);
  fill_layer(params + digits_params_layer3_w, 64, 10);
  int order[TRAIN];
  for (int i = 0; i < TRAIN; ++i) order[i] = i;

  int failed = 0;
  for (int epoch = 1; epoch <= EPOCHS; ++epoch) {
    const double loss = train_epoch(digits, params, adam, order);
    if (loss < 0) return fail(digits, "train_step");
    const double right = accuracy(digits, params, &failed);
    if (failed) return fail(digits, "predict");
    printf("epoch %2d  loss %.6f  accuracy %.2f %%\n", epoch, loss, 100 * right);
  }
  const double right = accuracy(digits, params, &failed);
  if (argc > 4 && !save(argv[4], params)) {
    fprintf(stderr, "digits: cannot write %s\n", argv[4]);
    return 1;
  }
  printf("held-out accuracy: %.2f %% of %d digits (seed %d)\n", 100 * right, HELD_OUT, seed);
  digits_destroy(digits);
  return 0;
}
