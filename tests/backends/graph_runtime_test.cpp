// Programs run as a whole and operation by operation, with fallbacks counted.
#include "heddle/backends/graph_runtime.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/kernel_runner.h"
#include "heddle/graph/definition.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"

namespace heddle::testing {
namespace {

Program model() {
  return parse(
      "func @f(x: f32[4,3], w: f32[3,2]) -> (y: f32[4,2]) {\n"
      "  %0 = matmul(x, w) : f32[4,2]\n  %1 = softmax(%0) {axis = 1} : f32[4,2]\n"
      "  %2 = exp(%1) : f32[4,2]\n  return %2\n}",
      "model.heddle");
}

std::vector<Literal> arguments_of(const Program& p) {
  std::vector<Literal> arguments;
  for (const Input& in : p.entry().inputs) {
    std::vector<double> v;
    const Type& t = p.entry().type(in.value);
    for (std::int64_t i = 0; i < element_count(t); ++i) {
      v.push_back(std::sin(static_cast<double>(i)));
    }
    arguments.push_back(convert(make_literal<double>(t.dims, std::span<const double>(v)), t.dtype));
  }
  return arguments;
}

// req C16: the two modes give the same.
TEST(GraphRuntime, BothModesAgreeWithTheInterpreter) {
  const Program p = model();
  const std::vector<Literal> arguments = arguments_of(p);
  const Literal want = interpret(p, "f", arguments)[0];
  GraphRuntime runtime;
  for (const bool whole : {true, false}) {
    const auto e = runtime.compile(p, {.whole = whole});
    expect_close(e->run(arguments)[0], want, 1e-6, 1e-6, whole ? "whole" : "steps");
  }
  EXPECT_TRUE(runtime.fallbacks().empty());
}

// 2C: decided, warned and counted once; a cached program decides nothing.
TEST(GraphRuntime, CachesByTheTextBeforeThePipeline) {
  GraphRuntime runtime;
  const auto first = runtime.compile(model());
  EXPECT_EQ(runtime.compile(model()), first);
  EXPECT_NE(runtime.compile(model(), {.whole = false}), first);
  EXPECT_EQ(runtime.cache_statistics().hits, 1u);
  EXPECT_EQ(runtime.cache_statistics().misses, 2u);
  EXPECT_EQ(runtime.cache_statistics().entries, 2u);
}

// 2C: own kernel, else the decomposition one level deep, else the interpreter; each decision is
// counted and said once, none for what is cached.
TEST(GraphRuntime, FallsBackInOrder) {
  const auto same = [](const BoundOperationCall& call) {
    const Type& x = call.tensor(0).type();
    return ResolvedInvocation(call, uniform_plan(call, x.dtype), {{x}});
  };
  const OperationSchema one{.operands = {{"x", OperandKind::tensor, true}}};
  // No kernel and no decomposition: x + 1, interpreted.
  const OperationDefinition& leaf =
      define_operation("graphs.leaf", one, same,
                       {.vjp = kNonDifferentiable, .reference = [](const ResolvedInvocation& inv) {
                          std::vector<double> y = to_doubles(to_literal(inv.call.tensor(0)));
                          for (double& v : y) v += 1;
                          const Type& t = inv.results[0].type;
                          return make_tensor(convert(
                              make_literal<double>(t.dims, std::span<const double>(y)), t.dtype));
                        }});
  // exp(leaf(x)).
  const OperationDefinition& outer =
      define_operation("graphs.outer", one, same,
                       {.vjp = kNonDifferentiable, .decompose = [&](const NodeContext& at) {
                          Builder b("outer");
                          const ValueId x = b.input("x", at.operands[0]);
                          b.output("y", emit::exp(b, b.add(leaf.operation(), {{x}})[0]));
                          return b.finish();
                        }});
  Builder b("f");
  const ValueId x = b.input("x", {DType::f32, {3}});
  b.output("y", emit::neg(b, b.add(outer.operation(), {{x}})[0]));
  const Program p({b.finish()});
  const std::vector<Literal> arguments{splat({DType::f32, {3}}, 1)};

  std::vector<std::string> said;
  GraphRuntime runtime([&](std::string_view line) { said.emplace_back(line); });
  EXPECT_THROW(runtime.compile(p, {.fallback = Fallback::none}), NotImplementedError);
  EXPECT_TRUE(said.empty());
  const auto e = runtime.compile(p);
  for (double v : to_doubles(e->run(arguments)[0])) EXPECT_NEAR(v, -std::exp(2.0), 1e-5);
  ASSERT_EQ(said.size(), 3u) << "the whole program, the outer operation, the inner one";
  const std::vector<FallbackCount> counts = runtime.fallbacks();
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].operation, "graphs.leaf");
  EXPECT_EQ(counts[0].interpreted, 1u);
  EXPECT_EQ(counts[1].operation, "graphs.outer");
  EXPECT_EQ(counts[1].decomposed, 1u);
  EXPECT_EQ(runtime.compile(p), e);
  EXPECT_EQ(said.size(), 3u);
}

TEST(GraphRuntime, ArgumentsAreChecked) {
  GraphRuntime runtime;
  const Program p = model();
  std::vector<Literal> arguments = arguments_of(p);
  const auto e = runtime.compile(p);
  std::swap(arguments[0], arguments[1]);
  EXPECT_THROW(e->run(arguments), ValueError);
  arguments.pop_back();
  EXPECT_THROW(e->run(arguments), ValueError);
  EXPECT_THROW(runtime.compile(p, {.carrier = "gpu"}), NotAvailableError);
}

}  // namespace
}  // namespace heddle::testing
