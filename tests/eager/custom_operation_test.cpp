// The way of an operation of one's own, its seven steps on a toy: x / (1 + |x|).
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "eager/extension_support.h"
#include "heddle/backends/register_kernel.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/op_query.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

double softsign(double x) { return x / (1 + std::abs(x)); }

ReferenceResults reference(const ResolvedInvocation& inv) {
  Elements y = elements(inv.call.tensor(0));
  for (double& v : y) v = softsign(v);
  const Type& type = inv.results[0].type;
  return Tensor(tensor(std::span<const double>(y), constant_extents(type.dims),
                       {.dtype = type.dtype, .carrier = "reference"}));
}
Function decompose(const NodeContext& at) {
  Builder b("softsign");
  const ValueId x = b.input("x", at.operands[0]);
  const ValueId below = b.add(op_abs, {{x}})[0];
  b.output("y", emit::div(b, x, emit::add(b, below, 1)));
  return b.finish();
}
int kernel_calls = 0;
int kernel(const ResolvedInvocation& inv, std::span<const std::byte* const> in,
           std::span<std::byte* const> out) {
  ++kernel_calls;
  const auto* x = reinterpret_cast<const float*>(in[0]);
  auto* y = reinterpret_cast<float*>(out[0]);
  const std::int64_t count = element_count(inv.results[0].type);
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] / (1 + std::fabs(x[i]));
  return 0;
}

// Within 2C's tolerance of the dtype.
void expect_near(const Tensor& found, const Elements& wanted) {
  const ResultTolerance near = tolerance_of(found.type().dtype);
  const Elements values = elements(found);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], wanted[i], near.atol + near.rtol * std::abs(wanted[i])) << i;
  }
}

// req C15
TEST(CustomOperation, TakesSevenSteps) {
  // 1. Is it there already? By name, and by composing what is there: the composition of step 5
  // would do, but for the kernel.
  const char* const name = "flow.softsign";
  EXPECT_FALSE(make_op_query().op_registered(name));
  EXPECT_FALSE(make_op_query().op_registered("softsign"));

  // 2. The schema, 3. the reference, 5. the decomposition: one definition.
  const OperationDefinition& op =
      define_operation(name, {.operands = {{"x", OperandKind::tensor, true}}}, like_first,
                       {.vjp = kByDecomposition, .reference = reference, .decompose = decompose});
  EXPECT_TRUE(make_op_query().op_registered(name));
  EXPECT_TRUE(find_schema(name)->decomposes);
  EXPECT_EQ(make_op_query().check_schema(name, 1, 1, {}), std::nullopt);
  EXPECT_EQ(make_op_query().check_schema(name, 2, 1, {}),
            "flow.softsign has 2 inputs, its schema 1");

  // 4. A kernel of its own, on a carrier that has compiled ones beside it.
  const Carrier& carrier = define_carrier("flow", BuiltInKernels::compiled);
  register_kernel(name, carrier.name, host_kernel(kernel));

  // 6. Every carrier against the reference, values and gradients, by the one table of tolerances.
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> range(-4, 4);
  Elements x;
  for (int i = 0; i < 500; ++i) x.push_back(static_cast<float>(range(random)));
  const std::vector<std::int64_t> extents{20, 25};
  const Tensor exact = tensor(std::span<const double>(x), extents, {.carrier = "reference"});
  const Elements wanted = elements(op({exact}));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(wanted[i], softsign(x[i]), 1e-7);
  for (const std::string_view c : {"cpu", "flow"}) {
    SCOPED_TRACE(c);
    Tensor t = tensor(std::span<const double>(x), extents, {.carrier = c});
    expect_near(op({t}), wanted);
    require_gradient(t);
    backward(sum(op({t})));
    // One step looser against differences: the step is 1e-3.
    const Elements slopes = elements(*gradient(t));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double by_difference = (softsign(x[i] + 1e-3) - softsign(x[i] - 1e-3)) / 2e-3;
      EXPECT_NEAR(slopes[i], by_difference, 1e-3 + 1e-2 * std::abs(by_difference)) << x[i];
    }
  }
  EXPECT_EQ(kernel_calls, 2) << "on its own carrier, and on no other";
  const Program p = trace([&](const Tensor& t) { return Tensor(op({t})); }, {f32({20, 25})},
                          {.name = "f", .inputs = {"x"}});
  const std::vector<Literal> arguments{to_literal(exact)};
  expect_near(tensor(compile(p)->run("f", arguments)[0]), wanted);

  // 7. A binding for another language is optional: there is none.
}

}  // namespace
}  // namespace heddle
