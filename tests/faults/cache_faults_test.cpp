// The cache when its process is killed at any system call, when the disk is full, and when its
// folder belongs to somebody else.  K3
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "faults/system_calls.h"
#include "heddle/backends/cache.h"
#include "heddle/backends/file.h"
#include "heddle/graph/error.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

using testing::system_calls;
using testing::SystemCalls;
using Bytes = std::vector<std::byte>;

CacheKey key_named(std::string_view name) {
  const std::string_view parts[] = {name};
  return cache_key(parts);
}
Bytes some_bytes(std::size_t n, int salt) {
  Bytes b(n);
  for (std::size_t i = 0; i < n; ++i)
    b[i] = static_cast<std::byte>(static_cast<int>(i * 37) + salt);
  return b;
}
std::string notices(const std::function<void()>& f) {
  ::testing::internal::CaptureStderr();
  f();
  return ::testing::internal::GetCapturedStderr();
}

// Whether the child was killed at that call; false: it made fewer.
bool killed_while_putting(const std::string& folder, const Bytes& bytes, SystemCalls::What what,
                          int at) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Cache cache(folder);
    system_calls() = {.what = what, .at = at};
    cache.put(key_named("killed"), bytes);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void kill_at_every_call(SystemCalls::What what, bool there_before) {
  const TemporaryFolder root;
  const std::string folder = root.path() + "/cache";
  const Bytes old_bytes = some_bytes(5000, 1), new_bytes = some_bytes(70000, 2);
  int at = 1;
  for (bool killed = true; killed; ++at) {
    const Cache cache(folder);
    cache.clear();
    if (there_before) cache.put(key_named("killed"), old_bytes);
    killed = killed_while_putting(folder, new_bytes, what, at);
    std::optional<Bytes> got;
    EXPECT_EQ(notices([&] { got = cache.get(key_named("killed")); }), "") << "call " << at;
    const bool whole =
        !got ? !there_before : *got == new_bytes || (there_before && *got == old_bytes);
    EXPECT_TRUE(whole) << "killed at call " << at;
    for (const Cache::Entry& e : cache.verify(false)) EXPECT_TRUE(e.intact) << "call " << at;
    cache.put(key_named("killed"), new_bytes);
    EXPECT_TRUE(cache.get(key_named("killed")) == new_bytes) << "after call " << at;
  }
  EXPECT_GE(at, 8) << "mkdir, open, write, fsync, close, rename, and the folder's";
}

TEST(CacheFaults, KilledBeforeAnySystemCall) {
  kill_at_every_call(SystemCalls::kill_before, false);
  kill_at_every_call(SystemCalls::kill_before, true);
}
TEST(CacheFaults, KilledAfterAnySystemCall) {
  kill_at_every_call(SystemCalls::kill_after, false);
  kill_at_every_call(SystemCalls::kill_after, true);
}

// Every call in turn fails as on a full disk: the caller goes on, there is a notice or the entry.
TEST(CacheFaults, AFullDiskCostsTheEntryOnly) {
  const TemporaryFolder root;
  const Cache cache(root.path() + "/cache");
  const Bytes bytes = some_bytes(70000, 3);
  int made = 1;
  for (int at = 1; at <= made; ++at) {
    cache.clear();
    const std::string said = notices([&] {
      system_calls() = {.what = SystemCalls::no_space, .at = at};
      cache.put(key_named("full"), bytes);
      made = system_calls().made;
      system_calls() = {};
    });
    const auto got = cache.get(key_named("full"));
    EXPECT_TRUE(!got || *got == bytes) << "call " << at;
    if (!got) {
      EXPECT_NE(said.find("No space left"), std::string::npos) << "call " << at << ": " << said;
    }
    for (const auto& e : std::filesystem::directory_iterator(cache.folder())) {
      EXPECT_TRUE(e.is_directory()) << "left behind at call " << at << ": " << e.path();
    }
  }
}

TEST(CacheFaults, ShortWritesAreContinued) {
  const TemporaryFolder root;
  const Cache cache(root.path() + "/cache");
  const Bytes bytes = some_bytes(70001, 4);
  system_calls() = {.what = SystemCalls::half_written};
  cache.put(key_named("half"), bytes);
  EXPECT_GT(system_calls().made, 15);
  system_calls() = {};
  EXPECT_TRUE(cache.get(key_named("half")) == bytes);
}

TEST(CacheFaults, AFolderOfSomebodyElseIsRefused) {
  const TemporaryFolder root;
  const Cache own(root.path() + "/cache");
  system_calls().owned_by_other = true;
  try {
    const Cache other(root.path() + "/cache");
    ADD_FAILURE() << "no error";
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find(root.path() + "/cache"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("own"), std::string::npos) << e.what();
  }
  system_calls().owned_by_other = false;
}

}  // namespace
}  // namespace heddle
