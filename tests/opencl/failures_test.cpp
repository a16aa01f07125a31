// What goes wrong on an OpenCL device is kept until somebody asks.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "heddle/runtime/device/opencl.h"
#include "support/kernel_buffer.h"
#include "support/test_device.h"

extern "C" {
int halide_opencl_initialize_kernels(void*, void** module, const char* text, int size);
int halide_opencl_run(void*, void* module, const char* name, int blocks_x, int blocks_y,
                      int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                      const std::size_t* sizes, void** args, const std::int8_t* is_buffer);
}

namespace heddle::testing {
namespace {

const char kOne[] =
    "__kernel void one(__global int *x, __local int *unused) { x[get_global_id(0)] = 1; }";

void* module_of(const char* text) {
  void* module = nullptr;
  halide_opencl_initialize_kernels(nullptr, &module, text, static_cast<int>(std::strlen(text)) + 1);
  return module;
}

int run(void* module, const char* name, Buffer& x) {
  const std::size_t sizes[] = {8, 0};
  const std::int8_t is_buffer[] = {1, 0};
  void* args[] = {&x, nullptr};
  return halide_opencl_run(nullptr, module, name, 1, 1, 1, 4, 1, 1, 0, sizes, args, is_buffer);
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
  EXPECT_NE(hdcore::opencl::finish(), 0);
  EXPECT_NE(std::string(hdcore::opencl::error_text()).find("building shaders"), std::string::npos)
      << hdcore::opencl::error_text();
  EXPECT_EQ(hdcore::opencl::finish(), 0);
}

TEST_F(OpenClFailures, NothingIsLaunchedUntilTheFirstOneIsTold) {
  void* module = module_of(kOne);
  ASSERT_NE(module, nullptr);
  EXPECT_NE(run(module, "missing", x_), 0);
  EXPECT_NE(run(module, "one", x_), 0);
  EXPECT_EQ(first(), 0);
  EXPECT_NE(hdcore::opencl::finish(), 0);
  EXPECT_NE(std::string(hdcore::opencl::error_text()).find("missing"), std::string::npos)
      << hdcore::opencl::error_text();
  EXPECT_EQ(run(module, "one", x_), 0);
  EXPECT_EQ(hdcore::opencl::finish(), 0);
  EXPECT_EQ(first(), 1);
}

}  // namespace
}  // namespace heddle::testing
