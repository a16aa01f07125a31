// A plan that says the order of its sums: who adds in orders of its own refuses, at once and in
// programs, wherever in a program the operation stands.
#include "eager/extension_support.h"
#include "heddle/backends/graph_runtime.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

Invocation resolve_sum(const BoundOperationCall& call) {
  DtypePlan plan = uniform_plan(call, DType::f32);
  plan.accumulation = Accumulation::sequential;
  return {call, plan, {{f32({})}}};
}
Function sum_body(const NodeContext& at) {
  Builder b("in_order");
  b.output("y", emit::reduce_sum(b, b.input("x", at.operands[0]), {0}));
  return b.finish();
}
// (((x0 + x1) + x2) + ..) in f32.
ReferenceResults sum_in_order(const Invocation& inv) {
  float sum = 0;
  for (const double x : elements(inv.call.tensor(0))) sum += static_cast<float>(x);
  return make_tensor(make_literal<float>({}, {sum}));
}
const OperationDefinition& ordered() {
  static const OperationDefinition& d =
      define_unary("ordered", {.vjp = kByDecomposition, .decompose = sum_body}, resolve_sum);
  return d;
}
const OperationDefinition& ordered_with_reference() {
  static const OperationDefinition& d = define_unary(
      "ordered_reference",
      {.vjp = kByDecomposition, .reference = sum_in_order, .decompose = sum_body}, resolve_sum);
  return d;
}
// Its decomposition has the operation inside.
const OperationDefinition& around() {
  static const OperationDefinition& d =
      define_unary("around",
                   {.vjp = kByDecomposition,
                    .decompose =
                        [](const NodeContext& at) {
                          Builder b("around");
                          const ValueId x = b.input("x", at.operands[0]);
                          b.output("y", b.emit(ordered().operation(), {emit::neg(b, x)}));
                          return b.finish();
                        }},
                   [](const BoundOperationCall& call) {
                     return Invocation(call, uniform_plan(call, DType::f32), {{f32({})}});
                   });
  return d;
}

Program program_of(const OperationDefinition& d) {
  return trace([&](Tensor x) -> Tensor { return d({x}); }, {f32({3})}, {.name = "f"});
}
const std::vector<Literal> kIn{make_literal<float>({3}, {1e8f, 3, -1e8f})};

// Ruling 28.
TEST(Order, ProgramsAreRefusedAsCallsAre) {
  for (const OperationDefinition* d : {&ordered(), &ordered_with_reference(), &around()}) {
    SCOPED_TRACE(d->name);
    const Program p = program_of(*d);
    const std::string text = expect_error<UnsupportedOperationPlan>([&] { compile(p); });
    EXPECT_NE(text.find("order_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("the order of its sums"), std::string::npos) << text;
    EXPECT_NE(text.find(d == &around() ? "[acme.ordered]" : "[" + d->name + "]"), std::string::npos)
        << text;
    for (const char* carrier : {"cpu", "tiled"}) {
      const Tensor x = tensor({1, 2, 3}, {3}, {.carrier = carrier});
      expect_error<UnsupportedOperationPlan>([&] { (*d)({x}); }, "order");
    }
  }
}

TEST(Order, InterpretersKeepItOrRefuse) {
  EXPECT_EQ(to_doubles(interpret(program_of(ordered_with_reference()), "f", kIn)[0]), Elements{0})
      << "1e8 + 3 is 1e8 in f32, where a sum in f64 is 3";
  expect_error<UnsupportedOperationPlan>([] { interpret(program_of(ordered()), "f", kIn); },
                                         "[acme.ordered] order_test.cpp:");
  const Tensor x = on(make_tensor(kIn[0]), "reference");
  EXPECT_EQ(elements(ordered_with_reference()({x})), Elements{0});
  expect_error<UnsupportedOperationPlan>([&] { around()({x}); }, "the order of its sums");
}

TEST(Order, FallbacksKeepItOrRefuse) {
  GraphRuntime runtime([](std::string_view) {});
  const auto run = [&](const OperationDefinition& d, Fallback fallback) {
    return to_doubles(runtime.compile(program_of(d), {.fallback = fallback})->run(kIn)[0]);
  };
  for (const Fallback f : {Fallback::reference, Fallback::full}) {
    EXPECT_EQ(run(ordered_with_reference(), f), Elements{0});
    expect_error<UnsupportedOperationPlan>([&] { run(ordered(), f); }, "the order of its sums");
    expect_error<UnsupportedOperationPlan>([&] { run(around(), f); }, "the order of its sums");
  }
}

// The value beside a derivative is the operation's still.
TEST(Order, DerivativesAloneAreOfTheDecomposition) {
  const Program both = value_and_grad(program_of(ordered_with_reference()), "x0");
  expect_error<UnsupportedOperationPlan>([&] { compile(both); }, "the order of its sums");
  const std::vector<Literal> found = interpret(both, both.entry().name, kIn);
  EXPECT_EQ(to_doubles(found[0]), Elements{0});
  EXPECT_EQ(to_doubles(found[1]), (Elements{1, 1, 1}));
  const Program g = grad(program_of(ordered()), "x0");
  EXPECT_EQ(to_doubles(compile(g)->run(g.entry().name, kIn)[0]), (Elements{1, 1, 1}));
}

}  // namespace
}  // namespace heddle
