// Whether the handed cases give what they should.
#ifndef HEDDLE_TESTS_CASES_CHECK_H_
#define HEDDLE_TESTS_CASES_CHECK_H_

#include <string>
#include <vector>

#include "cases/cases.h"

namespace heddle::testing {

void expect_all(const std::vector<Doubles>& got, const std::vector<Doubles>& wanted,
                double tolerance, const std::string& what);

bool is_wrt(const Literal& l);
Literal cotangent_of(const GradientCase& c, const Type& type);

/// All cases compiled side by side for a target of this machine, one function each; how many there
/// are. Those with element types that its carrier has not are left out. `neighbours`: not the
/// first of each handed one alone.
std::size_t check_forward_compiled(const Target& target, bool neighbours = true);
std::size_t check_gradients_compiled(const Target& target, bool neighbours = true);

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_CASES_CHECK_H_
