// Which products and maps of gates are one kernel, and what plans with them compute, run by
// interpreting kernels on simulated memory.
#include "heddle/schedule/gates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "heddle/graph/builder.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/make_plan.h"
#include "support/run_plan.h"

namespace heddle {
namespace {

constexpr std::uint32_t kSeed = 23;

Literal random(std::mt19937& g, const Type& type) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(element_count(type)));
  for (double& v : values) v = uniform(g);
  return convert(make_literal<double>(type.dims, std::span<const double>(values)), type.dtype);
}

// The plan computes what the program says; its steps.
std::size_t steps_of(Function function, const std::string& of = "@f") {
  const Program program({std::move(function)});
  const Program used = dead_node_elimination(common_subexpression_elimination(program));
  const Plan plan = make_plan(used, Target::host(), nullptr, {.prepare = true, .slices = true});
  verify(plan);
  std::mt19937 g(kSeed);
  std::vector<Literal> inputs;
  for (const Input& in : program.entry().inputs) {
    inputs.push_back(random(g, program.entry().type(in.value)));
  }
  const std::vector<Literal> found = testing::run_plan(plan, inputs),
                             expected = interpret(program, program.entry().name, inputs);
  for (std::size_t o = 0; o < expected.size(); ++o) {
    const std::vector<double> f = to_doubles(found[o]), e = to_doubles(expected[o]);
    EXPECT_EQ(f.size(), e.size());
    for (std::size_t i = 0; i < e.size(); ++i) {
      const bool near = std::fabs(f[i] - e[i]) <= 1e-5 * (1 + std::fabs(e[i]));
      EXPECT_TRUE(near) << of << " seed " << kSeed << " output " << o << " element " << i << "\n"
                        << to_text(plan);
      if (!near) return 0;
    }
  }
  return plan.functions[0].steps.size();
}

struct Shape {
  std::int64_t gates = 4, m = 5, k = 12, width = 32;
  DType dtype = DType::f32;
  std::int64_t n() const { return gates * width; }
};

// Gates, and what they are cut from.
struct Cell {
  Builder b{"f"};
  Shape s;
  ValueId sums, before;

  explicit Cell(Shape shape) : s(shape) {
    const ValueId x = b.input("x", {s.dtype, {s.m, s.n()}}),
                  h = b.input("h", {s.dtype, {s.m, s.k}}),
                  w = b.input("w", {s.dtype, {s.k, s.n()}});
    before = b.input("c", {s.dtype, {s.m, s.width}});
    sums = emit::add(b, emit::dot_general(b, h, w, {.lhs_contract = {1}, .rhs_contract = {0}}), x);
  }
  ValueId cut(std::int64_t from, std::int64_t to) {
    return emit::slice(b, sums, {0, from}, {s.m, to}, {1, 1});
  }
  ValueId gate(std::int64_t g) { return cut(g * s.width, (g + 1) * s.width); }
  ValueId mixed(ValueId x, ValueId y) {
    return emit::add(b, emit::mul(b, emit::logistic(b, x), before), emit::tanh(b, y));
  }
};

std::size_t steps_of_cell(const Shape& s) {
  Cell c(s);
  ValueId state = c.mixed(c.gate(0), c.gate(1));
  for (std::int64_t g = 2; g < s.gates; ++g) state = emit::mul(c.b, state, c.gate(g));
  c.b.output("c", state);
  c.b.output("h", emit::tanh(c.b, state));
  return steps_of(c.b.finish());
}

TEST(Gates, AProductAndTheMapOfItsGatesAreOneStep) {
  for (std::int64_t gates : {2, 3, 4}) EXPECT_EQ(steps_of_cell({.gates = gates}), 1u);
  for (std::int64_t m : {2, 8, 33, 192}) EXPECT_EQ(steps_of_cell({.m = m}), 1u);
  EXPECT_EQ(steps_of_cell({.width = 8, .dtype = DType::f64}), 1u);
}

TEST(Gates, WhereTilesWouldNotFitThereAreTwo) {
  EXPECT_EQ(steps_of_cell({.m = 193}), 2u);
  EXPECT_EQ(steps_of_cell({.m = 1}), 2u);
  EXPECT_EQ(steps_of_cell({.width = 20}), 2u);
  EXPECT_EQ(steps_of_cell({.dtype = DType::f16}), 2u);
}

TEST(Gates, SlicesInAnyOrderAndNotAll) {
  Cell c({});
  c.b.output("c", c.mixed(c.gate(3), c.gate(1)));
  EXPECT_EQ(steps_of(c.b.finish()), 1u);
  Cell twice({});
  const ValueId gate = twice.gate(2);
  twice.b.output("c", twice.mixed(gate, emit::mul(twice.b, gate, twice.gate(0))));
  EXPECT_EQ(steps_of(twice.b.finish()), 1u);
}

TEST(Gates, OtherSlicesStayApart) {
  Cell offset({});
  offset.b.output("c", offset.mixed(offset.cut(0, 32), offset.cut(40, 72)));
  EXPECT_EQ(steps_of(offset.b.finish()), 2u);

  Cell unequal({});
  const ValueId wide = emit::tanh(unequal.b, unequal.cut(64, 128));
  unequal.b.output("c", emit::mul(unequal.b, unequal.gate(0),
                                  emit::slice(unequal.b, wide, {0, 0}, {5, 32}, {1, 1})));
  EXPECT_EQ(steps_of(unequal.b.finish()), 3u);

  Cell rows({.m = 10});
  const ValueId upper = emit::slice(rows.b, rows.sums, {0, 0}, {5, 128}, {1, 1}),
                lower = emit::slice(rows.b, rows.sums, {5, 0}, {10, 128}, {1, 1});
  rows.b.output("c", emit::mul(rows.b, emit::tanh(rows.b, upper), lower));
  EXPECT_EQ(steps_of(rows.b.finish()), 2u);

  Cell turned({});
  turned.b.output("c", turned.mixed(turned.gate(0), emit::reverse(turned.b, turned.gate(1), {1})));
  EXPECT_EQ(steps_of(turned.b.finish()), 2u);
}

TEST(Gates, WhatElseReadsTheSumsNeedsThemInMemory) {
  Cell output({});
  output.b.output("c", output.mixed(output.gate(0), output.gate(1)));
  output.b.output("sums", output.sums);
  EXPECT_EQ(steps_of(output.b.finish()), 2u);

  Cell reduced({});
  reduced.b.output("c", reduced.mixed(reduced.gate(0), reduced.gate(1)));
  reduced.b.output("total", emit::reduce_sum(reduced.b, reduced.sums, {0}));
  EXPECT_EQ(steps_of(reduced.b.finish()), 3u);
}

// Steps of a recurrence: a kernel each, whose weights are packed before; the states shown lie where
// they belong.
TEST(Gates, StepsOfARecurrence) {
  const Shape s;
  std::mt19937 g(kSeed);
  Builder b("f");
  const ValueId x = b.input("x", {s.dtype, {4, s.m, s.n()}}),
                w = b.constant(random(g, {s.dtype, {s.width, s.n()}}));
  ValueId h = b.input("h", {s.dtype, {s.m, s.width}}), state = b.input("c", b.type(h));
  std::vector<ValueId> all;
  for (std::int64_t t = 0; t < 4; ++t) {
    const ValueId own = emit::reshape(
        b, emit::slice(b, x, {t, 0, 0}, {t + 1, s.m, s.n()}, {1, 1, 1}), {s.m, s.n()});
    const ValueId sums =
        emit::add(b, own, emit::dot_general(b, h, w, {.lhs_contract = {1}, .rhs_contract = {0}}));
    const auto gate = [&](std::int64_t i) {
      return emit::slice(b, sums, {0, i * s.width}, {s.m, (i + 1) * s.width}, {1, 1});
    };
    state = emit::add(b, emit::mul(b, emit::logistic(b, gate(1)), state),
                      emit::mul(b, emit::logistic(b, gate(0)), emit::tanh(b, gate(2))));
    h = emit::mul(b, emit::logistic(b, gate(3)), emit::tanh(b, state));
    all.push_back(emit::reshape(b, h, {1, s.m, s.width}));
  }
  b.output("h", emit::concatenate(b, all, 0));
  EXPECT_EQ(steps_of(b.finish()), 4u);
}

}  // namespace
}  // namespace heddle
