// Metal through runtime/device/metal.cc, as it ships, against a Metal that checks each call: order,
// failures, what is left.
#include <gtest/gtest.h>

#include <cstring>

#include "heddle/backends/compile.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/trace.h"
#include "heddle/graph/interpret.h"
#include "heddle/runtime/device/metal.h"
#include "support/expect_error.h"
#include "support/kernel_buffer.h"
#include "support/metal/device.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

const char kAddOne[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "struct numbers { int count; };\n"
    "kernel void add_one(uint3 group [[ threadgroup_position_in_grid ]],\n"
    "                    uint3 place [[ thread_position_in_threadgroup ]],\n"
    "                    const device numbers* n [[ buffer(0) ]], device int* x [[ buffer(1) ]],\n"
    "                    threadgroup int4* unused [[ threadgroup(0) ]])\n"
    "{ if ((int)place.x < n->count) x[place.x] = x[place.x] + 1; }\n";

void* module_of(const char* text) {
  void* module = nullptr;
  hd_metal_device.load(&module, text, static_cast<int>(std::strlen(text)) + 1);
  return module;
}

const char* const kKinds[] = {
    "MTLBuffer", "MTLCommandBuffer", "MTLComputeCommandEncoder", "MTLBlitCommandEncoder",
    "NSString",  "NSError"};

class Metal : public ::testing::Test {
 protected:
  void SetUp() override {
    device::prepare({});
    memories_ = hd_metal_live_memories();
    for (const char* kind : kKinds) objects_.push_back(metal::live_objects(kind));
    x_.device = device::allocate(4 * hd_metal_device.alignment);
    device::write(x_.device, std::vector<std::byte>(4 * hd_metal_device.alignment));
    metal::take_commits();
  }
  // Nothing is left, beside what programs before this test keep.
  void TearDown() override {
    device::release(x_.device);
    EXPECT_EQ(metal::take_faults(), std::vector<std::string>());
    EXPECT_EQ(hd_metal_live_memories(), memories_);
    for (std::size_t k = 0; k < std::size(kKinds); ++k) {
      EXPECT_EQ(metal::live_objects(kKinds[k]), objects_[k]) << kKinds[k];
    }
  }
  int launch(void* module, const char* name, std::uint64_t memory, int threads = 4,
             int shared = 0) {
    struct Kind {
      std::uint8_t code, bits;
      std::uint16_t lanes;
    };
    const Kind kinds[] = {{3, 64, 0}, {0, 32, 1}, {0, 0, 0}};
    const std::int8_t is_buffer[] = {1, 0, 0};
    std::int32_t count = 3;
    Buffer x;
    x.device = memory;
    void* arguments[] = {&x, &count, nullptr};
    const std::int32_t blocks[] = {1, 1, 1}, block[] = {threads, 1, 1};
    return hd_metal_device.launch(module, name, blocks, block, shared, kinds, arguments, is_buffer);
  }
  static std::vector<std::int32_t> numbers(std::uint64_t memory) {
    std::vector<std::int32_t> values(4);
    std::memcpy(values.data(), device::read(memory, 16).data(), 16);
    return values;
  }
  Buffer x_;
  std::uint64_t memories_ = 0;
  std::vector<int> objects_;
};

TEST_F(Metal, ARunIsOneCommandBuffer) {
  void* module = module_of(kAddOne);
  ASSERT_NE(module, nullptr);
  hd_metal_device.begin();
  const std::int32_t start[] = {5, 6, 7, 8};
  std::int32_t end[4];
  hd_metal_device.write(x_.device, 0, start, sizeof start);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(launch(module, "add_one", x_.device), HD_OK);
  hd_metal_device.read(x_.device, 0, end, sizeof end);
  char why[100];
  EXPECT_EQ(hd_metal_device.wait(why, sizeof why), HD_OK);
  hd_metal_device.end();
  EXPECT_EQ((std::vector<std::int32_t>{end, end + 4}), (std::vector<std::int32_t>{15, 16, 17, 8}));
  EXPECT_EQ(metal::take_commits(), 1);
}

TEST_F(Metal, WhatIsAskedForHappensInOrder) {
  void* module = module_of(kAddOne);
  const std::uint64_t step = hd_metal_device.alignment;
  const std::uint64_t view = hd_metal_device.view(x_.device, step, 16);
  EXPECT_EQ(launch(module, "add_one", x_.device), HD_OK);  // 1 1 1 0
  hd_metal_device.copy(x_.device, view, 16);               // a copy of it
  EXPECT_EQ(launch(module, "add_one", view), HD_OK);       // 2 2 2 0
  const std::int32_t nines[] = {9, 9, 9, 9};
  hd_metal_device.write(x_.device, 0, nines, 16);  // later than the copy
  EXPECT_EQ(launch(module, "add_one", x_.device), HD_OK);
  EXPECT_EQ(numbers(x_.device), (std::vector<std::int32_t>{10, 10, 10, 9}));
  EXPECT_EQ(numbers(view), (std::vector<std::int32_t>{2, 2, 2, 0}));
  device::release(view);
}

// Blits take whole units of four bytes: what is behind an array of five stays.
TEST_F(Metal, ArraysOfAnyNumberOfBytesAreCopied) {
  const std::uint64_t from = device::allocate(5),
                      to = hd_metal_device.view(x_.device, hd_metal_device.alignment, 16);
  device::write(from, std::vector<std::byte>(5, std::byte{7}));
  hd_metal_device.copy(from, to, 5);
  EXPECT_EQ(device::take_faults(), std::vector<std::string>());
  EXPECT_EQ(device::read(to, 5), std::vector<std::byte>(5, std::byte{7}));
  EXPECT_EQ(device::read(x_.device, 16), std::vector<std::byte>(16));
  device::release(to);
  device::release(from);
}

TEST_F(Metal, MemoryThatCommandsUseOutlivesItsRelease) {
  void* module = module_of(kAddOne);
  const std::uint64_t other = device::allocate(16);
  EXPECT_EQ(launch(module, "add_one", other), HD_OK);
  device::release(other);
  EXPECT_EQ(metal::live_objects("MTLBuffer"), objects_[0] + 2);
  EXPECT_EQ(device::take_faults(), std::vector<std::string>());
  EXPECT_EQ(metal::live_objects("MTLBuffer"), objects_[0] + 1);
}

// The failure that is made, and the words that tell it.
struct Failure {
  const char *method, *why, *words;
};

TEST_F(Metal, FailuresAreToldOnceAndTheDeviceGoesOn) {
  void* good = module_of(kAddOne);
  std::string fresh = kAddOne;
  for (const Failure& f :
       {Failure{"newLibraryWithSource:options:error:", "program_source:3: no",
                "building shaders: program_source:3: no"},
        Failure{"newComputePipelineStateWithFunction:error:", "too big", "launch add_one: too big"},
        Failure{"commit", "the GPU was lost", "the GPU was lost"}}) {
    fresh += "// another text\n";
    metal::fail_next(f.method, f.why);
    launch(module_of(fresh.c_str()), "add_one", x_.device);
    const std::vector<std::string> told = device::take_faults();
    ASSERT_EQ(told.size(), 1u) << f.method;
    EXPECT_NE(told[0].find(f.words), std::string::npos) << told[0];
    EXPECT_EQ(device::take_faults().size(), 0u) << f.method;
    EXPECT_EQ(launch(good, "add_one", x_.device), HD_OK);
    EXPECT_EQ(device::take_faults().size(), 0u) << f.method;
  }
  EXPECT_EQ(numbers(x_.device), (std::vector<std::int32_t>{3, 3, 3, 0}));
}

TEST_F(Metal, LaunchesThatNoGpuTakesAreRefused) {
  void* module = module_of(kAddOne);
  EXPECT_NE(launch(module, "missing", x_.device), HD_OK);
  EXPECT_NE(device::take_faults()[0].find("launch missing"), std::string::npos);
  EXPECT_NE(launch(module, "add_one", x_.device, 2000), HD_OK);
  EXPECT_NE(device::take_faults()[0].find("more threads in a block"), std::string::npos);
  EXPECT_NE(launch(nullptr, "add_one", x_.device), HD_OK);
  EXPECT_EQ(numbers(x_.device), (std::vector<std::int32_t>{0, 0, 0, 0}));
}

// A program on the device: no room is an error, a lost GPU too, and afterwards it runs.
TEST_F(Metal, ProgramsSayWhatTheGpuSaidAndRunAfterwards) {
  const Program p = trace([](const Tensor& x) { return exp(x) + 1.0; }, {heddle::f32({40})});
  const std::vector<Literal> x = {splat(heddle::f32({40}), 0.5)};
  metal::fail_next("newBufferWithLength:options:");
  expect_error<RuntimeError>([&] { compile(p, {.target = device::target()}); }, "metal");
  const auto executable = compile(p, {.target = device::target()});
  metal::fail_next("commit", "caused GPU hang");
  const std::string text =
      expect_error<RuntimeError>([&] { executable->run("main", x); }, "caused GPU hang");
  EXPECT_NE(text.find("main"), std::string::npos) << text;
  EXPECT_NEAR(to_doubles(executable->run("main", x)[0])[39],
              to_doubles(interpret(p, "main", x)[0])[39], 1e-6);
}

}  // namespace
}  // namespace heddle::testing
