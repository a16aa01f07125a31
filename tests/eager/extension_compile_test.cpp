// Extensions and compiled kernels: by their decomposition, or refused by name.
#include "eager/extension_support.h"
#include "heddle/backends/lower.h"
#include "heddle/graph/emit.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

Function cube_body(const NodeContext& at) {
  Builder b("cube");
  const ValueId x = b.input("x", at.operands[0]);
  b.output("y", emit::mul(b, x, emit::mul(b, x, x)));
  return b.finish();
}

TEST(ExtensionCompile, RunsByItsDecomposition) {
  const OperationDefinition& d =
      define_unary("cube", {.vjp = kByDecomposition, .decompose = cube_body});
  Tensor x = tensor({1, -2, 3}, {3});
  require_gradient(x);
  const Tensor y = d({x});
  EXPECT_EQ(elements(y), (Elements{1, -8, 27}));
  backward(sum(y, {0}));
  EXPECT_EQ(elements(*gradient(x)), (Elements{3, 12, 27}));
  const Program p = trace([&](Tensor t) -> Tensor { return d({t}); }, {f32({3})});
  const Lowered lowered = lower(p, Target::host());
  for (const Node& n : lowered.program.entry().nodes) {
    EXPECT_EQ(n.op->extension, nullptr);
  }
}

TEST(ExtensionCompile, WithoutADecompositionItIsRefusedByName) {
  const OperationDefinition& d = define_unary("opaque", {.vjp = kNonDifferentiable});
  const Program p = trace([&](Tensor t) -> Tensor { return d({t}); }, {f32({3})});
  const std::string text =
      expect_error<UnsupportedOperationPlan>([&] { lower(p, Target::host()); });
  EXPECT_NE(text.find("acme.opaque"), std::string::npos) << text;
  EXPECT_NE(text.find("extension_compile_test.cpp"), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle
