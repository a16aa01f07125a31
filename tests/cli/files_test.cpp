// Files and inputs of the command line.
#include "heddle/frontend/cli/files.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "heddle/backends/file.h"
#include "heddle/frontend/cli/inputs.h"
#include "heddle/frontend/heddle.h"
#include "support/expect_error.h"

namespace heddle::cli {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Files, AreReplacedWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a";
  write_text_file(path, "a long text");
  write_text_file(path, "short");
  EXPECT_EQ(content(path), "short");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Files, LinksAndDevicesAreWrittenToNotReplaced) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a", link = folder.path() + "/link",
                    null = folder.path() + "/null";
  std::filesystem::create_symlink("a", link);
  std::filesystem::create_symlink("/dev/null", null);
  write_text_file(link, "text");
  write_text_file(null, "text");
  EXPECT_EQ(content(path), "text");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_symlink(null));
  heddle::testing::expect_error<RuntimeError>([&] { write_text_file(folder.path(), "text"); });
}

TEST(Inputs, RandomOnesNameARange) {
  const Program p = trace([](const Tensor& x) { return exp(x); }, {f32({100})}, {.inputs = {"x"}});
  const std::string good[] = {"x=random:7:2:3"};
  for (double v : to_doubles(read_inputs(p.entry(), good)[0])) {
    EXPECT_GE(v, 2);
    EXPECT_LE(v, 3);
  }
  for (const std::string spec : {"x=randomly:1", "x=random", "x=random:1:2", "x=random:1:3:2",
                                 "x=random:1:nan:2", "x=random:1:0:inf", "x=random:-1"}) {
    const std::string bad[] = {spec};
    const std::string text =
        heddle::testing::expect_error<ValueError>([&] { read_inputs(p.entry(), bad); });
    EXPECT_NE(text.find("input '" + spec + "'"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace heddle::cli
