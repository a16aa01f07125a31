// Kernels of every recipe on regular and ragged sizes: for every carrier's tests.
#ifndef HEDDLE_TESTS_BACKENDS_RECIPE_CASES_H_
#define HEDDLE_TESTS_BACKENDS_RECIPE_CASES_H_

#include "backends/cases.h"

namespace heddle::testing {

std::vector<KernelCase> map_cases();
std::vector<KernelCase> contract_cases();
std::vector<KernelCase> rows_cases();
std::vector<KernelCase> columns_cases();
std::vector<KernelCase> scatter_cases();

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_BACKENDS_RECIPE_CASES_H_
