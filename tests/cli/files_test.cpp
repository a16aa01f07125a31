// Files and inputs of the command line.
#include "heddle/frontend/cli/files.h"

#include <cmath>
#include <filesystem>

#include "heddle/backends/file.h"
#include "heddle/frontend/cli/inputs.h"
#include "heddle/frontend/heddle.h"
#include "support/expect_error.h"

namespace heddle::cli {
namespace {

TEST(Files, KindsAreKnownByTheirEnds) {
  const TemporaryFolder folder;
  check_extension("convert", folder.path() + "/a.hdb", {".heddle", ".hdb"});
  check_extension("convert", "/dev/null", {".heddle", ".hdb"});
  for (const std::string name : {"/a.xyz", "/a", "/hdb"}) {
    heddle::testing::expect_error<ValueError>(
        [&] {
          check_extension("convert", folder.path() + name, {".heddle", ".hdb"});
        },
        "needed a name that ends with .heddle or .hdb");
  }
}

TEST(Inputs, ValuesAreThoseOfTheDtype) {
  const auto read = [](DType dtype, const std::string& text) {
    Builder b("f");
    b.output("y", b.input("x", {dtype, {2}}));
    const std::string given[] = {"x=2x" + std::string(name_of(dtype)) + "=" + text};
    return read_inputs(b.finish(), given)[0];
  };
  const auto refused = [&](DType dtype, const std::string& text) {
    return heddle::testing::expect_error<ValueError>([&] { read(dtype, text); });
  };
  EXPECT_EQ(refused(DType::i32, "1.5"),
            "input 'x': the value of its elements: found '1.5', needed a whole number from "
            "-2147483648 to 2147483647, as i32 holds");
  EXPECT_NE(refused(DType::i32, "1e20").find("found '1e20'"), std::string::npos);
  for (const char* text : {"300", "-1", "nan", "inf", "1e999", "0x1.8p0", "", "1 ", "one"}) {
    refused(DType::u8, text);
  }
  for (const char* text : {"1e39", "-1e39", "1e400", "", "x"}) refused(DType::f32, text);
  refused(DType::f16, "65520");
  refused(DType::boolean, "2");
  refused(DType::u64, "18446744073709551616");
  EXPECT_EQ(view<std::uint64_t>(read(DType::u64, "18446744073709551615"))[1], UINT64_MAX);
  EXPECT_EQ(view<std::int64_t>(read(DType::i64, "9007199254740993"))[1], 9007199254740993);  // F5
  EXPECT_EQ(view<std::int64_t>(read(DType::i64, "-1e3"))[1], -1000);
  EXPECT_EQ(view<bool>(read(DType::boolean, "true"))[1], true);
  EXPECT_EQ(view<bool>(read(DType::boolean, "0"))[1], false);
  EXPECT_EQ(view<float>(read(DType::f32, "-inf"))[1], -INFINITY);
  EXPECT_EQ(view<float>(read(DType::f32, "1e-60"))[1], 0);
  EXPECT_TRUE(std::isnan(view<float>(read(DType::f32, "nan"))[1]));
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
