// A counter in front of malloc, mmap and their kind: nothing is allocated while functions run.
#include <gtest/gtest.h>

#include "artifact/programs.h"

namespace heddle::testing {
namespace {

constexpr char kCounter[] = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
static long calls;
long allocation_calls(void) { return __atomic_load_n(&calls, __ATOMIC_SEQ_CST); }
static void *next(const char *name) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
  return dlsym(RTLD_NEXT, name);
}
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
void *malloc(size_t n) { __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST); return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST); return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST); return __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST); return __libc_memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
  return (*p = __libc_memalign(a, n)) ? 0 : 12;
}
void *mmap(void *at, size_t n, int protection, int flags, int file, long offset) {
  return ((void *(*)(void *, size_t, int, int, int, long))next("mmap"))(at, n, protection, flags, file, offset);
}
)";

constexpr char kProgram[] = R"(
#include <stdio.h>
#include "line.h"
extern long allocation_calls(void);
int main(void) {
  const long before = allocation_calls();
  line_options options = {.size = sizeof options, .threads = 2};
  line_t *line = line_create(&options);
  const long created = allocation_calls();
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, t[8] = {0}, params[2] = {0}, loss, y[8];
  for (int i = 0; i < 1000; ++i) {
    if (line_step(line, x, t, params, &loss) || line_predict(line, x, params, y)) return 1;
  }
  const long ran = allocation_calls();
  printf("create %s, run %ld\n", created > before ? "more than 0" : "0", ran - created);
  line_destroy(line);
  return 0;
}
)";

TEST(Allocation, NoneInAThousandRuns) {
  const TemporaryFolder folder;
  write_line(folder.path());
  put_file(folder.path(), "counter.c", std::string_view(kCounter));
  run_tool({tool("cc"), "-shared", "-fPIC", "-O1", "-o", "libcounter.so", "counter.c", "-ldl"},
           folder.path());
  EXPECT_EQ(run_c(folder, kProgram, {"line.a", "-L.", "-lcounter", "-Wl,-rpath,."}),
            "create more than 0, run 0\n");
}

}  // namespace
}  // namespace heddle::testing
