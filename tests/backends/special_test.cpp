// Special values through whole kernels: NaN, infinities, signed zeros, vector tails.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/cases.h"
#include "ops/support.h"

namespace heddle::testing {
namespace {

using ops_test::expect_same;
using ops_test::floats;
using ops_test::kInf;
using ops_test::kNaN;

Literal matrix(std::int64_t rows, std::int64_t columns, const std::vector<double>& values) {
  return ops_test::tensor(DType::f32, {rows, columns}, values);
}

std::vector<Literal> run_one(const Function& body, RecipeKind kind, std::vector<Literal> inputs) {
  return KernelRunner({kernel_of(body, kind)}).run(0, inputs);
}

Function softmax(std::int64_t rows, std::int64_t columns) {
  Builder b("softmax");
  const Dims d{rows, columns};
  const ValueId x = b.input("x", f32(d)), m = emit::reduce_max(b, x, {1});
  const ValueId e = emit::exp(b, emit::sub(b, x, emit::broadcast_in_dim(b, m, d, {0})));
  const ValueId s = emit::reduce_sum(b, e, {1});
  b.output("y", emit::div(b, e, emit::broadcast_in_dim(b, s, d, {0})));
  return b.finish();
}

TEST(Specials, SoftmaxShiftsByItsMaximum) {  // F11
  const auto y = run_one(softmax(4, 2), RecipeKind::rows,
                         {matrix(4, 2, {kInf, 0, 1000, 1000, -kInf, -kInf, -kInf, 0})});
  expect_same(y[0], {kNaN, kNaN, 0.5, 0.5, kNaN, kNaN, 0, 1});
}

TEST(Specials, NaNWinsEveryMaximumAndMinimumWhereverItStands) {  // F2
  for (std::int64_t columns : {5, 16, 33, 100}) {
    Builder b("extremes");
    const ValueId x = b.input("x", f32({columns, columns}));
    b.output("max", emit::reduce_max(b, x, {1}));
    b.output("min", b.emit(op_reduce_min, {x}, Attributes::of(AxesAttributes{{1}})));
    const Function rows = b.finish();
    Builder c("extremes");
    const ValueId y = c.input("x", f32({columns, columns}));
    c.output("max", emit::reduce_max(c, y, {0}));
    c.output("min", c.emit(op_reduce_min, {y}, Attributes::of(AxesAttributes{{0}})));
    const Function sums = c.finish();
    // NaN on the diagonal: every row and column has one, at every place of a vector.
    std::vector<double> v(static_cast<std::size_t>(columns * columns), 1.0);
    for (std::int64_t i = 0; i < columns; ++i) v[static_cast<std::size_t>(i * columns + i)] = kNaN;
    const std::vector<double> nan(static_cast<std::size_t>(columns), kNaN);
    for (const auto& [body, kind] :
         {std::pair{rows, RecipeKind::rows}, {sums, RecipeKind::columns}}) {
      for (const Literal& l : run_one(body, kind, {matrix(columns, columns, v)})) {
        expect_same(l, nan, "columns " + std::to_string(columns));
      }
    }
  }
}

TEST(Specials, ReluAndClampKeepNaN) {
  Builder b("relu");
  const ValueId x = b.input("x", f32({5}));
  b.output("relu", emit::max(b, x, emit::zeros_like(b, x)));
  const ValueId low = emit::zeros_like(b, x), high = emit::fill_like(b, 6, x);
  b.output("clamp", b.emit(op_clamp, {x, low, high}));
  const Function body = b.finish();
  const std::vector<Literal> in{floats({kNaN, -0.0, 7, -kInf, kInf})};
  const auto want = ops_test::run(Program({body}), in);
  const auto got = KernelRunner({kernel_of(body, RecipeKind::map)}).run(0, in);
  for (std::size_t o = 0; o < 2; ++o) expect_same(got[o], to_doubles(want[o]));
}

TEST(Specials, MultiplyingByZeroIsNotFolded) {  // F18
  Builder b("zero");
  const ValueId x = b.input("x", f32({3}));
  b.output("y", emit::mul(b, x, emit::zeros_like(b, x)));
  b.output("z", emit::sub(b, x, x));
  const auto y = run_one(b.finish(), RecipeKind::map, {floats({kInf, kNaN, -1})});
  expect_same(y[0], {kNaN, kNaN, -0.0});
  expect_same(y[1], {kNaN, kNaN, 0});
}

TEST(Specials, SignsOfZeroSurviveAdditionAndSubtraction) {  // F16
  Builder b("zeros");
  const ValueId x = b.input("x", f32({4})), y = b.input("y", f32({4}));
  b.output("sum", emit::add(b, x, y));
  b.output("difference", emit::sub(b, x, y));
  const auto r = run_one(b.finish(), RecipeKind::map,
                         {floats({-0.0, 0, -0.0, 0}), floats({0, 0, -0.0, -0.0})});
  expect_same(r[0], {0, 0, -0.0, 0});
  expect_same(r[1], {-0.0, 0, 0, 0});
}

TEST(Specials, MaskOfStrideZeroSelectsEverywhere) {  // F13
  for (std::int64_t n : {1, 7, 8, 9, 16, 17}) {
    Builder b("mask");
    const Dims d{2, 4, n};
    const ValueId m = b.input("m", {DType::boolean, {2, 4, 1}}), x = b.input("x", f32(d));
    b.output("y", emit::select(b, emit::broadcast_in_dim(b, m, d, {0, 1, 2}),
                               emit::zeros_like(b, x), x));
    const auto y = run_one(b.finish(), RecipeKind::map,
                           {splat({DType::boolean, {2, 4, 1}}, 1), random_literal(f32(d), 3)});
    expect_same(y[0], std::vector<double>(static_cast<std::size_t>(8 * n), 0.0));
  }
}

TEST(Specials, VectorTailsHoldTheIdentity) {  // F14
  for (DType dtype : {DType::i8, DType::u8, DType::i32, DType::f32}) {
    for (std::int64_t n : {16, 17, 18, 33}) {
      Builder b("tail");
      const ValueId x = b.input("x", {dtype, {n}});
      b.output("min", b.emit(op_reduce_min, {x}, Attributes::of(AxesAttributes{{0}})));
      b.output("argmin", b.emit(op_argmin, {x}, Attributes::of(AxisAttributes{0})));
      std::vector<double> values(static_cast<std::size_t>(n), 50.0);
      values[0] = 5, values[1] = 1, values[2] = 100;
      const auto y = run_one(b.finish(), RecipeKind::rows, {ops_test::vector_of(dtype, values)});
      expect_same(y[0], {1});
      expect_same(y[1], {1});
    }
  }
}

TEST(Specials, FirstOfEqualElementsIsTheBest) {
  Builder b("best");
  const ValueId x = b.input("x", f32({3, 40}));
  b.output("max", b.emit(op_argmax, {x}, Attributes::of(AxisAttributes{1})));
  b.output("min", b.emit(op_argmin, {x}, Attributes::of(AxisAttributes{1})));
  std::vector<double> v(120, 2.0);
  v[37] = 3, v[39] = 3;                  // row 0: the first of two
  v[40 + 20] = kNaN, v[40 + 30] = kNaN;  // row 1: the first NaN
  const auto y = run_one(b.finish(), RecipeKind::rows, {matrix(3, 40, v)});
  expect_same(y[0], {37, 20, 0});
  expect_same(y[1], {0, 20, 0});
}

}  // namespace
}  // namespace heddle::testing
