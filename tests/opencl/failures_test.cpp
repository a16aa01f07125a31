// What goes wrong on an OpenCL device is kept until somebody asks.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "heddle/runtime/device/opencl.h"
#include "support/kernel_buffer.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

const char kOne[] =
    "__kernel void one(__global int *x, __local int *unused) { x[get_global_id(0)] = 1; }";

void* module_of(const char* text) {
  void* module = nullptr;
  hd_opencl_device.load(&module, text, static_cast<int>(std::strlen(text)) + 1);
  return module;
}

int run(void* module, const char* name, Buffer& x) {
  const std::size_t sizes[] = {8, 0};
  const std::int8_t is_buffer[] = {1, 0};
  void* args[] = {&x, nullptr};
  const std::int32_t blocks[] = {1, 1, 1}, threads[] = {4, 1, 1};
  return hd_opencl_device.launch(module, name, blocks, threads, 0, sizes, args, is_buffer);
}

class OpenClFailures : public ::testing::Test {
 protected:
  void SetUp() override {
    device::prepare({});
    x_.device = device::allocate(16);
    device::write(x_.device, std::vector<std::byte>(16));
  }
  void TearDown() override { device::release(x_.device); }
  int first() {
    int value = 0;
    std::memcpy(&value, device::read(x_.device, 16).data(), sizeof value);
    return value;
  }
  Buffer x_;
};

TEST_F(OpenClFailures, ABrokenShaderGivesTheBuildersWords) {
  EXPECT_EQ(module_of("__kernel void broken( { }"), nullptr);
  EXPECT_NE(run(nullptr, "broken", x_), 0);
  const std::vector<std::string> faults = device::take_faults();
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].find("building shaders"), std::string::npos) << faults[0];
  EXPECT_EQ(device::take_faults().size(), 0u);
}

TEST_F(OpenClFailures, NothingHappensUntilTheFirstOneIsTold) {
  void* module = module_of(kOne);
  ASSERT_NE(module, nullptr);
  EXPECT_NE(run(module, "missing", x_), 0);
  EXPECT_NE(run(module, "one", x_), 0);
  EXPECT_NE(hd_opencl_device.failed(), 0);
  const std::vector<std::string> faults = device::take_faults();
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].find("missing"), std::string::npos) << faults[0];
  EXPECT_EQ(first(), 0);
  EXPECT_EQ(run(module, "one", x_), 0);
  EXPECT_EQ(device::take_faults().size(), 0u);
  EXPECT_EQ(first(), 1);
}

// A part of a memory is a kernel's argument as the whole is.
TEST_F(OpenClFailures, ViewsAreParts) {
  device::release(x_.device);
  x_.device = device::allocate(2 * hd_opencl_device.alignment);
  device::write(x_.device, std::vector<std::byte>(2 * hd_opencl_device.alignment));
  const std::uint64_t whole = x_.device;
  x_.device = hd_opencl_device.view(whole, hd_opencl_device.alignment, 16);
  ASSERT_NE(x_.device, 0u);
  EXPECT_EQ(run(module_of(kOne), "one", x_), 0);
  EXPECT_EQ(first(), 1);
  device::release(x_.device);
  x_.device = whole;
  EXPECT_EQ(first(), 0);
}

}  // namespace
}  // namespace heddle::testing
