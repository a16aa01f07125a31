// A process that finds no OpenCL driver.
#include <gtest/gtest.h>

#include <cstdlib>

#include "heddle/backends/compile.h"
#include "heddle/frontend/eager.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/trace.h"
#include "support/expect_error.h"
#include "support/run_again.h"

namespace heddle::testing {
namespace {

constexpr TensorOptions kThere{.carrier = "opencl"};

TEST(OpenClAbsent, IsNamedWithWhatToInstallAndTheCpuGoesOn) {
  if (std::getenv("OCL_ICD_VENDORS") == nullptr) {
    EXPECT_EQ(run_again("OCL_ICD_VENDORS=/nonexistent"), 0);
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
