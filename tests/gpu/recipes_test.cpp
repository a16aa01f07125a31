// Every recipe on regular and ragged sizes, on the test device, against the interpreter.
#include <gtest/gtest.h>

#include "backends/recipe_cases.h"
#include "gpu/device_runner.h"

namespace heddle::testing {
namespace {

TEST(DeviceRecipes, Map) { check_on_device(map_cases()); }
TEST(DeviceRecipes, Rows) { check_on_device(rows_cases()); }
TEST(DeviceRecipes, Columns) { check_on_device(columns_cases()); }
TEST(DeviceRecipes, Contract) { check_on_device(contract_cases()); }
TEST(DeviceRecipes, Scatter) { check_on_device(scatter_cases()); }

}  // namespace
}  // namespace heddle::testing
