// The handed cases, compiled for the test device.  F1 .. F18, G1 .. G15
#include <gtest/gtest.h>

#include "cases/check.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

TEST(HandedCasesOnDevice, Forward) {
  device::prepare({});
  EXPECT_GT(check_forward_compiled(device::target()), 40u);
}
TEST(HandedCasesOnDevice, Gradients) {
  device::prepare({});
  EXPECT_GT(check_gradients_compiled(device::target()), 20u);
}

}  // namespace
}  // namespace heddle::testing
