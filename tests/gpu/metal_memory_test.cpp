// What a program on Metal takes and when, counted at Objective-C's functions: one buffer, one
// command buffer a run, constants that are the library's own bytes, and buffers that somebody else
// made.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "backends/kernel_runner.h"
#include "heddle/backends/compile.h"
#include "heddle/backends/process.h"
#include "heddle/frontend/export.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/trace.h"
#include "heddle/graph/interpret.h"
#include "heddle/runtime/device/metal.h"
#include "support/metal/device.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

constexpr char kNewBuffer[] = "newBufferWithLength:options:",
               kNewOver[] = "newBufferWithBytesNoCopy:length:options:deallocator:",
               kNewPipeline[] = "newComputePipelineStateWithFunction:error:",
               kNewLibrary[] = "newLibraryWithSource:options:error:";

// softmax(x w) with a constant w of 64 KB.
Program rows_of_a_product() {
  return trace(
      [](const Tensor& x) {
        return softmax(matmul(x, constant(random_literal(heddle::f32({64, 256}), 3))));
      },
      {heddle::f32({5, 64})}, {.inputs = {"x"}, .outputs = {"y"}});
}

class MetalMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    device::prepare({});
    buffers_ = metal::live_objects("MTLBuffer");
  }
  void TearDown() override {
    EXPECT_EQ(metal::take_faults(), std::vector<std::string>());
    EXPECT_EQ(metal::live_objects("MTLBuffer"), buffers_);
  }
  int buffers_ = 0;
};

TEST_F(MetalMemory, AProgramIsOneBufferAndARunOneCommandBuffer) {
  const Program program = rows_of_a_product();
  const std::vector<Literal> x = {random_literal(heddle::f32({5, 64}), 1)};
  const auto executable = compile(program, {.target = device::target()});
  ASSERT_GT(executable->kernels().size(), 1u);
  // Arena, arguments and arrays between launches; and the constant.
  EXPECT_EQ(metal::live_objects("MTLBuffer"), buffers_ + 2);
  executable->run("main", x);
  metal::take_commits();
  for (const char* method : {kNewBuffer, kNewOver, kNewPipeline, kNewLibrary}) {
    metal::take_calls(method);
  }
  for (int run = 0; run < 3; ++run) {
    const Literal y = executable->run("main", x)[0];
    expect_close(y, interpret(program, "main", x)[0], 2e-5, 1e-6, "softmax");
    EXPECT_EQ(metal::take_commits(), 1);
  }
  // A run makes nothing: shaders and pipelines are the first one's.
  for (const char* method : {kNewBuffer, kNewOver, kNewPipeline, kNewLibrary}) {
    EXPECT_EQ(metal::take_calls(method), 0) << method;
  }
}

TEST_F(MetalMemory, BytesOfTheHostAreMappedWhereABufferMayBegin) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* bytes = static_cast<std::byte*>(std::aligned_alloc(page, 4 * page));
  std::memset(bytes, 7, 4 * page);
  metal::take_calls(kNewOver);
  const hd_memory whole = hd_metal_device.map(bytes, 2 * page),
                  part = hd_metal_device.map(bytes + page + 512, page);
  EXPECT_EQ(metal::take_calls(kNewOver), 2);
  ASSERT_NE(whole, 0u);
  EXPECT_EQ(device::read(part, page), std::vector<std::byte>(page, std::byte{7}));
  bytes[page + 512] = std::byte{8};
  EXPECT_EQ(device::read(part, 1)[0], std::byte{8}) << "not the host's own bytes";
  EXPECT_EQ(hd_metal_device.map(bytes + 64, page), 0u) << "no buffer begins there";
  metal::fail_next(kNewOver);
  EXPECT_EQ(hd_metal_device.map(bytes, page), 0u);
  device::release(part);
  device::release(whole);
  std::free(bytes);
}

// ---- buffers that somebody else made ----

class MetalBuffers : public MetalMemory {
 protected:
  static constexpr std::size_t kIn = 5 * 64 * 4, kOut = 5 * 256 * 4;

  void SetUp() override {
    MetalMemory::SetUp();
    executable_ = compile(program_, {.target = device::target()});
    buffer_ = metal::new_buffer(512 + kIn + 512 + kOut);
    std::memcpy(metal::contents(buffer_) + 512, x_.bytes->data(), kIn);
  }
  void TearDown() override {
    metal::release_buffer(buffer_);
    executable_.reset();
    MetalMemory::TearDown();
  }
  int run(const hd_device_buffer& x, const hd_device_buffer& y, std::uint32_t count = 2) {
    const hd_device_buffer buffers[] = {x, y};
    const auto before = hd_metal_live_memories();
    const int status = hd_run_buffers(executable_->instance(), 0, buffers, count);
    EXPECT_EQ(hd_metal_live_memories(), before);
    return status;
  }
  std::string error() { return hd_error(executable_->instance()); }
  static constexpr std::uint64_t kAt = (512 + kIn + 511) / 512 * 512;

  const Program program_ = rows_of_a_product();
  const Literal x_ = random_literal(heddle::f32({5, 64}), 1);
  std::unique_ptr<Executable> executable_;
  void* buffer_ = nullptr;
};

TEST_F(MetalBuffers, TensorsInThemAreUsedWhereTheyAre) {
  metal::take_calls(kNewBuffer);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(run({buffer_, 512}, {buffer_, kAt}), HD_OK) << error();
  EXPECT_EQ(metal::take_calls(kNewBuffer), 0);
  std::vector<std::byte> y(kOut);
  std::memcpy(y.data(), metal::contents(buffer_) + kAt, kOut);
  const std::vector<Literal> x = {x_};
  expect_close(literal_from_bytes(heddle::f32({5, 256}), y), interpret(program_, "main", x)[0],
               2e-5, 1e-6, "softmax");
}

TEST_F(MetalBuffers, WhatDoesNotFitIsRefusedAndNothingIsKept) {
  const struct {
    hd_device_buffer x, y;
    int status;
    const char* words;
  } kCases[] = {
      {{nullptr, 0}, {buffer_, kAt}, HD_INVALID, "argument 'x' is null"},
      {{buffer_, 4}, {buffer_, kAt}, HD_INVALID, "argument 'x' begins where no array may"},
      {{buffer_, 512}, {buffer_, kAt + 512}, HD_MISMATCH, "argument 'y': expected f32[5,256]"},
      {{buffer_, 512}, {buffer_, 1024}, HD_OVERLAP, "argument 'y' is written and overlaps"},
      {{buffer_, 1 << 30}, {buffer_, kAt}, HD_MISMATCH, "argument 'x': expected f32[5,64]"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(run(c.x, c.y), c.status) << c.words;
    EXPECT_NE(error().find(c.words), std::string::npos) << error();
  }
  EXPECT_EQ(run({buffer_, 512}, {buffer_, kAt}, 1), HD_INVALID) << error();
  EXPECT_EQ(run({buffer_, 512}, {buffer_, kAt}), HD_OK) << error();
}

TEST_F(MetalBuffers, OtherDevicesSaySo) {
  const auto cpu = compile(program_);
  const hd_device_buffer buffers[] = {{buffer_, 512}, {buffer_, kAt}};
  EXPECT_EQ(hd_run_buffers(cpu->instance(), 0, buffers, 2), HD_UNSUPPORTED);
  EXPECT_NE(std::string(hd_error(cpu->instance())).find("the CPU takes no buffers"),
            std::string::npos);
}

// ---- the same from C, as on a Mac ----

constexpr char kMain[] = R"(
#include <stdio.h>
#include <string.h>
#include "net.h"
typedef void *id;
id MTLCreateSystemDefaultDevice(void);
void *sel_registerName(const char *), *object_getClass(id), *class_getMethodImplementation(void *, void *);
int metal_on_cpu_calls(const char *), metal_on_cpu_faults(void);
static void *method(id object, const char *name) {
  return class_getMethodImplementation(object_getClass(object), sel_registerName(name));
}
static id new_buffer(id gpu, uint64_t bytes) {
  return ((id(*)(id, void *, uint64_t, uint64_t))method(gpu, "newBufferWithLength:options:"))(gpu, NULL, bytes, 0);
}
static float *contents(id buffer) { return ((float *(*)(id, void *))method(buffer, "contents"))(buffer, NULL); }
static void release(id object) { ((void (*)(id, void *))method(object, "release"))(object, NULL); }
#define REQUIRE(c) do { if (!(c)) { printf("line %d: %s\n", __LINE__, net_error(net)); return 1; } } while (0)

static float x[5 * 64], y[5 * 256];
int main(void) {
  net_t *net = net_create(NULL);
  REQUIRE(net);
  REQUIRE(metal_on_cpu_calls("newBufferWithBytesNoCopy:length:options:deallocator:") == 1); /* the constant */
  REQUIRE(metal_on_cpu_calls("newBufferWithLength:options:") == 1);                         /* all else */
  for (int i = 0; i < 5 * 64; ++i) x[i] = (float)(i % 7) / 7;
  REQUIRE(net_main(net, x, y) == NET_OK);
  id gpu = MTLCreateSystemDefaultDevice();
  id in = new_buffer(gpu, sizeof x), out = new_buffer(gpu, 512 + sizeof y);
  memcpy(contents(in), x, sizeof x);
  const net_buffer buffers[] = {{in, 0}, {out, 512}};
  REQUIRE(net_main_buffers(net, buffers) == NET_OK);
  REQUIRE(memcmp(contents(out) + 128, y, sizeof y) == 0);
  const net_buffer small[] = {{in, 0}, {in, 0}};
  REQUIRE(net_main_buffers(net, small) == NET_OVERLAP);
  const net_buffer beyond[] = {{in, 0}, {out, 1024}};
  REQUIRE(net_main_buffers(net, beyond) == NET_MISMATCH);
  release(in), release(out);
  net_destroy(net);
  return metal_on_cpu_faults();
}
)";

TEST_F(MetalMemory, AnExportedLibraryMapsItsConstantsAndTakesBuffers) {
  const TemporaryFolder folder;
  export_library({{"main", rows_of_a_product()}},
                 {.name = "net", .targets = {"host-metal"}, .folder = folder.path()});
  put_file(folder.path(), "main.c", kMain);
  for (const char* library : {"net.a", "net.so"}) {
    std::vector<std::string> command{tool("cc"), "-o",    "main",
                                     "main.c",   library, "-lpthread",
                                     "-lm",      "-ldl",  "-Wl,-rpath,$ORIGIN"};
    for (const std::string& more : device::libraries()) command.push_back(more);
    run_tool(command, folder.path());
    const ProcessResult result =
        run_process({folder.path() + "/main"}, folder.path() + "/run", 120);
    EXPECT_TRUE(result.succeeded()) << library << "\n" << result.output_text << result.error_text;
  }
}

}  // namespace
}  // namespace heddle::testing
