// Constant factors are packed when an instance is made, and products read the panels: against the
// interpreter.
#include "heddle/schedule/prepare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "heddle/backends/compile.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"

namespace heddle::testing {
namespace {

constexpr unsigned kSeed = 61;

Literal random(std::mt19937& g, DType dtype, std::vector<std::int64_t> extents) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::int64_t count = 1;
  for (std::int64_t e : extents) count *= e;
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) v = uniform(g);
  const Type type{dtype, Dims(extents.begin(), extents.end())};
  if (dtype == DType::f64) return make_literal<double>(type.dims, values);
  return make_literal<float>(type.dims, std::vector<float>(values.begin(), values.end()));
}

struct Product {
  std::int64_t m, k, n;
  DType dtype = DType::f32;
  bool transposed = false;
};

ValueId multiplied(Builder& b, ValueId x, ValueId w, bool transposed) {
  return emit::dot_general(b, x, w, {.lhs_contract = {1}, .rhs_contract = {transposed ? 1 : 0}});
}

// max(x w + 1, 0)
Program layer(const Product& p, const Literal& w) {
  Builder b("layer");
  const ValueId x = b.input("x", {p.dtype, {p.m, p.k}});
  const ValueId y = emit::add(b, multiplied(b, x, b.constant(w), p.transposed), 1.0);
  b.output("y", emit::max(b, y, emit::zeros_like(b, y)));
  return Program({b.finish()});
}

void expect_near(const Literal& found, const Literal& expected, double tolerance) {
  const std::vector<double> f = to_doubles(found), e = to_doubles(expected);
  ASSERT_EQ(f.size(), e.size());
  for (std::size_t i = 0; i < e.size(); ++i) {
    ASSERT_NEAR(f[i], e[i], tolerance * (1 + std::fabs(e[i]))) << "element " << i;
  }
}

const FunctionPlan* preparation(const Plan& plan) {
  for (const FunctionPlan& f : plan.functions) {
    if (f.name == kPrepare) return &f;
  }
  return nullptr;
}

TEST(Prepare, ProductsReadThePanels) {
  std::mt19937 g(kSeed);
  const Product cases[] = {{32, 40, 10},
                           {32, 784, 512},
                           {7, 33, 17},
                           {2, 100, 16},
                           {65, 20, 48},
                           {128, 64, 100, DType::f64},
                           {5, 9, 8, DType::f64},
                           {32, 40, 70, DType::f32, true},
                           {3, 50, 33, DType::f64, true}};
  for (const Product& c : cases) {
    SCOPED_TRACE(std::to_string(c.m) + "x" + std::to_string(c.k) + "x" + std::to_string(c.n) +
                 " seed " + std::to_string(kSeed));
    const Literal w =
        random(g, c.dtype, c.transposed ? std::vector{c.n, c.k} : std::vector{c.k, c.n});
    const Program program = layer(c, w);
    const auto compiled = compile(program);
    const FunctionPlan* prepare = preparation(compiled->plan());
    ASSERT_NE(prepare, nullptr);
    EXPECT_EQ(prepare->outputs.size(), 1u);
    const std::vector<Literal> x{random(g, c.dtype, {c.m, c.k})};
    const double tolerance = c.dtype == DType::f32 ? 2e-5 : 1e-13;
    expect_near(compiled->run("layer", x)[0], interpret(program, "layer", x)[0], tolerance);
  }
}

// Rows of several axes are rows.
TEST(Prepare, RowsOfSeveralAxes) {
  std::mt19937 g(kSeed);
  Builder b("steps");
  const ValueId x = b.input("x", {DType::f32, {6, 4, 20}});
  const ValueId w = b.constant(random(g, DType::f32, {20, 40}));
  b.output("y", emit::dot_general(b, x, w, {.lhs_contract = {2}, .rhs_contract = {0}}));
  const Program program({b.finish()});
  const auto compiled = compile(program);
  EXPECT_NE(preparation(compiled->plan()), nullptr);
  const std::vector<Literal> in{random(g, DType::f32, {6, 4, 20})};
  expect_near(compiled->run("steps", in)[0], interpret(program, "steps", in)[0], 2e-5);
}

// One constant, in two functions, along either axis, and read otherwise, too.
TEST(Prepare, EachOnceForAWholeProgram) {
  std::mt19937 g(kSeed);
  const Literal w = random(g, DType::f32, {48, 48});
  std::vector<Function> functions;
  for (const char* name : {"first", "second"}) {
    Builder b(name);
    const ValueId x = b.input("x", {DType::f32, {24, 48}}), c = b.constant(w);
    const ValueId y = multiplied(b, multiplied(b, x, c, false), c, true);
    b.output("y", emit::tanh(b, y));
    b.output("rows", emit::reduce_sum(b, emit::exp(b, c), {1}));
    functions.push_back(b.finish());
  }
  const Program program(std::move(functions));
  const auto compiled = compile(program);
  const FunctionPlan* prepare = preparation(compiled->plan());
  ASSERT_NE(prepare, nullptr);
  EXPECT_EQ(prepare->outputs.size(), 2u);
  const std::vector<Literal> x{random(g, DType::f32, {24, 48})};
  for (const char* name : {"first", "second"}) {
    const std::vector<Literal> found = compiled->run(name, x),
                               expected = interpret(program, name, x);
    for (std::size_t o = 0; o < 2; ++o) expect_near(found[o], expected[o], 2e-5);
  }
  EXPECT_THROW(compiled->run(kPrepare, {}), ValueError);
}

// A single row, integers, and factors that are computed are read as they lie.
TEST(Prepare, WhatIsNotPacked) {
  std::mt19937 g(kSeed);
  const Literal w = random(g, DType::f32, {40, 30});
  EXPECT_EQ(preparation(compile(layer({1, 40, 30}, w))->plan()), nullptr);
  Builder b("computed");
  const ValueId x = b.input("x", {DType::f32, {8, 40}}), s = b.input("s", {DType::f32, {40, 30}});
  b.output("y", multiplied(b, x, emit::mul(b, b.constant(w), s), false));
  const Program program({b.finish()});
  const auto compiled = compile(program);
  EXPECT_EQ(preparation(compiled->plan()), nullptr);
  const std::vector<Literal> in{random(g, DType::f32, {8, 40}), random(g, DType::f32, {40, 30})};
  expect_near(compiled->run("computed", in)[0], interpret(program, "computed", in)[0], 2e-5);
}

}  // namespace
}  // namespace heddle::testing
