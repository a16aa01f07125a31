// The command itself: what it says to wrong words, numbers and environments, and its help.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "heddle/backends/artifact/toolchain.h"
#include "heddle/backends/process.h"

namespace heddle::cli {
namespace {

constexpr char kProgram[] = R"(func @f(x: f32[2,3]) -> (y: f32[2]) {
  %0 = reduce_sum(x) {axes=[1]} : f32[2]
  return %0
}
)";

class CommandLine : public ::testing::Test {
 protected:
  CommandLine() { put_file(folder_.path(), "f.heddle", kProgram); }

  // Exit code and what was said on both outputs.
  std::pair<int, std::string> run(std::vector<std::string> words) const {
    words.insert(words.begin(), HEDDLE_COMMAND);
    const ProcessResult r = run_process(words, folder_.path() + "/run", 60, folder_.path());
    return {r.exit_code, r.output_text + r.error_text};
  }
  void expect(int code, const std::vector<std::string>& words, const std::string& said) const {
    const auto [found, text] = run(words);
    EXPECT_EQ(found, code) << text;
    EXPECT_NE(text.find(said), std::string::npos) << said << "\nin: " << text;
    EXPECT_LT(text.size(), 700u) << text;
  }

  TemporaryFolder folder_;
};

TEST_F(CommandLine, NumbersAreCheckedAsTheyAreWritten) {
  for (const char* seed : {"-1", "abc", "99999999999999999999999", "1.5", ""}) {
    expect(2, {"verify", "f.heddle", "--seed", seed},
           "--seed: found '" + std::string(seed) + "', needed a whole number from 0 to");
  }
  for (const char* tolerance : {"-1", "1e999", "nan", "inf", "abc"}) {
    expect(2, {"verify", "f.heddle", "--tolerance", tolerance},
           "--tolerance: found '" + std::string(tolerance) + "', needed a finite number");
  }
  expect(2, {"run", "f.heddle", "--threads", "99999999999999"}, "--threads");
  expect(2, {"run", "f.heddle", "x=2x3xf32=1e50"}, "found '1e50', needed a number of at most 3.4");
}

TEST_F(CommandLine, AWordThatIsNoCommandIsNamed) {
  expect(2, {"compil", "f.heddle"},
         "heddle: no command or option 'compil'; commands are compile, run, ");
  expect(2, {}, "heddle: A subcommand is required\nheddle --help says more.");
  expect(2, {"run"}, "heddle run: model is required\nheddle run --help says more.");
}

TEST_F(CommandLine, FilesThatCannotBeReadHaveAReason) {
  expect(4, {"run", "none.heddle"}, "heddle: cannot read program 'none.heddle': No such file");
  expect(4, {"run", "."}, "heddle: cannot read program '.': Is a directory");
  expect(4, {"run", "f.heddle", "x=@none.npy"}, "none.npy: cannot be read: No such file");
  put_file(folder_.path(), "odd.heddle", std::string_view("\x01\xff", 2));
  expect(4, {"run", "odd.heddle"}, "odd.heddle:1:1: unexpected character '\\x01'");
}

TEST_F(CommandLine, AFullDiskIsAFailedRun) {
  for (const std::string command : {"ops", "ops --json", "run f.heddle x=2x3xf32=1",
                                    "dump f.heddle", "run f.heddle x=2x3xf32=1 -o /dev/full"}) {
    const std::vector<std::string> words = {
        "/bin/sh", "-c", std::string(HEDDLE_COMMAND) + " " + command + " >/dev/full"};
    const ProcessResult r = run_process(words, folder_.path() + "/run", 60, folder_.path());
    EXPECT_EQ(r.exit_code, 1) << command;
    EXPECT_NE(r.error_text.find("No space left on device"), std::string::npos) << r.error_text;
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(CommandLine, ErrorsNameWhatTheUserWrote) {
  expect(2, {"grad", "f.heddle", "--wrt", "q"}, "'q'");
  expect(2, {"convert", "f.heddle", "-o", "a.xyz"}, "found 'a.xyz', needed a name that ends with");
  expect(2, {"grad", "f.heddle", "--wrt", "x", "-o", "a.xyz"}, "found 'a.xyz'");
  expect(2, {"run", "f.heddle", "x=2x3xf32=1", "-o", "a.xyz"}, "found 'a.xyz'");
  expect(2, {"grad", "f.heddle", "--wrt", "x", "--threads", "2"}, "--threads");  // it runs nothing
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/a.xyz"));
  put_file(folder_.path(), "bad.heddle",
           "func @f(x: f32[2]) -> (y: f32[2]) {\n  %0 = mul(x) : f32[2]\n");
  const std::string text = run({"inspect", "bad.heddle"}).second;
  EXPECT_EQ(text.find("bad.heddle:2"), text.rfind("bad.heddle:2")) << text;
  EXPECT_EQ(text.find(".cpp:"), std::string::npos) << text;
}

TEST_F(CommandLine, TheEnvironmentIsChecked) {
  const std::pair<const char*, const char*> kWrong[] = {{"HEDDLE_CACHE_BYTES", "abc"},
                                                        {"HEDDLE_CHECK", "foo"},
                                                        {"HEDDLE_DUMP", "input,foo"},
                                                        {"HEDDLE_TIME", "foo"},
                                                        {"HEDDLE_TARGET_FEATURES", "foo"}};
  for (const auto& [name, value] : kWrong) {
    ::setenv(name, value, 1);
    expect(2, {"inspect", "f.heddle"}, name);
    ::unsetenv(name);
  }
}

TEST_F(CommandLine, HelpHasEachCommandsOptionsAndNoOthers) {
  const auto help = [&](const char* command) { return run({command, "--help"}).second; };
  for (const char* command : {"verify", "inspect"}) {
    const std::string text = help(command);
    EXPECT_NE(text.find("or a library (.a, .so, .dylib)"), std::string::npos) << text;
    EXPECT_NE(text.find("--threads"), std::string::npos) << text;
    EXPECT_NE(text.find("Usage: heddle " + std::string(command)), std::string::npos) << text;
  }
  for (const char* command : {"grad", "convert", "dump", "compile"}) {
    EXPECT_EQ(help(command).find("--threads"), std::string::npos) << command;
  }
  EXPECT_NE(run({"--help"}).second.find("HEDDLE_CACHE_BYTES"), std::string::npos);
}

}  // namespace
}  // namespace heddle::cli
