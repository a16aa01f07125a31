// Libraries whose kernels run on the test device, from C programs that link nothing else.
#include "heddle/frontend/export.h"

#include <gtest/gtest.h>

#include <fstream>

#include "backends/kernel_runner.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/backends/process.h"
#include "heddle/frontend/nn.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/optim.h"
#include "heddle/frontend/trace.h"
#include "heddle/graph/interpret.h"
#include "heddle/runtime/npy.h"
#include "support/expect_error.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

// relu(x w + b) and softmax, with a constant: two functions.
std::vector<NamedProgram> functions() {
  const auto layer = [](const Tensor& x, const Tensor& w) {
    return relu(matmul(x, w) + constant(random_literal(heddle::f32({9}), 3)));
  };
  return {{"layer", trace(layer, {heddle::f32({5, 7}), heddle::f32({7, 9})},
                          {.inputs = {"x", "w"}, .outputs = {"y"}})},
          {"rows", trace([](const Tensor& x) { return softmax(x); }, {heddle::f32({33, 100})},
                         {.inputs = {"x"}, .outputs = {"y"}})}};
}

constexpr char kMain[] = R"(
#include <stdio.h>
#include "net.h"
int main(int argc, char **argv) {
  char message[500] = "";
  net_options options = {0};
  options.size = sizeof options;
  options.message = message;
  options.message_bytes = sizeof message;
  net_t *net = net_create(&options);
  if (!net) { printf("%s\n", message); return 3; }
  static float x[35], w[63], y[45];
  for (int i = 0; i < 35; ++i) x[i] = (float)(i % 5) - 2;
  for (int i = 0; i < 63; ++i) w[i] = (float)(i % 7) - 3;
  for (int run = 0; run < 3; ++run) {
    if (net_layer(net, x, w, y)) { printf("%s\n", net_error(net)); return 4; }
  }
  for (int i = 0; i < 45; ++i) printf("%a\n", y[i]);
  const int status = net_selftest(net, argv[1]);
  fprintf(stderr, "%s\n", net_error(net));
  net_destroy(net);
  return status;
}
)";

class DeviceExport : public ::testing::Test {
 protected:
  void SetUp() override {
    device::prepare({});
    export_library(functions(), {.name = "net", .targets = {target()}, .folder = path()});
    put_file(path(), "main.c", kMain);
  }
  std::string path() const { return folder_.path(); }
  static std::string target() { return "host-" + device::target().carrier; }

  // Links main.c with the library, and whatever gives the device.
  void link(const std::string& library, const std::vector<std::string>& more) {
    std::vector<std::string> command{tool("cc"), "-o",    "main",
                                     "main.c",   library, "-lpthread",
                                     "-lm",      "-ldl",  "-Wl,-rpath,$ORIGIN"};
    command.insert(command.end(), more.begin(), more.end());
    run_tool(command, path());
  }
  ProcessResult run(const std::string& library) {
    link(library, device::libraries());
    return run_process({path() + "/main", path() + "/net.check"}, path() + "/run", 120);
  }

  TemporaryFolder folder_;
};

TEST_F(DeviceExport, ACProgramRunsItAndItsSelfTest) {
  std::vector<float> x(35), w(63);
  for (std::size_t i = 0; i < 35; ++i) x[i] = static_cast<float>(i % 5) - 2;
  for (std::size_t i = 0; i < 63; ++i) w[i] = static_cast<float>(i % 7) - 3;
  const Program layer = functions()[0].second;
  const std::vector<Literal> inputs{make_literal<float>({5, 7}, x), make_literal<float>({7, 9}, w)};
  const std::vector<double> want = to_doubles(interpret(layer, "main", inputs)[0]);
  for (const char* library : {"net.a", "net.so"}) {
    const ProcessResult result = run(library);
    ASSERT_TRUE(result.succeeded()) << result.output_text << result.error_text;
    std::istringstream lines(result.output_text);
    std::string line;
    for (double y : want) {
      ASSERT_TRUE(std::getline(lines, line));
      EXPECT_NEAR(std::strtod(line.c_str(), nullptr), y, 1e-5) << library;
    }
  }
}

TEST_F(DeviceExport, WithoutTheDeviceItSaysWhatIsNeeded) {
  link("net.a", {});
  const ProcessResult result =
      run_process({"/usr/bin/env", "OCL_ICD_VENDORS=/nonexistent", path() + "/main", "none"},
                  path() + "/run", 60);
  EXPECT_FALSE(result.succeeded());
  const bool opencl = device::target().carrier == "opencl";
  EXPECT_NE(result.output_text.find(opencl ? "net: opencl: " : "net: metal: there is no Metal"),
            std::string::npos)
      << result.output_text;
  EXPECT_NE(result.output_text.find(opencl ? "install" : "macOS has it"), std::string::npos)
      << result.output_text;
}

TEST_F(DeviceExport, TheSameBytesAgainAndWhatTheJsonSays) {
  const auto read = [](const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string again = path() + "/again";
  export_library(functions(), {.name = "net", .targets = {target()}, .folder = again});
  for (const char* file : {"/net.a", "/net.so", "/net.h", "/net.json", "/net.check"}) {
    EXPECT_EQ(read(path() + file), read(again + file)) << file;
  }
  const std::string json = read(path() + "/net.json");
  for (const char* word : {"\"carrier\": \"", "\"launches\": ", "\"shared_bytes\": "}) {
    EXPECT_NE(json.find(word), std::string::npos) << word;
  }
}

TEST(DeviceExports, OneCarrierPerLibrary) {
  expect_error<ValueError>(
      [] {
        export_library(functions(),
                       {.name = "net", .targets = {"host", "host-" + device::target().carrier}});
      },
      "one carrier");
  expect_error<ValueError>(
      [] { export_library(functions(), {.name = "net", .targets = {"host-vulkan"}}); }, "vulkan");
}

}  // namespace
}  // namespace heddle::testing
