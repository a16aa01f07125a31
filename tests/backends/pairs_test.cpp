// Sums over all pairs: one loop for all of a function's, no pair in memory, and the same values.
#include <gtest/gtest.h>

#include "backends/kernel_runner.h"
#include "heddle/backends/compile.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"

namespace heddle::testing {
namespace {

using emit::Axes;

struct Pair {
  ValueId a, b;  ///< of x[i] and y[j], for each pair and coordinate
};
// x[N, C] and y[M, C], or [N] and [M] for no coordinates, side by side.
Pair pair_up(Builder& b, ValueId x, ValueId y) {
  const Dims n = b.type(x).dims, m = b.type(y).dims;
  Dims dims{n[0], m[0]};
  Axes first{0}, second{1};
  if (n.size() > 1) dims.push_back(n[1]), first.push_back(2), second.push_back(2);
  return {emit::broadcast_in_dim(b, x, dims, first), emit::broadcast_in_dim(b, y, dims, second)};
}

void check(const Program& p, std::size_t most_steps, std::int64_t most_elements) {
  const std::unique_ptr<Executable> e = compile(p);
  const FunctionPlan& plan = e->plan().functions[0];
  EXPECT_LE(plan.steps.size(), most_steps);
  for (const Buffer& b : plan.buffers) EXPECT_LE(element_count(b.type), most_elements);
  const Function& f = p.entry();
  std::vector<Literal> operands;
  for (const Input& in : f.inputs) {
    operands.push_back(
        random_literal(f.type(in.value), 3 + static_cast<unsigned>(operands.size()), -1, 1));
  }
  const auto got = e->run(f.name, operands), want = interpret(p, f.name, operands);
  for (std::size_t o = 0; o < want.size(); ++o) {
    expect_close(got[o], want[o], 2e-5, 2e-4, f.name + "." + f.outputs[o].name);
  }
}

// Energy of all pairs at a softened distance, of three coordinates.
Program energy(std::int64_t n, std::int64_t coordinates) {
  Builder b("energy");
  const ValueId x = b.input("x", {DType::f32, {n, coordinates}});
  const Pair p = pair_up(b, x, x);
  const ValueId d = emit::sub(b, p.a, p.b);
  const ValueId r2 = emit::add(b, emit::reduce_sum(b, emit::mul(b, d, d), {2}), 1);
  const ValueId each = emit::div(b, emit::fill_like(b, 1, r2), emit::mul(b, r2, r2));
  b.output("e", emit::reduce_sum(b, each, {0, 1}));
  return Program({b.finish()});
}

TEST(Pairs, EnergyAndForcesAreOneLoopAndATotal) {
  for (std::int64_t n : {256, 77, 16}) {
    check(energy(n, 3), 2, 3 * n);
    check(value_and_grad(energy(n, 3), {"x"}), 2, 3 * n);
  }
  check(value_and_grad(energy(100, 1), {"x"}), 3, 100);
}

// The tree with its sides swapped is another tree: computed for either sum, stored for none.
TEST(Pairs, SidesThatDiffer) {
  Builder b("cross");
  const ValueId x = b.input("x", {DType::f32, {96}}), y = b.input("y", {DType::f32, {120}});
  const Pair p = pair_up(b, x, y);
  const ValueId d = emit::sub(b, p.a, emit::mul(b, p.b, 0.5));
  b.output("s", emit::reduce_sum(b, emit::exp(b, emit::neg(b, emit::mul(b, d, d))), {0, 1}));
  const Program program({b.finish()});
  check(value_and_grad(program, {"x", "y"}), 4, 120);
}

// What the sign of a zero matters to is computed with its own.
TEST(Pairs, ZerosOfTheRightSign) {
  Builder b("angles");
  const ValueId x = b.input("x", {DType::f32, {64}}), y = b.input("y", {DType::f32, {64}});
  const Pair px = pair_up(b, x, x), py = pair_up(b, y, y);
  const ValueId dx = emit::sub(b, px.a, px.b), dy = emit::sub(b, py.a, py.b);
  const ValueId angle = b.emit(op_atan2, {dy, emit::sub(b, dx, emit::fill_like(b, 1, dx))});
  b.output("rows", emit::reduce_sum(b, angle, {1}));
  b.output("columns", emit::reduce_sum(b, angle, {0}));
  check(Program({b.finish()}), 3, 64);
}

// A matrix that something else reads stays as it is.
TEST(Pairs, WhatIsNeededInMemoryIsReadThere) {
  Builder b("distances");
  const ValueId x = b.input("x", {DType::f32, {64}});
  const Pair p = pair_up(b, x, x);
  const ValueId d = emit::mul(b, emit::sub(b, p.a, p.b), emit::sub(b, p.a, p.b));
  b.output("d", d);
  b.output("rows", emit::reduce_sum(b, d, {1}));
  b.output("columns", emit::reduce_sum(b, d, {0}));
  check(Program({b.finish()}), 3, 64 * 64);
}

// One particle on another: differences are zeros of either sign, their inverses infinite.
TEST(Pairs, InfiniteTermsStay) {
  Builder b("poles");
  const ValueId x = b.input("x", {DType::f32, {32}});
  const Pair p = pair_up(b, x, x);
  const ValueId d = emit::sub(b, p.a, p.b);
  const ValueId inverse = emit::div(b, emit::fill_like(b, 1, d), d);
  b.output("rows", emit::reduce_sum(b, inverse, {1}));
  b.output("columns", emit::reduce_sum(b, inverse, {0}));
  check(Program({b.finish()}), 3, 32);
}

}  // namespace
}  // namespace heddle::testing
