// The disk cache: damage, races, dead writers, permissions, size.
#include "heddle/backends/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "heddle/backends/file.h"
#include "heddle/graph/error.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

CacheKey key_named(std::string_view name) {
  const std::string_view parts[] = {name};
  return cache_key(parts);
}

Bytes some_bytes(std::size_t n) {
  Bytes b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<std::byte>(i * 37 + 11);
  return b;
}

class CacheTest : public ::testing::Test {
 protected:
  std::string folder() const { return root_.path() + "/cache"; }
  std::string file_of(const CacheKey& key) const {
    const std::string name = hex(key);
    return folder() + "/" + name.substr(0, 2) + "/" + name;
  }
  // Captures notices.
  std::string notices(const std::function<void()>& f) {
    ::testing::internal::CaptureStderr();
    f();
    return ::testing::internal::GetCapturedStderr();
  }
  TemporaryFolder root_;
};

TEST_F(CacheTest, GivesBackWhatWasPut) {
  const Cache cache(folder());
  const CacheKey key = key_named("a");
  EXPECT_FALSE(cache.get(key));
  for (std::size_t n : {0u, 1u, 100000u}) {
    cache.put(key, some_bytes(n));
    EXPECT_EQ(cache.get(key), some_bytes(n));
  }
  EXPECT_EQ(cache.list().size(), 1u);
  cache.clear();
  EXPECT_FALSE(cache.get(key));
}

TEST_F(CacheTest, KeysTellPartsApart) {
  const std::string_view ab_c[] = {"ab", "c"}, a_bc[] = {"a", "bc"};
  EXPECT_NE(cache_key(ab_c), cache_key(a_bc));
}

TEST_F(CacheTest, AnEntryCutAnywhereIsRemovedWithANotice) {  // K1
  const Cache cache(folder());
  const CacheKey key = key_named("cut");
  cache.put(key, some_bytes(700));
  const Bytes whole = *try_read_file(file_of(key));
  for (std::size_t length = 0; length < whole.size(); length += length < 128 ? 1 : 64) {
    ASSERT_TRUE(try_write_file(file_of(key), std::span(whole).first(length)));
    const std::string said = notices([&] { EXPECT_FALSE(cache.get(key)) << length; });
    EXPECT_NE(said.find("damaged"), std::string::npos);
    EXPECT_FALSE(fs::exists(file_of(key)));
  }
}

TEST_F(CacheTest, AnyFlippedBitIsSeen) {  // K1
  const Cache cache(folder());
  const CacheKey key = key_named("flip");
  cache.put(key, some_bytes(300));
  const Bytes whole = *try_read_file(file_of(key));
  const std::string said = notices([&] {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      Bytes bad = whole;
      bad[i] ^= static_cast<std::byte>(1 << (i % 8));
      ASSERT_TRUE(try_write_file(file_of(key), bad));
      EXPECT_FALSE(cache.get(key)) << "byte " << i;
    }
  });
  EXPECT_NE(said.find(hex(key)), std::string::npos);
  // One entry under another's name is damage too.
  cache.put(key, some_bytes(300));
  const CacheKey other = key_named("other");
  fs::create_directories(fs::path(file_of(other)).parent_path());
  fs::copy_file(file_of(key), file_of(other));
  notices([&] { EXPECT_FALSE(cache.get(other)); });
}

TEST_F(CacheTest, VerifyFindsAndRepairs) {
  const Cache cache(folder());
  cache.put(key_named("good"), some_bytes(10));
  cache.put(key_named("bad"), some_bytes(10));
  Bytes bad = *try_read_file(file_of(key_named("bad")));
  bad.back() ^= std::byte{1};
  ASSERT_TRUE(try_write_file(file_of(key_named("bad")), bad));
  std::size_t broken = 0;
  for (const Cache::Entry& e : cache.verify(true)) broken += !e.intact;
  EXPECT_EQ(broken, 1u);
  EXPECT_EQ(cache.list().size(), 1u);
}

TEST_F(CacheTest, KilledWritersLeaveNoBrokenEntry) {  // K3
  const Cache cache(folder());
  const Bytes bytes = some_bytes(200000);
  const CacheKey key = key_named("killed");
  for (int delay = 0; delay < 20; ++delay) {
    const pid_t child = ::fork();
    if (child == 0) {
      while (true) Cache(folder()).put(key, bytes);
    }
    ::usleep(static_cast<useconds_t>(500 * delay));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    const std::string said = notices([&] {
      if (const auto got = cache.get(key)) {
        EXPECT_TRUE(*got == bytes);
      }
    });
    EXPECT_EQ(said, "");
  }
}

TEST_F(CacheTest, EightWritersOfOneEntryAgree) {  // K3
  const Bytes bytes = some_bytes(50000);
  const CacheKey key = key_named("race");
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int status = 0;
    for (int n = 0; n < 20; ++n) {
      const Cache cache(folder());
      cache.put(key, bytes);
      const auto got = cache.get(key);
      if (!got || *got != bytes) status = 1;
    }
    ::_exit(status);
  }
  for (pid_t c : children) {
    int status = 0;
    ::waitpid(c, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Cache cache(folder());
  EXPECT_EQ(cache.list().size(), 1u);
  EXPECT_TRUE(*cache.get(key) == bytes);
  for (const auto& e : fs::directory_iterator(folder())) EXPECT_TRUE(e.is_directory()) << e.path();
}

TEST_F(CacheTest, TrimRemovesWhatWasUsedLongestAgo) {
  const Cache cache(folder());
  for (int i = 0; i < 4; ++i) {
    const CacheKey key = key_named(std::to_string(i));
    cache.put(key, some_bytes(1000));
    const timespec old[] = {{1000 + i, 0}, {1000 + i, 0}};
    ::utimensat(AT_FDCWD, file_of(key).c_str(), old, 0);
  }
  EXPECT_TRUE(cache.get(key_named("0")));  // a use makes it young
  EXPECT_GT(cache.trim(2500), 0u);
  EXPECT_TRUE(cache.get(key_named("0")));
  EXPECT_FALSE(cache.get(key_named("1")));
  EXPECT_FALSE(cache.get(key_named("2")));
  EXPECT_TRUE(cache.get(key_named("3")));
}

TEST_F(CacheTest, RefusesFoldersThatAreNotItsOwn) {
  fs::create_directories(root_.path() + "/real");
  fs::create_directory_symlink(root_.path() + "/real", root_.path() + "/link");
  EXPECT_THROW(Cache(root_.path() + "/link"), ValueError);
  fs::create_directories(root_.path() + "/open");
  fs::permissions(root_.path() + "/open", fs::perms::all);
  EXPECT_THROW(Cache(root_.path() + "/open"), ValueError);
  ASSERT_TRUE(try_write_file(root_.path() + "/file", {}));
  EXPECT_THROW(Cache(root_.path() + "/file"), ValueError);
  EXPECT_THROW(Cache(root_.path() + "/file/below"), ValueError);
  const Cache cache(folder());
  struct stat info {};
  ASSERT_EQ(::stat(folder().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name);
    if (old != nullptr) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST_F(CacheTest, ANamedFolderMustWorkADefaultOneMayNot) {
  ASSERT_TRUE(try_write_file(root_.path() + "/file", {}));
  {
    const Environment named("HEDDLE_CACHE", root_.path() + "/file");
    try {
      Cache::open();
      FAIL();
    } catch (const ValueError& e) {
      EXPECT_EQ(std::string(e.what()).rfind("[cache] ", 0), 0u) << e.what();
      EXPECT_NE(std::string(e.what()).find("/file"), std::string::npos);
    }
  }
  const Environment unnamed("HEDDLE_CACHE", ""), home("XDG_CACHE_HOME", root_.path() + "/file");
  const std::string said = notices([&] { EXPECT_FALSE(Cache::open().enabled()); });
  EXPECT_NE(said.find("nothing is cached"), std::string::npos);
}

TEST_F(CacheTest, TheLimitIsANumber) {
  const Environment named("HEDDLE_CACHE", folder());
  {
    const Environment limit("HEDDLE_CACHE_BYTES", "1000");
    EXPECT_EQ(Cache::size_limit(), 1000u);
  }
  for (const char* bad : {"abc", "1G", "-1", "1.5", " 1", "99999999999999999999999"}) {
    const Environment limit("HEDDLE_CACHE_BYTES", bad);
    try {
      Cache::open();
      ADD_FAILURE() << bad;
    } catch (const ValueError& e) {
      EXPECT_EQ(std::string(e.what()), "HEDDLE_CACHE_BYTES is the size of the cache: found '" +
                                           std::string(bad) + "', needed a whole number of bytes");
    }
  }
  const Environment limit("HEDDLE_CACHE_BYTES", "");
  EXPECT_EQ(Cache::size_limit(), std::uint64_t{1} << 30);
}

}  // namespace
}  // namespace heddle
