// verify and inspect on libraries: the self-test of what was written, by the library's own core.
#include "heddle/frontend/cli/library.h"

#include <filesystem>

#include "heddle/backends/file.h"
#include "heddle/frontend/heddle.h"
#include "support/expect_error.h"

namespace heddle::cli {
namespace {

using heddle::testing::expect_error;

// Two libraries of equal signatures, so that one's check file is read by the other.
class LibraryCommands : public ::testing::Test {
 protected:
  LibraryCommands() {
    const TraceOptions names{.name = "e", .inputs = {"r"}, .outputs = {"e"}};
    write("one", trace([](const Tensor& r) { return sum(exp(r)); }, {f32({40})}, names));
    write("two", trace([](const Tensor& r) { return sum(sin(r)); }, {f32({40})}, names));
  }
  std::string path(const std::string& file) const { return folder_.path() + "/" + file; }

  static int verify(const std::string& file, std::string* printed, bool json = false,
                    const std::string& check = "") {
    VerifyCommand options;
    options.file = file;
    options.json = json;
    options.check = check;
    ::testing::internal::CaptureStdout();
    int code = -1;
    try {
      code = verify_command(options);
    } catch (...) {
      ::testing::internal::GetCapturedStdout();
      throw;
    }
    *printed = ::testing::internal::GetCapturedStdout();
    return code;
  }

 private:
  void write(const std::string& name, const Program& value) {
    export_library({{"value", value_and_grad(value, "r")}},
                   {.name = name, .folder = folder_.path()});
  }

  TemporaryFolder folder_;
};

TEST_F(LibraryCommands, VerifyRunsTheSelftestOfEachKindOfLibrary) {
  for (const char* file : {"one.so", "one.a", "two.so"}) {
    std::string printed;
    EXPECT_EQ(verify(path(file), &printed), 0) << printed;
    EXPECT_NE(printed.find(".value: ok, 2 outputs, largest error "), std::string::npos) << printed;
    EXPECT_NE(printed.find(" ulp, "), std::string::npos) << printed;
    EXPECT_NE(printed.find("; 1 gradient, largest error "), std::string::npos) << printed;
    EXPECT_NE(printed.find("all within tolerance"), std::string::npos) << printed;
  }
  std::string printed;
  EXPECT_EQ(verify(path("one.so"), &printed, true), 0);
  const auto json = nlohmann::json::parse(printed);
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["report"].size(), 1u);
}

TEST_F(LibraryCommands, VerifySaysWhatIsWrong) {
  for (const char* file : {"one.so", "one.a"}) {
    std::string printed;
    EXPECT_EQ(verify(path(file), &printed, false, path("two.check")), 1) << printed;
    EXPECT_NE(printed.find("one.value: FAILED"), std::string::npos) << printed;
    EXPECT_NE(printed.find("<gradient, v> is "), std::string::npos) << printed;
    EXPECT_NE(printed.find("MISMATCH"), std::string::npos) << printed;
  }
}

TEST_F(LibraryCommands, DamagedFilesAreParseErrors) {
  std::string printed;
  const auto check = *try_read_file(path("one.check"));
  ASSERT_TRUE(try_write_file(path("cut.check"), std::span(check).first(check.size() / 2)));
  expect_error<ParseError>([&] { verify(path("one.so"), &printed, false, path("cut.check")); },
                           "instead of");
  expect_error<ParseError>([&] { verify(path("one.so"), &printed, false, path("none.check")); },
                           "cannot be opened");
  expect_error<ParseError>([&] { verify(path("none.so"), &printed); }, "none.json beside it");
  const auto library = *try_read_file(path("one.so"));
  ASSERT_TRUE(try_write_file(path("one.so"), std::span(library).first(library.size() / 2)));
  expect_error<ParseError>([&] { verify(path("one.so"), &printed); }, "one.so");
  const auto archive = *try_read_file(path("one.a"));
  for (std::size_t part = 0; part < 8; ++part) {
    ASSERT_TRUE(try_write_file(path("one.a"), std::span(archive).first(archive.size() * part / 8)));
    expect_error<CompileError>([&] { verify(path("one.a"), &printed); }, "one.a");
  }
  const std::string text = "{\"name\": 3}";
  ASSERT_TRUE(try_write_file(path("one.json"), std::as_bytes(std::span(text))));
  expect_error<ParseError>([&] { verify(path("one.so"), &printed); }, "no description");
}

TEST_F(LibraryCommands, InspectShowsWhatIsInALibrary) {
  InspectCommand options;
  options.file = path("one.a");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(inspect_command(options), 0);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  for (const char* words : {"one.a: 1 functions", "value", "workspace ", "scratch", "exp"}) {
    EXPECT_NE(printed.find(words), std::string::npos) << words << "\n" << printed;
  }
  EXPECT_NE(printed.find(Target::host().triple), std::string::npos) << printed;
  options.function = "value";
  expect_error<ValueError>([&] { inspect_command(options); }, "--function");
}

// Every step with a time, a kind and operations; a static library is not run.
TEST_F(LibraryCommands, InspectTimesTheStepsOfASharedLibrary) {
  InspectCommand options;
  options.file = path("one.so");
  options.perf = options.json = true;
  options.threads = 1;
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(inspect_command(options), 0);
  const auto json = nlohmann::json::parse(::testing::internal::GetCapturedStdout());
  const auto& steps = json["functions"].at(0)["steps"];
  ASSERT_FALSE(steps.empty());
  for (const auto& step : steps) {
    EXPECT_GT(step["seconds"].get<double>(), 0);
    EXPECT_GT(step["of_roofline"].get<double>(), 0);
    EXPECT_FALSE(step["recipe"].get<std::string>().empty());
  }
  options.file = path("one.a");
  expect_error<NotAvailableError>([&] { inspect_command(options); }, "--perf");
}

// Of a model, each function's steps, and what the machine reaches.
TEST_F(LibraryCommands, InspectTimesTheStepsOfAModel) {
  const std::string model = path("m.heddle");
  const std::string text =
      "func @f(x: f32[64,64]) -> (y: f32[64]) {\n"
      "  %0 = exp(x) : f32[64,64]\n"
      "  %1 = reduce_sum(%0) {axes = [1]} : f32[64]\n  return %1\n}\n";
  ASSERT_TRUE(try_write_file(model, std::as_bytes(std::span(text))));
  InspectCommand options;
  options.file = model;
  options.perf = true;
  options.threads = 1;
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(inspect_command(options), 0);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find("@f:\n  step"), std::string::npos) << printed;
  EXPECT_NE(printed.find("exp+reduce_sum"), std::string::npos) << printed;
  EXPECT_NE(printed.find("roofline, measured with 1 threads: "), std::string::npos) << printed;
}

}  // namespace
}  // namespace heddle::cli
