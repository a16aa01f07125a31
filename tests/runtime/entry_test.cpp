// What an instance refuses at the entry and at its creation, and in which words.
#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/handmade.h"

namespace heddle::testing {
namespace {

int nothing(void**) { return 0; }

ArtifactDescription mlp() {
  FunctionDescription f;
  f.buffers = {argument(0, {32, 64}), argument(1, {32}, DType::i32), argument(2, {})};
  f.steps = {kernel_step(0, {0, 1}, {2})};
  return one_function("train_step", {{"x", DType::f32, {32, 64}}, {"y", DType::i32, {32}}},
                      {{"loss", DType::f32, {}}}, f, {kernel("k", nothing)});
}

class Entry : public ::testing::Test {
 protected:
  int run(const hd_tensor& x_tensor) {
    const hd_tensor tensors[] = {
        x_tensor, {y, y_shape, nullptr, HD_I32, 1, 0}, {&loss, nullptr, nullptr, HD_F32, 0, 0}};
    return hd_run_tensors(instance.handle, 0, tensors, 3);
  }
  std::string refusal(const hd_tensor& x_tensor, int expected) {
    EXPECT_EQ(run(x_tensor), expected);
    return instance.error();
  }
  const ArtifactTables tables{mlp()};
  Instance instance{tables};
  float x[32 * 64 + 1] = {};
  int32_t y[32] = {};
  float loss = 0;
  int64_t x_shape[2] = {32, 64}, y_shape[1] = {32};
};

// K5
TEST_F(Entry, ExtentOfATensorIsNamedWithBothTypes) {
  int64_t shape[] = {31, 64};
  EXPECT_EQ(refusal({x, shape, nullptr, HD_F32, 2, 0}, HD_MISMATCH),
            "mlp.train_step: argument 'x': expected f32[32,64], got f32[31,64]");
}

TEST_F(Entry, TensorsOfTheRightTypeRun) {
  EXPECT_EQ(run({x, x_shape, nullptr, HD_F32, 2, 0}), HD_OK) << instance.error();
  const int64_t strides[] = {64, 1};
  EXPECT_EQ(run({x, x_shape, strides, HD_F32, 2, 0}), HD_OK) << instance.error();
}

TEST_F(Entry, DtypeRankLayoutDeviceNullAlignment) {
  const int64_t transposed[] = {1, 32};
  EXPECT_EQ(refusal({x, x_shape, nullptr, HD_F64, 2, 0}, HD_MISMATCH),
            "mlp.train_step: argument 'x': expected f32[32,64], got f64[32,64]");
  EXPECT_EQ(refusal({x, x_shape, nullptr, HD_F32, 1, 0}, HD_MISMATCH),
            "mlp.train_step: argument 'x': expected f32[32,64], got f32[32]");
  EXPECT_EQ(refusal({x, nullptr, nullptr, 99, 2, 0}, HD_MISMATCH),
            "mlp.train_step: argument 'x': expected f32[32,64], got ? of rank 2 without a shape");
  EXPECT_EQ(refusal({x, x_shape, transposed, HD_F32, 2, 0}, HD_MISMATCH),
            "mlp.train_step: argument 'x' is not dense and row-major");
  EXPECT_EQ(refusal({x, x_shape, nullptr, HD_F32, 2, 1}, HD_UNSUPPORTED),
            "mlp.train_step: argument 'x' lives on a device; this artifact takes host memory");
  EXPECT_EQ(refusal({nullptr, x_shape, nullptr, HD_F32, 2, 0}, HD_INVALID),
            "mlp.train_step: argument 'x' is null");
  EXPECT_EQ(refusal({reinterpret_cast<char*>(x) + 2, x_shape, nullptr, HD_F32, 2, 0}, HD_INVALID),
            "mlp.train_step: argument 'x' is not aligned to 4 bytes");
}

TEST_F(Entry, CountAndFunctionNumber) {
  EXPECT_EQ(hd_run_tensors(instance.handle, 0, nullptr, 0), HD_INVALID);
  EXPECT_EQ(instance.error(), "mlp.train_step: takes 3 tensors, got 0");
  EXPECT_EQ(hd_run(instance.handle, 0, nullptr, 2), HD_INVALID);
  EXPECT_EQ(instance.error(), "mlp.train_step: takes 3 arguments, got 2");
  EXPECT_EQ(hd_run(instance.handle, 5, nullptr, 2), HD_INVALID);
  EXPECT_EQ(instance.error(), "mlp: there is no function number 5; there are 1");
  EXPECT_EQ(hd_run(nullptr, 0, nullptr, 0), HD_INVALID);
  EXPECT_EQ(hd_find_function(&tables.artifact(), "train_step"), 0);
  EXPECT_EQ(hd_find_function(&tables.artifact(), "predict"), -1);
}

TEST_F(Entry, RawPointersAreCheckedForNullAlignmentAndOverlap) {
  EXPECT_EQ(instance.run(x, y, static_cast<float*>(nullptr)), HD_INVALID);
  EXPECT_EQ(instance.error(), "mlp.train_step: argument 'loss' is null");
  EXPECT_EQ(instance.run(reinterpret_cast<char*>(x) + 1, y, &loss), HD_INVALID);
  EXPECT_EQ(instance.error(), "mlp.train_step: argument 'x' is not aligned to 4 bytes");
  EXPECT_EQ(instance.run(x, y, x + 2047), HD_OVERLAP);
  EXPECT_EQ(instance.error(),
            "mlp.train_step: argument 'loss' is written and overlaps argument 'x'");
  EXPECT_EQ(instance.run(x, y, x + 2048), HD_OK);
  EXPECT_EQ(instance.run(x, x, &loss), HD_OK) << "inputs may overlap";
  EXPECT_EQ(instance.error(), "");
}

TEST_F(Entry, TensorsThatOverlapAreRefused) {
  const hd_tensor tensors[] = {{x, x_shape, nullptr, HD_F32, 2, 0},
                               {y, y_shape, nullptr, HD_I32, 1, 0},
                               {y + 31, nullptr, nullptr, HD_F32, 0, 0}};
  EXPECT_EQ(hd_run_tensors(instance.handle, 0, tensors, 3), HD_OVERLAP);
  EXPECT_EQ(instance.error(),
            "mlp.train_step: argument 'loss' is written and overlaps argument 'y'");
}

std::string refused_create(const hd_artifact& artifact, int expected,
                           const hd_options* o = nullptr) {
  hd_instance* instance = nullptr;
  EXPECT_EQ(hd_create(&artifact, o, &instance), expected);
  EXPECT_EQ(instance, nullptr);
  hd_destroy(instance);
  return hd_error(nullptr);
}

TEST(Create, OtherVersionsAreRefusedWithBothNumbers) {
  const ArtifactTables tables(mlp());
  hd_artifact other = tables.artifact();
  other.abi = 7;
  EXPECT_EQ(refused_create(other, HD_BAD_ARTIFACT), "artifact has ABI 7, this runtime has ABI 3");
  other = tables.artifact();
  other.format = 9;
  EXPECT_EQ(refused_create(other, HD_BAD_ARTIFACT),
            "mlp: artifact has format 9, this runtime knows formats up to 2");
  other = tables.artifact();
  other.magic = 1;
  EXPECT_EQ(refused_create(other, HD_BAD_ARTIFACT),
            "not an artifact: magic number 1 instead of 1279542344");
  other = tables.artifact();
  other.prepare = 0;
  EXPECT_NE(refused_create(other, HD_BAD_ARTIFACT).find("the tables are damaged: checksum"),
            std::string::npos);
}

// K2
TEST(Create, CpuWithoutTheFeaturesIsRefusedWithBothLists) {
  ArtifactDescription d = mlp();
  d.plans[0].features = "avx512,avx512_skylake";
  const ArtifactTables tables(d);
  hd_options o = options();
  o.cpu_features = "sse41,avx";
  const std::string text = refused_create(tables.artifact(), HD_WRONG_CPU, &o);
  EXPECT_EQ(text.find("mlp: built for the CPU features avx512,avx512_skylake; this CPU has "), 0u)
      << text;
  EXPECT_EQ(text.find("avx2"), std::string::npos) << text;
  setenv("HEDDLE_CPU_FEATURES", "", 1);
  EXPECT_EQ(refused_create(tables.artifact(), HD_WRONG_CPU),
            "mlp: built for the CPU features avx512,avx512_skylake; this CPU has none of them");
  EXPECT_EQ(hd_workspace_bytes(&tables.artifact(), 1), 0u);
  unsetenv("HEDDLE_CPU_FEATURES");
}

TEST(Create, AMaskThatNamesNoFeatureIsRefused) {
#if defined(__x86_64__)
  const std::string known =
      "sse41,avx,avx2,fma,f16c,avx512,avx512_skylake,avx512_cannonlake,avx512_zen4,"
      "avx512_sapphirerapids,avxvnni";
#elif defined(__aarch64__)
  const std::string known = "arm_dot_prod,arm_fp16";
#else
  const std::string known = "none that are told apart";
#endif
  const std::string rest = ", which is no feature of CPUs of this kind; there are " + known;
  const ArtifactTables tables(mlp());
  hd_options o = options();
  for (const std::string& wrong :
       {std::string("avx3"), std::string(" avx2"), std::string("AVX"), std::string(60, 'x')}) {
    const std::string mask = ",," + wrong + ",avx";
    o.cpu_features = mask.c_str();
    EXPECT_EQ(refused_create(tables.artifact(), HD_INVALID, &o),
              "mlp: options.cpu_features names '" + wrong.substr(0, 39) + "'" + rest);
  }
  setenv("HEDDLE_CPU_FEATURES", "sse4", 1);
  EXPECT_EQ(refused_create(tables.artifact(), HD_INVALID),
            "mlp: HEDDLE_CPU_FEATURES names 'sse4'" + rest);
  EXPECT_EQ(hd_workspace_bytes(&tables.artifact(), 1), 0u);
  setenv("HEDDLE_CPU_FEATURES", ",", 1);
  const Instance instance(tables);
  EXPECT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  unsetenv("HEDDLE_CPU_FEATURES");
}

TEST(Create, TheFirstPlanThatFitsIsTaken) {
  ArtifactDescription d = mlp();
  d.plans.push_back(d.plans[0]);
  d.plans[0].features = "no_such_feature";
  const ArtifactTables tables(d);
  Instance instance(tables);
  ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  EXPECT_STREQ(hd_features(instance.handle), "");
}

TEST(Create, FeaturesAgreeWithTheCompiler) {
  char text[512] = "";
  const size_t length = hd_cpu_features(text, sizeof text);
  EXPECT_EQ(length, std::string(text).size());
#if defined(__x86_64__)
  const std::string list = "," + std::string(text) + ",";
  const auto has = [&](const char* name) {
    return list.find(std::string(",") + name + ",") != std::string::npos;
  };
  EXPECT_EQ(has("avx2"), __builtin_cpu_supports("x86-64-v3") != 0);
  EXPECT_EQ(has("avx512_skylake"), __builtin_cpu_supports("x86-64-v4") != 0);
#endif
}

TEST(Create, OptionsOfAnotherSize) {
  const ArtifactTables tables(mlp());
  hd_options o = {};
  EXPECT_EQ(refused_create(tables.artifact(), HD_INVALID, &o),
            "options.size is 0; set it to the size of the struct");
  EXPECT_EQ(hd_threads(nullptr), 0);
  for (const auto spoil :
       {+[](hd_options& bad) { bad.flags = 8; }, +[](hd_options& bad) { bad.reserved = 1; },
        +[](hd_options& bad) { bad.threads = -1; }}) {
    hd_options bad = options();
    spoil(bad);
    EXPECT_EQ(refused_create(tables.artifact(), HD_INVALID, &bad).find("options."), 0u);
  }
  struct {
    hd_options o;
    uint64_t later;
  } newer = {options(), 0};
  newer.o.size = sizeof newer;
  hd_instance* instance = nullptr;
  EXPECT_EQ(hd_create(&tables.artifact(), &newer.o, &instance), HD_OK);
  hd_destroy(instance);
  newer.later = 1;
  EXPECT_NE(refused_create(tables.artifact(), HD_INVALID, &newer.o).find("does not know"),
            std::string::npos);
  hd_options older = options();
  older.size = 8;
  older.threads = 1;
  EXPECT_EQ(hd_create(&tables.artifact(), &older, &instance), HD_OK);
  EXPECT_EQ(hd_threads(instance), 1);
  hd_destroy(instance);
}

TEST(Create, MessageGoesToTheCallersBuffer) {
  const ArtifactTables tables(mlp());
  char text[12];
  hd_options o = options();
  o.message = text;
  o.message_bytes = sizeof text;
  o.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
  refused_create(tables.artifact(), HD_INVALID, &o);
  EXPECT_STREQ(text, "options.all");
  EXPECT_EQ(hd_create(nullptr, nullptr, nullptr), HD_INVALID);
}

TEST(Create, TablesThatPointOutsideAreRefused) {
  const auto broken = [](void (*change)(ArtifactDescription&)) {
    ArtifactDescription d = mlp();
    change(d);
    const ArtifactTables tables(d);
    return refused_create(tables.artifact(), HD_BAD_ARTIFACT);
  };
  using D = ArtifactDescription;
  const std::string wrong = "mlp.train_step: the tables are wrong: ";
  EXPECT_EQ(broken([](D& d) {
              d.plans[0].functions[0].buffers[0].dims = {32, 65};
            }),
            wrong + "argument 'x': f32[32,65]: found 8320 bytes, needed at most 8192 bytes");
  EXPECT_EQ(broken([](D& d) { d.plans[0].functions[0].buffers[0].index = 3; }),
            wrong + "buffer 0: f32[32,64]: found 8192 bytes, needed at most 0 bytes");
  EXPECT_EQ(broken([](D& d) { d.plans[0].functions[0].buffers[2] = arena(0, {}); }),
            wrong + "buffer 2: f32[]: found 4 bytes, needed at most 0 bytes");
  EXPECT_EQ(
      broken([](D& d) { d.plans[0].functions[0].buffers[1].offset = 64; }),
      wrong + "argument 'y': i32[32] behind 64 bytes: found 128 bytes, needed at most 64 bytes");
  EXPECT_EQ(broken([](D& d) { d.plans[0].functions[0].steps[0].kernel = 1; }),
            wrong + "step 0: kernel: found 1, needed less than 1");
  EXPECT_EQ(broken([](D& d) { d.plans[0].functions[0].steps[0].inputs[0] = 9; }),
            wrong + "step 0: buffer: found 9, needed less than 3");
  EXPECT_EQ(broken([](D& d) { d.plans[0].functions[0].steps[0].fault = 3; }),
            wrong + "step 0: the flag's place: found 3, needed less than 3");
  EXPECT_EQ(broken([](D& d) { d.signatures[0].arguments[0].bytes = 100; }),
            wrong + "argument 'x': f32[32,64]: found 8192 bytes, needed at most 100 bytes");
  EXPECT_EQ(broken([](D& d) { d.plans[0].kernels[0].run = nullptr; }),
            "mlp.k: the tables are wrong: the kernel's code: found none, needed an address");
}

// The function, the argument, what was found and what was needed.
TEST(Create, ImpossibleExtentsAreNamed) {
  const auto signature = [](std::vector<int64_t> dims) {
    ArtifactDescription d = mlp();
    d.signatures[0].inputs[0].dims = std::move(dims);
    const ArtifactTables tables(d);
    return refused_create(tables.artifact(), HD_BAD_ARTIFACT);
  };
  const auto plan = [](std::vector<int64_t> dims, std::vector<int64_t> strides) {
    ArtifactDescription d = mlp();
    d.plans[0].functions[0].buffers[0].dims = std::move(dims);
    d.plans[0].functions[0].buffers[0].strides = std::move(strides);
    const ArtifactTables tables(d);
    return refused_create(tables.artifact(), HD_BAD_ARTIFACT);
  };
  const std::string wrong = "mlp.train_step: the tables are wrong: argument 'x': ";
  EXPECT_EQ(signature({-1, 64}), wrong + "axis 0 of f32[-1,64]: found -1, needed 0 or more");
  const int64_t huge = int64_t{1} << 40;
  const std::string product =
      "f32[1099511627776,1099511627776]: found 2^56 elements or more, needed at most 8192 bytes";
  EXPECT_EQ(signature({huge, huge}), wrong + product);
  EXPECT_EQ(plan({-7, 64}, {64, 1}),
            wrong + "axis 0 of f32[-7,64]: found -7, needed 0 to 2147483647");
  EXPECT_EQ(plan({3000000000, 1}, {1, 1}),
            wrong + "axis 0 of f32[3000000000,1]: found 3000000000, needed 0 to 2147483647");
  EXPECT_EQ(plan({32, 64}, {3000000000, 1}),
            wrong + "stride of axis 0 of f32[32,64]: found 3000000000, needed 0 to 2147483647");
  const std::vector<int64_t> most(16, 2147483647);
  const std::string text = plan(most, most);
  EXPECT_NE(text.find("found 2^56 elements or more, needed at most 8192 bytes"), std::string::npos)
      << "products beyond 64 bits: " << text;
}

}  // namespace
}  // namespace heddle::testing
