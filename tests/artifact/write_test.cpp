// Exported libraries: C programs that link only them, what they export, that their bytes do not
// depend on anything.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "artifact/programs.h"
#include "heddle/backends/artifact/writer.h"
#include "heddle/graph/error.h"
#include "heddle/runtime/heddle_runtime.h"
#include "heddle/runtime/runtime.hpp"

namespace heddle::testing {
namespace {

constexpr char kTrain[] = R"(
#include <stdio.h>
#include "line.h"
int main(void) {
  line_options options = {0};
  options.size = sizeof options;
  options.threads = 2;
  line_t *line = line_create(&options);
  if (!line) { printf("%s\n", line_error(NULL)); return 1; }
  float x[8], t[8], params[line_params_count] = {0}, loss = 0;
  for (int i = 0; i < 8; ++i) { x[i] = 0.25f * (float)i - 1; t[i] = 3 * x[i] + 1; }
  for (int i = 0; i < 400; ++i) if (line_step(line, x, t, params, &loss)) { printf("%s\n", line_error(line)); return 1; }
  printf("%.3f %.3f %d\n", params[line_params_w], params[line_params_b], loss < 1e-6f);
  printf("%d %s", line_selftest(line, "line.check"), line_error(line));
  printf("%d %s\n", line_step(line, x, t, params, NULL), line_error(line));
  printf("%d\n", line_workspace_bytes(2) > line_workspace_bytes(1));
  line_destroy(line);
  return 0;
}
)";

TEST(Write, CProgramTrainsWithTheStaticLibraryAlone) {
  const TemporaryFolder folder;
  write_line(folder.path());
  EXPECT_EQ(run_c(folder, kTrain, {"line.a"}),
            "3.000 1.000 1\n"
            "0 line.predict: ok, 1 output, largest error 0 ulp, 0 relative\n"
            "1 line.step: argument 'loss' is null\n"
            "1\n");
}

TEST(Write, CProgramTrainsWithTheSharedLibrary) {
  const TemporaryFolder folder;
  write_line(folder.path());
  EXPECT_EQ(run_c(folder, kTrain, {"line.so", "-Wl,-rpath,."}).substr(0, 14), "3.000 1.000 1\n");
}

TEST(Write, LoadsByNameUnderTheProcessOwnCore) {
  const TemporaryFolder folder;
  write_line(folder.path());
  LoadedArtifact line(folder.path() + "/line.so");
  const float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, w = 2, b = 1;
  float y[8];
  const int64_t shape[] = {8};
  const auto tensor = [&](const float* data, std::uint32_t rank) {
    return hd_tensor{const_cast<float*>(data), shape, nullptr, HD_F32, rank, 0};
  };
  const hd_tensor tensors[] = {tensor(x, 1), tensor(&w, 0), tensor(&b, 0), tensor(y, 1)};
  line.instance().run("predict", tensors);
  EXPECT_EQ(y[7], 15);
  EXPECT_THROW(line.instance().run("no_such", tensors), StatusError);
  EXPECT_EQ(line.instance().selftest(folder.path() + "/line.check"),
            "line.predict: ok, 1 output, largest error 0 ulp, 0 relative\n");

  heddle_program* program = nullptr;
  ASSERT_EQ(heddle_open((folder.path() + "/" + "line.so").c_str(), nullptr, &program), HD_OK)
      << heddle_error(nullptr);
  EXPECT_EQ(heddle_run(program, "predict", tensors, 4), HD_OK);
  EXPECT_EQ(heddle_run(program, "forward", tensors, 4), HD_INVALID);
  EXPECT_STREQ(heddle_error(program), "line: there is no function 'forward'");
  EXPECT_EQ(heddle_run(program, "predict", tensors, 3), HD_INVALID);
  EXPECT_STREQ(heddle_error(program), "line.predict: takes 4 tensors, got 3");
  heddle_close(program);
}

TEST(Write, DamagedLibrariesAreRefused) {
  const TemporaryFolder folder;
  write_line(folder.path());
  const std::vector<std::byte> whole = take_file(folder.path(), "line.so");
  const std::string path = folder.path() + "/cut.so";
  heddle_program* program = nullptr;
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += whole.size() / 29) {
    ASSERT_TRUE(try_write_file(path, std::span(whole).first(bytes)));
    EXPECT_EQ(heddle_open(path.c_str(), nullptr, &program), HD_BAD_FILE) << bytes;
    EXPECT_EQ(std::string(heddle_error(nullptr)).find(path), 0u) << heddle_error(nullptr);
  }
  EXPECT_EQ(heddle_open((folder.path() + "/" + "line.h").c_str(), nullptr, &program), HD_BAD_FILE);
  EXPECT_EQ(heddle_open((folder.path() + "/" + "none.so").c_str(), nullptr, &program), HD_BAD_FILE);
  EXPECT_EQ(heddle_open(nullptr, nullptr, &program), HD_INVALID);
  EXPECT_EQ(program, nullptr);
}

TEST(Write, FirstFeatureSetThatTheCpuHasRuns) {
  const TemporaryFolder folder;
  Line best = make_line(0.5f), plain = make_line(0.001f);
  best.plan.target.features = {"sse41"};
  const std::vector plans = {best.compiled(), plain.compiled()};
  write_artifact(plans, {.name = "line", .folder = folder.path(), .cached = build_tree_cache()});
  const std::string printed = run_c(folder, R"(
#include <stdio.h>
#include "line.h"
int main(void) {
  const char *features[] = {"sse41", "", "avx"};
  for (int i = 0; i < 3; ++i) {
    line_options options = {.size = sizeof options, .threads = 1, .cpu_features = features[i]};
    line_t *line = line_create(&options);
    float x[8], t[8], params[2] = {0}, loss;
    for (int k = 0; k < 8; ++k) { x[k] = 0.25f * (float)k - 1; t[k] = 3 * x[k] + 1; }
    for (int k = 0; k < 100; ++k) line_step(line, x, t, params, &loss);
    printf("%.1f\n", params[0]);
    line_destroy(line);
  }
  return 0;
}
)",
                                    {"line.a"});
  EXPECT_EQ(printed.substr(0, 4), "3.0\n") << "this CPU has SSE 4.1";
  EXPECT_LT(std::stod(printed.substr(4)), 1);
}

// The global symbols that a library defines, as the system's own tool sees them.
std::vector<std::string> symbols_of(const TemporaryFolder& folder, const std::string& library) {
  std::istringstream lines(run_tool({"nm", "-g", "--defined-only", "-P", library}, folder.path()));
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find(' ');
    if (end != std::string::npos) names.insert(line.substr(0, end));  // else a member's title
  }
  return {names.begin(), names.end()};
}

// K4
TEST(Write, TwoArtifactsInOneProgramShareNothing) {
  const TemporaryFolder folder;
  write_line(folder.path(), "line", 0.5f);
  write_line(folder.path(), "slow", 0.001f);
  const std::string printed = run_c(folder, R"(
#include <stdio.h>
#include "line.h"
#include "slow.h"
int main(void) {
  line_options lo = {.size = sizeof lo, .threads = 2};
  slow_options so = {.size = sizeof so, .threads = 1};
  line_t *line = line_create(&lo);
  slow_t *slow = slow_create(&so);
  float x[8], t[8], a[2] = {0}, b[2] = {0}, loss;
  for (int i = 0; i < 8; ++i) { x[i] = 0.25f * (float)i - 1; t[i] = 3 * x[i] + 1; }
  for (int i = 0; i < 100; ++i) { line_step(line, x, t, a, &loss); slow_step(slow, x, t, b, &loss); }
  printf("%d %d %.1f %d\n", line_threads(line), slow_threads(slow), a[0], b[0] < 1);
  slow_destroy(slow);
  line_step(line, x, t, a, &loss);
  line_destroy(line);
  return 0;
}
)",
                                    {"line.a", "slow.a"});
  EXPECT_EQ(printed, "2 1 3.0 1\n");
  std::vector<std::string> line = symbols_of(folder, "line.a"), slow = symbols_of(folder, "slow.a");
  std::vector<std::string> shared;
  std::set_intersection(line.begin(), line.end(), slow.begin(), slow.end(),
                        std::back_inserter(shared));
  EXPECT_EQ(shared, std::vector<std::string>());
  EXPECT_GT(line.size(), 20u);
}

// K4
TEST(Write, LivesBesideAPlainHalideLibrary) {
  const TemporaryFolder folder;
  write_line(folder.path());
  run_tool({HEDDLE_MAKE_PLAIN_LIBRARY, folder.path()}, folder.path());
  const std::string printed =
      run_c(folder, R"(
#include <stdio.h>
#include "line.h"
#include "plain.h"
int main(void) {
  line_t *line = line_create(NULL);
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, params[2] = {2, 1}, y[8], z[8];
  struct halide_dimension_t dim = {0, 8, 1, 0};
  struct halide_buffer_t in = {0}, out = {0};
  in.host = (uint8_t *)y;
  out.host = (uint8_t *)z;
  in.type.code = out.type.code = halide_type_float;
  in.type.bits = out.type.bits = 32;
  in.type.lanes = out.type.lanes = 1;
  in.dimensions = out.dimensions = 1;
  in.dim = out.dim = &dim;
  if (line_predict(line, x, params, y) || plain_twice(&in, &out)) return 1;
  printf("%g %g\n", y[7], z[7]);
  line_destroy(line);
  return 0;
}
)",
            {"line.a", "plain.a", "-isystem", HEDDLE_HALIDE_INCLUDE, "-ldl"});
  EXPECT_EQ(printed, "15 32\n");
}

TEST(Write, SharedLibraryExportsItsFunctionsAndTheTables) {
  const TemporaryFolder folder;
  write_line(folder.path());
  const std::string printed =
      run_tool({tool("nm"), "-D", "--defined-only", "-P", "line.so"}, folder.path());
  std::vector<std::string> names;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);)
    names.push_back(line.substr(0, line.find(' ')));
  const std::vector<std::string> expected = {
      "hd_artifact", "line_create",   "line_destroy", "line_error",   "line_predict",
      "line_report", "line_selftest", "line_step",    "line_threads", "line_workspace_bytes"};
  EXPECT_EQ(names, expected);
  EXPECT_LT(std::filesystem::file_size(folder.path() + "/line.so"), 100u << 10);
  EXPECT_EQ(run_tool({tool("nm"), "-D", "-u", "line.so"}, folder.path()).find("_Zn"),
            std::string::npos)
      << "no C++ library";
}

TEST(Write, HeaderIsCAndCxxAndSaysTheShapes) {
  const TemporaryFolder folder;
  write_line(folder.path());
  put_file(folder.path(), "a.cpp",
           std::string_view("#include \"line.h\"\nint main() { return line_params_count - 2; }\n"));
  run_tool({tool("c++"), "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "a.cpp"},
           folder.path());
  const std::vector<std::byte> bytes = take_file(folder.path(), "line.h");
  const std::string header(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_NE(header.find("int line_step(line_t *instance, const float *x, const float *t, float "
                        "*params, float *loss);"),
            std::string::npos)
      << header;
  EXPECT_NE(
      header.find(
          "int line_predict(line_t *instance, const float *x, const float *params, float *y);"),
      std::string::npos);
  EXPECT_NE(header.find("   x: f32[8]\n"), std::string::npos);
  EXPECT_NE(header.find("line_params_b = 1, /* f32[] */"), std::string::npos) << header;
}

std::vector<std::vector<std::byte>> contents(const std::vector<std::filesystem::path>& files) {
  std::vector<std::vector<std::byte>> all;
  for (const std::filesystem::path& file : files)
    all.push_back(try_read_file(file.string()).value());
  return all;
}

TEST(Write, BytesDependOnNeitherFolderNorLocaleNorTime) {
  const TemporaryFolder here, there;
  const std::vector<std::vector<std::byte>> first = contents(write_line(here.path() + "/a"));
  ASSERT_EQ(first.size(), 5u);
  setenv("LANG", "tr_TR.UTF-8", 1);
  setenv("LC_ALL", "tr_TR.UTF-8", 1);
  sleep(1);
  EXPECT_EQ(contents(write_line(there.path() + "/quite/another/place")), first);
  unsetenv("LC_ALL");
  setenv("LANG", "C", 1);
}

TEST(Write, LeavesOnlyItsFiles) {
  const TemporaryFolder folder;
  write_line(folder.path());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"line.a", "line.check", "line.h", "line.json", "line.so"}));
}

TEST(Write, NamesThatCannotBeCAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_line(folder.path(), "my-model"), ValueError);
  EXPECT_THROW(write_line(folder.path(), "1st"), ValueError);
  EXPECT_THROW(write_line(folder.path(), "int"), ValueError);
  Line line = make_line();
  line.plan.functions[0].name = "create";
  WriteOptions options;
  options.name = "line";
  options.folder = folder.path();
  EXPECT_THROW(write_artifact(std::vector{line.compiled()}, options), ValueError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Write, FolderThatCannotBeMadeIsAnError) {
  EXPECT_THROW(write_line("/proc/no/such/place"), RuntimeError);
}

TEST(Write, KernelsThatAreCutShortOrForAnotherMachineAreRefused) {
  const TemporaryFolder folder;
  const WriteOptions options{.name = "line", .folder = folder.path(), .cached = build_tree_cache()};
  const auto refused = [&](const Line& line) {
    try {
      write_artifact(std::vector{line.compiled()}, options);
    } catch (const CompileError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::vector<std::byte> whole = make_line().objects[1].object;
  Line line = make_line();
  for (std::size_t part = 0; part < 5; ++part) {
    line.objects[1].object.assign(
        whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(whole.size() * part / 5));
    EXPECT_NE(refused(line).find("'hd_k2.o' is no object file"), std::string::npos)
        << refused(line);
  }
  line.objects[1].object = whole;
  line.objects[1].object[18] = std::byte{183};  // of an ELF header: the processor, now arm
  EXPECT_NE(refused(line).find("arm-64-linux"), std::string::npos) << refused(line);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Write, MissingToolIsNamed) {
  setenv("HEDDLE_AR", "no-such-ar", 1);
  const TemporaryFolder folder;
  try {
    write_line(folder.path());
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-ar"), std::string::npos) << error.what();
  }
  unsetenv("HEDDLE_AR");
}

}  // namespace
}  // namespace heddle::testing
