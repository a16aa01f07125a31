// The handed cases, compiled for the test device.  F1 .. F18, G1 .. G15
#include <gtest/gtest.h>

#include "cases/check.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

// One of each: their neighbours, all on the CPU, would take a minute to compile.
TEST(HandedCasesOnDevice, Forward) {
  device::prepare({});
  EXPECT_GE(check_forward_compiled(device::target(), false), 16u);
}
TEST(HandedCasesOnDevice, Gradients) {
  device::prepare({});
  EXPECT_GE(check_gradients_compiled(device::target(), false), 12u);
}

}  // namespace
}  // namespace heddle::testing
