// Small inputs that broke real systems, with their right answers: functions of tensors, so that
// each runs at once on any carrier, interpreted, and compiled. Rows named F1a are neighbours of F1.
#ifndef HEDDLE_TESTS_CASES_CASES_H_
#define HEDDLE_TESTS_CASES_CASES_H_

#include <functional>
#include <string>
#include <vector>

#include "heddle/frontend/heddle.h"

namespace heddle::testing {

using Doubles = std::vector<double>;
using Tensors = std::vector<Tensor>;

/// `expected`: the elements of each result. A tolerance of 0 compares exactly, signs of zero too.
struct ForwardCase {
  std::string name;
  std::vector<Literal> inputs;
  std::function<Tensors(const Tensors&)> f;
  std::vector<Doubles> expected;
  double tolerance = 0;
};
std::vector<ForwardCase> forward_cases();

/// `expected`: the gradient of each input, for a cotangent of ones when none is given.
struct GradientCase {
  std::string name;
  std::vector<Literal> inputs;
  std::function<Tensor(const Tensors&)> f;
  std::vector<Doubles> expected;
  Doubles cotangent = {};
  double tolerance = 0;
};
std::vector<GradientCase> gradient_cases();

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_CASES_CASES_H_
