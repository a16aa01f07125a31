// Programs run as a whole and operation by operation, with fallbacks counted.
#include "heddle/backends/graph_runtime.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/kernel_runner.h"
#include "heddle/graph/interpret.h"
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
