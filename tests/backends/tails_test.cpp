// The last elements of a row, which fill no vector, are computed as all others: with several
// outputs of one function too.
#include <gtest/gtest.h>

#include "backends/kernel_runner.h"
#include "heddle/graph/emit.h"
#include "ops/support.h"

namespace heddle::testing {
namespace {

// f(x), f(x) + f(x), (f(x) + v) * v and f(x) * f(x).
Function several(const Operation& op, DType dtype, std::int64_t count) {
  Builder b(op.name);
  const ValueId x = b.input("x", {dtype, {count}}), v = b.input("v", {dtype, {count}});
  const ValueId y = b.emit(op, {x}, op.strict.workloads().at(0).attributes);
  b.output("y", y);
  b.output("twice", emit::add(b, y, y));
  b.output("product", emit::mul(b, emit::add(b, y, v), v));
  b.output("square", emit::mul(b, y, y));
  return b.finish();
}

std::vector<const Operation*> functions() {
  std::vector<const Operation*> all;
  for (const Operation* op : built_in_operations()) {
    const bool one = op->strict.pattern == Pattern::elementwise && op->strict.roles.size() == 1;
    if (one && op->strict.linearize != nullptr) all.push_back(op);
  }
  return all;
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Sums and products round alike wherever they stand: all outputs follow from the first, bit by bit.
TEST(Tails, SeveralOutputsOfOneFunctionAgree) {
  std::vector<Function> bodies;
  std::vector<Kernel> kernels;
  for (const Operation* op : functions()) {
    for (std::int64_t count : {91, 13}) {
      bodies.push_back(several(*op, DType::f32, count));
      kernels.push_back(kernel_of(bodies.back(), RecipeKind::map));
    }
  }
  ASSERT_GE(bodies.size(), 40u);
  KernelRunner runner(kernels);
  std::mt19937_64 random(20240901);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Type type = bodies[k].type(bodies[k].inputs[0].value);
    const std::vector<Literal> in{ops_test::random_literal(type, 0.1, 0.9, random),
                                  ops_test::random_literal(type, -1, 1, random)};
    const std::vector<Literal> out = runner.run(k, in);
    const auto y = view<float>(out[0]), twice = view<float>(out[1]), product = view<float>(out[2]),
               square = view<float>(out[3]), v = view<float>(in[1]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::string where = bodies[k].name + " element " + std::to_string(i);
      EXPECT_TRUE(same(twice[i], y[i] + y[i])) << where;
      EXPECT_TRUE(same(product[i], (y[i] + v[i]) * v[i])) << where;
      EXPECT_TRUE(same(square[i], y[i] * y[i])) << where;
    }
  }
}

}  // namespace
}  // namespace heddle::testing
