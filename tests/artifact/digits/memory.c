/* The peak is true: the library runs in a workspace of exactly the announced bytes between two forbidden pages and uses nearly
   all of it, one cache line less is refused, and a thousand training steps allocate nothing. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inputs.h"

extern long allocation_calls(void);

static void run_both(digits_t *digits, int steps) {
  float loss = 0;
  for (int i = 0; i < steps; ++i) {
    REQUIRE(digits_train_step(digits, batch_x, batch_y, params, adam, &loss) == DIGITS_OK, "%s", digits_error(digits));
  }
  REQUIRE(digits_predict(digits, all_x, params, digit) == DIGITS_OK, "%s", digits_error(digits));
}

static void check_workspace(int threads, int at_end) {
  const size_t bytes = digits_workspace_bytes(threads), page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t whole = (bytes + page - 1) / page * page;
  unsigned char *base = mmap(NULL, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(base != MAP_FAILED, "mmap");
  mprotect(base, page, PROT_NONE);
  mprotect(base + page + whole, page, PROT_NONE);
  unsigned char *workspace = at_end ? base + page + whole - bytes : base + page;
  memset(workspace, 0xa5, bytes);
  digits_options options = {.size = sizeof options, .threads = threads, .workspace = workspace, .workspace_bytes = bytes - 64};
  REQUIRE(digits_create(&options) == NULL, "a workspace of one cache line less was accepted");
  options.workspace_bytes = bytes;
  digits_t *digits = digits_create(&options);
  REQUIRE(digits != NULL, "%s", digits_error(NULL));
  fill_inputs();
  run_both(digits, 3);
  size_t last = 0;
  for (size_t i = 0; i < bytes; ++i) {
    if (workspace[i] != 0xa5) last = i + 1;
  }
  printf("%d threads: workspace %zu bytes, high-water mark %.1f %%\n", threads, bytes, 100.0 * (double)last / (double)bytes);
  REQUIRE((double)last >= 0.9 * (double)bytes, "the workspace is larger than need be");
  digits_destroy(digits);
  munmap(base, whole + 2 * page);
}

static void check_allocations(void) {
  digits_options options = {.size = sizeof options, .threads = 2};
  const long before = allocation_calls();
  digits_t *digits = digits_create(&options);
  const long created = allocation_calls();
  REQUIRE(digits != NULL && created > before, "%s", digits_error(NULL));
  fill_inputs();
  run_both(digits, 1000);
  const long ran = allocation_calls();
  printf("allocations: %ld over create, %ld over 1000 steps\n", created - before, ran - created);
  REQUIRE(ran == created, "a step allocates");
  digits_destroy(digits);
}

int main(void) {
  for (int i = 0; i < 4; ++i) check_workspace(1 + i / 2, i % 2);
  check_allocations();
  return 0;
}
