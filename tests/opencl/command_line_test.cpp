// The command line for programs on an OpenCL device.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heddle/backends/artifact/toolchain.h"
#include "heddle/frontend/cli/commands.h"
#include "support/test_device.h"

namespace heddle::cli {
namespace {

constexpr char kProgram[] = R"(func @f(x: f32[3,5]) -> (y: f32[3,5], s: f32[3]) {
  %0 = exp(x) : f32[3,5]
  %1 = reduce_sum(%0) {axes=[1]} : f32[3]
  return %0, %1
}
)";

template <class Command>
nlohmann::json printed(int (*run)(const Command&), Command command) {
  testing::device::prepare({});
  const TemporaryFolder folder;
  put_file(folder.path(), "f.heddle", kProgram);
  command.file = folder.path() + "/f.heddle";
  command.json = true;
  ::testing::internal::CaptureStdout();
  const int status = run(command);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(status, 0) << text;
  return nlohmann::json::parse(text);
}

TEST(OpenClCommandLine, InspectSaysWhatKernelsTakeOfTheDevice) {
  InspectCommand command;
  command.target = "host-opencl";
  const nlohmann::json all = printed(inspect_command, command);
  EXPECT_TRUE(all["target"].get<std::string>().ends_with("-opencl")) << all;
  EXPECT_GT(all["device_bytes"].get<int>(), 0);
  for (const nlohmann::json& step : all["functions"][0]["steps"]) {
    EXPECT_GE(step["launches"].get<int>(), 1) << all;
    EXPECT_GE(step["threads"].get<int>(), 1) << all;
    EXPECT_TRUE(step.contains("shared_bytes")) << all;
  }
}

TEST(OpenClCommandLine, RunTakesTheCarrier) {
  RunCommand command;
  command.carrier = "opencl";
  command.inputs = {"x=3x5xf32=0"};
  const nlohmann::json all = printed(run_command, command);
  EXPECT_EQ(all["s"]["values"], (std::vector<double>{5, 5, 5})) << all;
}

}  // namespace
}  // namespace heddle::cli
