// A process that finds no OpenCL driver.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "heddle/backends/compile.h"
#include "heddle/frontend/eager.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/trace.h"
#include "support/expect_error.h"

namespace heddle::testing {
namespace {

constexpr TensorOptions kThere{.carrier = "opencl"};

// The running test once more in a process that finds no driver; its exit code.
int run_without_drivers() {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  std::string filter = std::string("--gtest_filter=") + test.test_suite_name() + "." + test.name();
  std::string program = "child", none = "OCL_ICD_VENDORS=/nonexistent";
  char* arguments[] = {program.data(), filter.data(), nullptr};
  std::vector<char*> variables;
  for (char** v = environ; *v != nullptr; ++v) variables.push_back(*v);
  variables.insert(variables.end(), {none.data(), nullptr});
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, variables.data()) != 0) {
    return -1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OpenClAbsent, IsNamedWithWhatToInstallAndTheCpuGoesOn) {
  if (std::getenv("OCL_ICD_VENDORS") == nullptr) {
    EXPECT_EQ(run_without_drivers(), 0);
    return;
  }
  expect_error<NotAvailableError>([] { full({4}, 1, kThere); }, "install");
  const Tensor x = full({4}, 1);
  expect_error<NotAvailableError>([&] { on(x, "opencl"); }, "pocl-opencl-icd");
  Target target = Target::host();
  target.carrier = "opencl";
  const Program program = trace([](const Tensor& t) { return exp(t); }, {heddle::f32({4})});
  expect_error<NotAvailableError>([&] { compile(program, {.target = target}); }, "install");
  EXPECT_EQ(item(sum(x)), 4);
}

}  // namespace
}  // namespace heddle::testing
