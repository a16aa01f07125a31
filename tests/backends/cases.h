// Kernels as test cases: compiled, run with one and two threads, held against the interpreter.
#ifndef HEDDLE_TESTS_BACKENDS_CASES_H_
#define HEDDLE_TESTS_BACKENDS_CASES_H_

#include <string>
#include <vector>

#include "backends/kernel_runner.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"

namespace heddle::testing {

inline Type f32(Dims dims) { return {DType::f32, std::move(dims)}; }
inline Type i32(Dims dims) { return {DType::i32, std::move(dims)}; }

struct KernelCase {
  std::string name;
  Function body;
  RecipeKind kind = RecipeKind::map;
  std::vector<int> shares{};  ///< by output
  double tolerance = 2e-5;    ///< relative, and absolute
  double low = -2, high = 2;  ///< of random inputs; indices want another range
};

/// The same each time.
inline std::vector<Literal> inputs_of(const KernelCase& c) {
  std::vector<Literal> inputs;
  for (const Input& in : c.body.inputs) {
    const auto seed = static_cast<unsigned>(7 + inputs.size());
    inputs.push_back(random_literal(c.body.type(in.value), seed, c.low, c.high));
  }
  return inputs;
}

/// `checked`: with the code generator's checks of every region. One and two threads must give equal
/// bits, and results agree with the interpreter.
void check_cases(const std::vector<KernelCase>& cases, bool checked);

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_BACKENDS_CASES_H_
