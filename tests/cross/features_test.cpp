// Several feature sets in one library: the best that the CPU has runs, a smaller one can be forced,
// and a CPU that has none of them is told so.
#include <gtest/gtest.h>

#include <cmath>

#include "cross/machines.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/frontend/heddle.h"
#include "heddle/schedule/target.h"
#include "support/expect_error.h"

namespace heddle::testing {
namespace {

TEST(FeatureSets, EachGivesTheSameValuesWhenForced) {
  if (!Target::host().has("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  const TemporaryFolder folder;
  export_all("all", {"x86-64-linux-sse41", "x86-64-linux-avx2", "x86-64-linux-avx512"},
             folder.path());
  put_file(folder.path(), "main.c", std::string_view(main_source("all")));
  run_tool({tool("cc"), "-std=c11", "-o", "main", "main.c", "all.a", "-lpthread", "-lm"},
           folder.path());
  const auto with = [&](const char* features) {
    setenv("HEDDLE_CPU_FEATURES", features, 1);
    const std::string printed = run_tool({"./main", "all.check"}, folder.path());
    unsetenv("HEDDLE_CPU_FEATURES");
    EXPECT_NE(printed.find("selftest 0\n"), std::string::npos) << printed;
    return numbers_of(printed);
  };
  const std::vector<double> wide = with("sse41,avx,avx2,f16c,fma"), narrow = with("sse41");
  EXPECT_NE(wide, narrow) << "kernels with and without fused products round differently";
  ASSERT_EQ(wide.size(), narrow.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    EXPECT_NEAR(wide[i], narrow[i], 2e-5 * std::fabs(narrow[i]) + 1e-6) << "number " << i;
  }
  setenv("HEDDLE_CPU_FEATURES", "avx", 1);
  const std::string text = expect_error<CompileError>([&] {
    run_tool({"./main", "all.check"}, folder.path());
  });
  unsetenv("HEDDLE_CPU_FEATURES");
  EXPECT_NE(text.find("exit code 1"), std::string::npos) << text;
}

TEST(FeatureSets, NoSetThatFitsIsAStatusWithWords) {
  const TemporaryFolder folder;
  export_all("all", {"x86-64-linux-sse41", "x86-64-linux-avx2"}, folder.path());
  put_file(folder.path(), "main.c",
           std::string_view("#include <stdio.h>\n#include \"all.h\"\n"
                            "int main(void) {\n"
                            "  char text[500];\n"
                            "  all_options o = {.size = sizeof o, .cpu_features = \"avx\", "
                            ".message = text, .message_bytes = 500};\n"
                            "  printf(\"%d %s\", all_create(&o) == NULL, text);\n}\n"));
  run_tool({tool("cc"), "-std=c11", "-o", "main", "main.c", "all.a", "-lpthread", "-lm"},
           folder.path());
  EXPECT_EQ(run_tool({"./main"}, folder.path()),
            "1 all: built for the CPU features avx,avx2,f16c,fma,sse41 or sse41; this CPU has avx");
}

TEST(FeatureSets, TheSameSetTwiceIsOne) {
  const TemporaryFolder one, two;
  export_all("all", {"x86-64-linux-avx2"}, one.path());
  export_all("all", {"x86-64-linux-avx2", "x86-64-linux-avx-avx2-f16c-fma-sse41"}, two.path());
  EXPECT_EQ(read_file(one.path() + "/all.a"), read_file(two.path() + "/all.a"));
}

// ---- refusals ----

void export_for(const std::string& target, const std::string& folder) {
  const Program p = trace([](const Tensor& x) { return exp(x); }, {f32({3})});
  export_library({{"f", p}}, {.name = "f", .targets = {"host", target}, .folder = folder});
}

TEST(Targets, UnknownMachinesAndFeaturesAreListed) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& target) {
    return expect_error<ValueError>([&] { export_for(target, folder.path()); }, target);
  };
  EXPECT_NE(refused("arm-64-windows").find("x86-64-linux, x86-64-osx, arm-64-linux, arm-64-osx"),
            std::string::npos);
  EXPECT_NE(refused("x86-64-linux-avx3").find("avx2"), std::string::npos);
  EXPECT_NE(refused("arm-64-linux-avx2").find("arm_dot_prod, arm_fp16"), std::string::npos);
  EXPECT_NE(refused("host_").find("machine-bits-system"), std::string::npos);
  expect_error<NotImplementedError>([&] { export_for("wasm-32", folder.path()); }, "WebAssembly");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Targets, ALibraryHasOneCarrier) {
  const TemporaryFolder folder;
  expect_error<ValueError>([&] { export_for("host-opencl", folder.path()); }, "one carrier");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Targets, WithoutToolsNothingIsWritten) {
  const TemporaryFolder folder;
  const std::string zig = std::getenv("HEDDLE_ZIG"), path = std::getenv("PATH");
  unsetenv("HEDDLE_ZIG");
  setenv("PATH", "", 1);
  const std::string text = expect_error<NotAvailableError>(
      [&] { export_for("arm-64-linux", folder.path()); }, "no compiler for arm-64-linux");
  setenv("PATH", path.c_str(), 1);
  setenv("HEDDLE_ZIG", zig.c_str(), 1);
  EXPECT_NE(text.find("'zig' does not start"), std::string::npos) << text;
  EXPECT_NE(text.find("the Python package ziglang; HEDDLE_ZIG"), std::string::npos) << text;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace heddle::testing
