// Every recipe on regular and ragged sizes: values, threads, regions, updates in place.
#include <gtest/gtest.h>

#include "backends/recipe_cases.h"

namespace heddle::testing {
namespace {

TEST(MapKernels, AgreeWithTheInterpreter) { check_cases(map_cases(), false); }
TEST(MapKernels, StayInsideTheirBuffers) { check_cases(map_cases(), true); }
TEST(ContractKernels, AgreeWithTheInterpreter) { check_cases(contract_cases(), false); }
TEST(ContractKernels, StayInsideTheirBuffers) { check_cases(contract_cases(), true); }
TEST(RowsKernels, AgreeWithTheInterpreter) { check_cases(rows_cases(), false); }
TEST(RowsKernels, StayInsideTheirBuffers) { check_cases(rows_cases(), true); }
TEST(ColumnsKernels, AgreeWithTheInterpreter) { check_cases(columns_cases(), false); }
TEST(ColumnsKernels, StayInsideTheirBuffers) { check_cases(columns_cases(), true); }
TEST(ScatterKernels, AgreeWithTheInterpreter) { check_cases(scatter_cases(), false); }
TEST(ScatterKernels, StayInsideTheirBuffers) { check_cases(scatter_cases(), true); }

}  // namespace
}  // namespace heddle::testing
