/* One and two threads give the same bits, the self-test passes, and calls that are wrong are refused. */
#include "inputs.h"

enum { STEPS = 50 };

static void train(int threads, float *losses, float *result) {
  digits_options options = {.size = sizeof options, .threads = threads};
  digits_t *digits = digits_create(&options);
  REQUIRE(digits != NULL, "%s", digits_error(NULL));
  fill_inputs();
  for (int i = 0; i < STEPS; ++i) {
    REQUIRE(digits_train_step(digits, batch_x, batch_y, params, adam, &losses[i]) == DIGITS_OK, "%s", digits_error(digits));
  }
  memcpy(result, params, sizeof params);
  digits_destroy(digits);
}

int main(int argc, char **argv) {
  static float losses[2][STEPS], results[2][digits_params_count];
  REQUIRE(argc == 2, "usage: %s digits.check", argv[0]);
  train(1, losses[0], results[0]);
  train(2, losses[1], results[1]);
  REQUIRE(memcmp(losses[0], losses[1], sizeof losses[0]) == 0, "losses differ between 1 and 2 threads");
  REQUIRE(memcmp(results[0], results[1], sizeof results[0]) == 0, "weights differ between 1 and 2 threads");
  REQUIRE(losses[0][STEPS - 1] < losses[0][0], "the loss did not fall");

  digits_t *digits = digits_create(NULL);
  REQUIRE(digits_selftest(digits, argv[1]) == DIGITS_OK, "%s", digits_error(digits));
  printf("%s", digits_error(digits));
  float loss;
  REQUIRE(digits_train_step(digits, NULL, batch_y, params, adam, &loss) == DIGITS_INVALID, "null was accepted");
  REQUIRE(digits_train_step(digits, batch_x, batch_y, params, params, &loss) == DIGITS_OVERLAP, "overlap was accepted");
  digits_destroy(digits);
  digits_options options = {.size = sizeof options, .cpu_features = ""};
  digits = digits_create(&options);
  if (digits == NULL) printf("%s\n", digits_error(NULL)); /* built for this machine's features: refused, not run */
  digits_destroy(digits);
  return 0;
}
