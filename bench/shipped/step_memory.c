/* usage: step_memory LIBRARY.so THREADS. Runs its first function thrice; prints the bytes that the
   process has more afterwards, less pages of files (nothing is given back in between), and those
   that the library announces: its arguments and its workspace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/runtime/heddle_runtime.h"

/* Of /proc/self/status, in bytes. */
static long long field(const char* name) {
  char line[256];
  long long kilobytes = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status)) {
    if (strncmp(line, name, strlen(name)) == 0) sscanf(line + strlen(name), ": %lld", &kilobytes);
  }
  if (status != NULL) fclose(status);
  return 1024 * kilobytes;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int threads = atoi(argv[2]);
  const long long before = field("RssAnon");
  hd_options options = {.size = sizeof options, .threads = threads};
  heddle_program* program;
  if (heddle_open(argv[1], &options, &program) != 0) {
    fprintf(stderr, "%s\n", heddle_error(NULL));
    return 1;
  }
  const hd_artifact* artifact = heddle_artifact(program);
  const hd_signature* f = &artifact->signatures[0];
  unsigned long long announced = hd_workspace_bytes(artifact, threads);
  void* arguments[64];
  for (uint32_t i = 0; i < f->n_arguments && i < 64; ++i) {
    arguments[i] = aligned_alloc(64, (f->arguments[i].bytes + 63) / 64 * 64);
    memset(arguments[i], 0, f->arguments[i].bytes);
    announced += f->arguments[i].bytes;
  }
  for (int i = 0; i < 3; ++i) {
    if (hd_run(heddle_instance(program), 0, arguments, f->n_arguments) != 0) {
      fprintf(stderr, "%s\n", heddle_error(program));
      return 1;
    }
  }
  printf("%lld %llu\n", field("RssAnon") - before, announced);
  return 0;
}
