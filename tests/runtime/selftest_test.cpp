// The self-test: right results pass, wrong ones are named, a damaged file is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "heddle/runtime/check_file.h"
#include "runtime/handmade.h"

namespace heddle::testing {
namespace {

float disturbance = 0;

// value = sum x^2 / 2, gradient = x (disturbed in one element).
int half_square(void** argv) {
  const float* x = floats(argv, 1);
  float sum = 0;
  for (int64_t i = 0; i < elements(buffer(argv, 1)); ++i) {
    sum += x[i] * x[i] / 2;
    floats(argv, 3)[i] = x[i] + (i == 5 ? disturbance : 0);
  }
  floats(argv, 2)[0] = sum;
  return 0;
}

constexpr int kCount = 40;

ArtifactDescription value_and_gradient() {
  FunctionDescription f;
  f.buffers = {argument(0, {kCount}), argument(1, {}), argument(2, {kCount})};
  f.steps = {kernel_step(0, {0}, {1, 2})};
  return one_function("value_and_grad", {{"x", DType::f32, {kCount}}},
                      {{"value", DType::f32, {}}, {"dx", DType::f32, {kCount}}}, f,
                      {kernel("half_square", half_square)});
}

CheckCase make_case(double error_of_value = 0) {
  CheckInput x{CheckInput::Kind::uniform, DType::f32, kCount, -2, 2, 17, {}};
  const std::vector<std::byte> bytes = check_values(x);
  std::vector<double> values(kCount);
  double value = 0, product = 0;
  for (size_t i = 0; i < kCount; ++i) {
    float element;
    std::memcpy(&element, bytes.data() + 4 * i, 4);
    values[i] = element;
    value += values[i] * values[i] / 2;
    product += values[i] * (2 * check_uniform(3, i) - 1);
  }
  return {"value_and_grad",
          {x},
          {{DType::f32, 1, 1, 1e-5, 1e-6, {value + error_of_value}, {}},
           {DType::f32, kCount, 1, 1e-5, 1e-6, values, {}}},
          {{{{1, 3}}, product, 1e-5}}};
}

class Selftest : public ::testing::Test {
 protected:
  Selftest() {
    folder =
        std::filesystem::temp_directory_path() / ("heddle-selftest-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
  }
  ~Selftest() override { std::filesystem::remove_all(folder); }
  int run(std::span<const std::byte> bytes) {
    const std::string path = (folder / "f.check").string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    const int status = hd_selftest(instance.handle, path.c_str());
    text = instance.error();
    if (const size_t at = text.find(path); at != std::string::npos)
      text.replace(at, path.size(), "FILE");
    return status;
  }
  int run(const CheckCase& check) { return run(encode_check_file(tables.artifact(), {&check, 1})); }
  std::filesystem::path folder;
  const ArtifactTables tables{value_and_gradient()};
  Instance instance{tables};
  std::string text;
};

TEST_F(Selftest, RightResultsPassWithTheirErrors) {
  disturbance = 0;
  EXPECT_EQ(run(make_case()), HD_OK) << text;
  EXPECT_EQ(text.find("mlp.value_and_grad: ok, 2 outputs, largest error "), 0u) << text;
  EXPECT_NE(text.find(" ulp, "), std::string::npos);
  EXPECT_NE(text.find("; 1 gradient, largest error "), std::string::npos) << text;
}

// A line per case: more than a message of a fixed size would hold.
TEST_F(Selftest, TheReportIsWhole) {
  disturbance = 0;
  EXPECT_EQ(hd_report(instance.handle, nullptr, 0), 0u);
  const std::vector<CheckCase> cases(500, make_case());
  EXPECT_EQ(run(encode_check_file(tables.artifact(), cases)), HD_OK);
  std::string report(hd_report(instance.handle, nullptr, 0), '?');
  EXPECT_GT(report.size(), 20000u);
  EXPECT_EQ(hd_report(instance.handle, report.data(), report.size() + 1), report.size());
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 500);
  EXPECT_TRUE(report.ends_with('\n'));
  EXPECT_TRUE(report.starts_with(text) && text.size() < 4096) << text.size();
  char some[10];
  EXPECT_EQ(hd_report(instance.handle, some, sizeof some), report.size());
  EXPECT_EQ(std::string(some), report.substr(0, 9));
  float x[kCount] = {}, value, dx[kCount];
  EXPECT_EQ(instance.run(x, &value, dx), HD_OK);
  EXPECT_EQ(instance.error(), "");
  EXPECT_EQ(hd_report(instance.handle, nullptr, 0), report.size());
}

TEST_F(Selftest, WrongValueIsNamed) {
  disturbance = 0;
  EXPECT_EQ(run(make_case(1.0)), HD_SELFTEST_FAILED);
  EXPECT_EQ(text.find("mlp.value_and_grad: output 'value' element 0 is "), 0u) << text;
  EXPECT_NE(text.find("mlp.value_and_grad: FAILED, 2 outputs"), std::string::npos) << text;
}

TEST_F(Selftest, WrongGradientIsFoundByTheDotProductToo) {
  disturbance = 0.25f;
  EXPECT_EQ(run(make_case()), HD_SELFTEST_FAILED);
  EXPECT_NE(text.find("output 'dx' element 5 is "), std::string::npos) << text;
  EXPECT_NE(text.find("<gradient, v> is "), std::string::npos) << text;
  disturbance = 0;
}

TEST_F(Selftest, FileCutAnywhereIsRefused) {
  const CheckCase check = make_case();
  const std::vector<std::byte> whole = encode_check_file(tables.artifact(), {&check, 1});
  for (size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    EXPECT_EQ(run(std::span(whole).first(bytes)), HD_BAD_FILE) << bytes;
    EXPECT_EQ(text.find("FILE: "), 0u) << text;
  }
}

TEST_F(Selftest, FlippedBitIsRefused) {
  const CheckCase check = make_case();
  const std::vector<std::byte> whole = encode_check_file(tables.artifact(), {&check, 1});
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::vector<std::byte> bad = whole;
    bad[at] ^= std::byte{1} << at % 8;
    EXPECT_EQ(run(bad), HD_BAD_FILE) << at << " " << text;
  }
}

TEST_F(Selftest, OtherVersionProgramOrPath) {
  std::vector<std::byte> bytes = encode_check_file(tables.artifact(), std::vector{make_case()});
  bytes[8] = std::byte{2};
  EXPECT_EQ(run(bytes), HD_BAD_FILE);
  EXPECT_EQ(text, "FILE: has version 2, this runtime knows 1");
  ArtifactDescription other = value_and_gradient();
  other.signatures[0].inputs[0].name = "z";
  const ArtifactTables other_tables(other);
  EXPECT_EQ(run(encode_check_file(other_tables.artifact(), std::vector{make_case()})), HD_BAD_FILE);
  EXPECT_EQ(text, "FILE: belongs to another program");
  EXPECT_EQ(hd_selftest(instance.handle, "/no/such/file"), HD_BAD_FILE);
  EXPECT_EQ(instance.error(), "/no/such/file: cannot be opened");
  EXPECT_EQ(hd_selftest(instance.handle, "/"), HD_BAD_FILE);
  EXPECT_EQ(hd_selftest(instance.handle, nullptr), HD_BAD_FILE);
  EXPECT_EQ(instance.error(), "the name of the check file is null");
  EXPECT_EQ(hd_selftest(nullptr, nullptr), HD_INVALID);
  EXPECT_STREQ(hd_error(nullptr), "the instance is null");
}

TEST(CheckFile, CaseThatDoesNotFitIsRefused) {
  const ArtifactTables tables(value_and_gradient());
  const auto refused = [&](void (*change)(CheckCase&)) {
    CheckCase check = make_case();
    change(check);
    EXPECT_THROW(encode_check_file(tables.artifact(), {&check, 1}), std::invalid_argument);
  };
  refused([](CheckCase& c) { c.function = "f"; });
  refused([](CheckCase& c) { c.inputs.clear(); });
  refused([](CheckCase& c) { c.inputs[0].count = 3; });
  refused([](CheckCase& c) { c.inputs[0].dtype = DType::f64; });
  refused([](CheckCase& c) { c.outputs[1].values.pop_back(); });
  refused([](CheckCase& c) { c.gradients[0].parts[0].output = 2; });
}

TEST(CheckFile, StreamsAreTheDocumentedOnes) {
  // SplitMix64 with seed 0: first output 0xe220a8397b1dcdaf (Vigna's reference code).
  EXPECT_EQ(check_uniform(0, 0), static_cast<double>(0xe220a8397b1dcdafu >> 40) / 16777216.0);
  EXPECT_EQ(check_uniform(0, 1), static_cast<double>(0x6e789e6aa1b965f4u >> 40) / 16777216.0);
  const std::vector<std::byte> ints =
      check_values({CheckInput::Kind::uniform, DType::i32, 1000, -3, 10, 5, {}});
  int32_t low = 99, high = -99;
  for (size_t i = 0; i < 1000; ++i) {
    int32_t v;
    std::memcpy(&v, ints.data() + 4 * i, 4);
    low = std::min(low, v);
    high = std::max(high, v);
  }
  EXPECT_EQ(low, -3);
  EXPECT_EQ(high, 9);
  EXPECT_EQ(sample_stride(4096), 1u);
  EXPECT_EQ(sample_stride(4097), 3u);
}

}  // namespace
}  // namespace heddle::testing
