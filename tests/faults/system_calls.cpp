#include "faults/system_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>

namespace heddle::testing {

SystemCalls& system_calls() {
  static SystemCalls calls;
  return calls;
}

namespace {

void die() { ::kill(::getpid(), SIGKILL); }

// Runs `real`, or what was asked for instead.
template <class Real>
auto intercepted(Real real) {
  SystemCalls& calls = system_calls();
  const bool now = ++calls.made == calls.at;
  if (now && calls.what == SystemCalls::kill_before) die();
  if (now && calls.what == SystemCalls::no_space) {
    errno = ENOSPC;
    return static_cast<decltype(real())>(-1);
  }
  const auto result = real();
  if (now && calls.what == SystemCalls::kill_after) die();
  return result;
}

}  // namespace
}  // namespace heddle::testing

using heddle::testing::intercepted;
using heddle::testing::system_calls;
using heddle::testing::SystemCalls;

extern "C" {
int __real_open(const char* path, int flags, ...);
ssize_t __real_write(int file, const void* bytes, size_t count);
int __real_fsync(int file);
int __real_close(int file);
int __real_rename(const char* from, const char* to);
int __real_mkdir(const char* path, mode_t mode);
int __real_unlink(const char* path);
int __real_lstat(const char* path, struct stat* info);

int __wrap_open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return intercepted([&] { return __real_open(path, flags, mode); });
}
ssize_t __wrap_write(int file, const void* bytes, size_t count) {
  const bool half = system_calls().what == SystemCalls::half_written;
  return intercepted([&] { return __real_write(file, bytes, half ? (count + 1) / 2 : count); });
}
int __wrap_fsync(int file) {
  return intercepted([&] { return __real_fsync(file); });
}
int __wrap_close(int file) {
  return intercepted([&] { return __real_close(file); });
}
int __wrap_rename(const char* from, const char* to) {
  return intercepted([&] { return __real_rename(from, to); });
}
int __wrap_mkdir(const char* path, mode_t mode) {
  return intercepted([&] { return __real_mkdir(path, mode); });
}
int __wrap_unlink(const char* path) {
  return intercepted([&] { return __real_unlink(path); });
}
int __wrap_lstat(const char* path, struct stat* info) {
  const int result = __real_lstat(path, info);
  if (system_calls().owned_by_other) ++info->st_uid;
  return result;
}
}
