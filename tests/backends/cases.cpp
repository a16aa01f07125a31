#include "backends/cases.h"

#include <gtest/gtest.h>

namespace heddle::testing {

void check_cases(const std::vector<KernelCase>& cases, bool checked) {
  std::vector<Kernel> kernels;
  for (const KernelCase& c : cases) kernels.push_back(kernel_of(c.body, c.kind, c.shares));
  KernelRunner runner(kernels, checked);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const KernelCase& c = cases[i];
    const std::vector<Literal> inputs = inputs_of(c);
    const auto want = interpret(Program({c.body}), c.body.name, inputs);
    const auto got = runner.run(i, inputs, 1);
    const auto two = runner.run(i, inputs, 2);
    for (std::size_t o = 0; o < want.size(); ++o) {
      const std::string what = c.name + " output " + std::to_string(o);
      const double t = is_floating(want[o].type.dtype) ? c.tolerance : 0;
      expect_close(got[o], want[o], t, t, what);
      EXPECT_TRUE(two[o] == got[o]) << what << ": two threads give other bits";
    }
  }
}

}  // namespace heddle::testing
