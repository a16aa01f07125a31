// Files read and written whole.
#include "heddle/runtime/whole_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace heddle {
namespace {

class WholeFile : public ::testing::Test {
 protected:
  WholeFile() { EXPECT_NE(mkdtemp(folder_), nullptr); }
  ~WholeFile() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return std::string(folder_) + "/" + name; }
  static std::string write(const std::string& path, std::string_view text) {
    return write_whole_file(path, std::as_bytes(std::span(text))).value_or("");
  }
  static std::string read(const std::string& path) {
    std::string reason;
    const auto bytes = read_whole_file(path, reason);
    return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                 : "(" + reason + ")";
  }

  char folder_[40] = "/tmp/heddle-files-XXXXXX";
};

TEST_F(WholeFile, ComesBackOfAnyLength) {
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 200000}) {
    const std::string text(size, 'x');
    EXPECT_EQ(write(path("a"), text), "");
    EXPECT_EQ(read(path("a")), text);
  }
}

TEST_F(WholeFile, IsReplacedWhole) {
  EXPECT_EQ(write(path("a"), "a long text"), "");
  EXPECT_EQ(write(path("a"), "short"), "");
  EXPECT_EQ(read(path("a")), "short");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(WholeFile, LinksAndDevicesAreWrittenToNotReplaced) {
  std::filesystem::create_symlink("a", path("link"));
  std::filesystem::create_symlink("/dev/full", path("full"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(write(path("link"), "text"), "");
  EXPECT_EQ(read(path("a")), "text");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(write(path("full"), "text"), std::strerror(ENOSPC));
  EXPECT_EQ(write("/dev/full", std::string(100000, 'x')), std::strerror(ENOSPC));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 4);
}

TEST_F(WholeFile, FailuresHaveTheSystemsWords) {
  EXPECT_EQ(read(path("none")), "(" + std::string(std::strerror(ENOENT)) + ")");
  EXPECT_EQ(read(folder_), "(" + std::string(std::strerror(EISDIR)) + ")");
  EXPECT_EQ(write(path("none/a"), "text"), std::strerror(ENOENT));
  EXPECT_EQ(write(folder_, "text"), std::strerror(EISDIR));
}

}  // namespace
}  // namespace heddle
