/* In front of malloc, mmap and their kind: counts calls. Linked before libc by the programs that want to know. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/types.h>

static long calls;
long allocation_calls(void) { return __atomic_load_n(&calls, __ATOMIC_SEQ_CST); }
static void count(void) { __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST); }

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

void *malloc(size_t n) {
  count();
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t m) {
  count();
  return __libc_calloc(n, m);
}
void *realloc(void *p, size_t n) {
  count();
  return __libc_realloc(p, n);
}
void *aligned_alloc(size_t a, size_t n) {
  count();
  return __libc_memalign(a, n);
}
int posix_memalign(void **p, size_t a, size_t n) {
  count();
  *p = __libc_memalign(a, n);
  return *p ? 0 : 12;
}
void *mmap(void *at, size_t n, int protection, int flags, int file, off_t offset) {
  static void *(*next)(void *, size_t, int, int, int, off_t);
  count();
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "mmap");
  return next(at, n, protection, flags, file, offset);
}
