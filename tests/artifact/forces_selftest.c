/* The Lennard-Jones library tests itself: values, and the gradient against a directional derivative. */
#include <stdio.h>
#include <string.h>

#include "lj.h"

int main(int argc, char **argv) {
  lj_t *lj = lj_create(NULL);
  const int status = argc == 2 ? lj_selftest(lj, argv[1]) : LJ_BAD_FILE;
  printf("%d\n%s", status, lj_error(lj));
  const int has_gradient = strstr(lj_error(lj), "lj.energy_and_gradient: ok, 2 outputs") && strstr(lj_error(lj), "; 1 gradient, ");
  lj_destroy(lj);
  return status != LJ_OK || !has_gradient;
}
