// Every dtype through every recipe, at extents that fill vectors and leave a rest.
#include <gtest/gtest.h>

#include "backends/cases.h"

namespace heddle::testing {
namespace {

struct Precision {
  double tolerance, low, high;
};
// Sums of 16-bit floats are rounded once, here from f32, in the reference from double.
Precision precision_of(DType d) {
  if (d == DType::f64) return {1e-13, -2, 2};
  if (d == DType::f32) return {2e-5, -2, 2};
  if (d == DType::f16) return {2e-3, -2, 2};
  if (d == DType::bf16) return {1.6e-2, -2, 2};
  return {0, is_signed(d) ? -9.0 : 0.0, 10};
}

ValueId wide(Builder& b, ValueId v, const Dims& d, std::int64_t axis) {
  return emit::broadcast_in_dim(b, v, d, {axis});
}

Function along_rows(DType t) {
  Builder b("along_rows");
  const Dims d{5, 77};
  const ValueId x = b.input("x", {t, d}), best = emit::reduce_max(b, x, {1});
  const ValueId rest = emit::sub(b, wide(b, best, d, 0), x);
  b.output("rest", rest);
  b.output("sum", emit::reduce_sum(b, emit::mul(b, rest, x), {1}));
  return b.finish();
}
Function along_columns(DType t) {
  Builder b("along_columns");
  const ValueId x = b.input("x", {t, {77, 41}});
  b.output("sum", emit::reduce_sum(b, x, {0}));
  b.output("least", b.emit(op_reduce_min, {x}, Attributes::of(AxesAttributes{{0}})));
  return b.finish();
}
Function winners(DType t) {
  Builder b("winners");
  const ValueId x = b.input("x", {t, {5, 77}});
  b.output("most", b.emit(op_argmax, {x}, Attributes::of(AxisAttributes{1})));
  b.output("least", b.emit(op_argmin, {x}, Attributes::of(AxisAttributes{0})));
  return b.finish();
}
Function total(DType t, std::int64_t n) {
  Builder b("total");
  const ValueId x = b.input("x", {t, {n}});
  b.output("sum", emit::reduce_sum(b, x, {0}));
  b.output("most", emit::reduce_max(b, x, {0}));
  return b.finish();
}
Function product(DType t, std::int64_t m, std::int64_t n, std::int64_t k, bool transposed) {
  Builder b("product");
  const ValueId x = b.input("x", {t, {m, k}}), bias = b.input("bias", {t, {n}});
  const ValueId w = b.input("w", {t, transposed ? Dims{n, k} : Dims{k, n}});
  const ValueId z = emit::dot_general(b, x, w, {{}, {}, {1}, {transposed ? 1 : 0}});
  b.output("z", emit::add(b, z, wide(b, bias, {m, n}, 1)));
  return b.finish();
}
Function indexed(DType t) {
  Builder b("indexed");
  const ValueId x = b.input("x", {t, {20, 9}});
  const ValueId i = b.constant(make_literal<std::int32_t>({6}, {3, 19, 0, 3, 25, -1}));
  const ValueId rows = emit::gather(b, x, i, {0, "drop"});
  b.output("rows", rows);
  b.output("sums", emit::scatter(b, x, i, rows, {0, "clip"}));
  return b.finish();
}
Function moved(DType t) {
  Builder b("moved");
  const ValueId x = b.input("x", {t, {6, 40}}), y = b.input("y", {t, {40, 6}});
  const ValueId turned = emit::transpose(b, y, {1, 0});
  const ValueId z = emit::add(b, emit::mul(b, x, turned), emit::iota(b, t, {6, 40}, 1));
  b.output("padded", emit::pad(b, z, emit::scalar(b, t, 7), {1, -2}, {0, 3}, {0, 1}));
  b.output("both", emit::concatenate(b, Values{x, emit::reverse(b, z, {0, 1})}, 1));
  b.output("flat", emit::reshape(b, z, {240}));
  b.output("chosen", emit::select(b, emit::compare(b, "lt", x, turned), x, z));
  return b.finish();
}

std::vector<KernelCase> cases_of(DType t) {
  const auto [tolerance, low, high] = precision_of(t);
  std::vector<KernelCase> cases;
  const auto add = [&](const Function& f, RecipeKind kind) {
    cases.push_back({f.name + " " + std::string(name_of(t)), f, kind, {}, tolerance, low, high});
  };
  add(along_rows(t), RecipeKind::rows);
  add(along_rows(t), RecipeKind::map);
  add(along_columns(t), RecipeKind::columns);
  add(winners(t), RecipeKind::map);
  add(total(t, 3001), RecipeKind::rows);
  add(product(t, 13, 50, 33, false), RecipeKind::contract);
  add(product(t, 70, 37, 80, true), RecipeKind::contract);
  add(product(t, 13, 50, 33, false), RecipeKind::map);
  add(indexed(t), RecipeKind::scatter);
  add(moved(t), RecipeKind::map);
  return cases;
}

class EveryDType : public ::testing::TestWithParam<DType> {};

TEST_P(EveryDType, AgreesWithTheInterpreterInEveryRecipe) {
  check_cases(cases_of(GetParam()), false);
}
INSTANTIATE_TEST_SUITE_P(DTypes, EveryDType,
                         ::testing::ValuesIn(std::begin(kAllDTypes) + 1, std::end(kAllDTypes)),
                         [](const auto& dtype) { return std::string(name_of(dtype.param)); });

// One dtype of each width.
TEST(DTypes, StayInsideTheirBuffers) {
  for (DType t : {DType::i8, DType::f16, DType::f32, DType::f64}) check_cases(cases_of(t), true);
}

TEST(DTypes, NarrowIntegersWrapBeforeTheyAreWidened) {  // F12
  Builder b("narrow");
  const ValueId x = b.input("x", {DType::u8, {3}});
  b.output("sum", emit::convert(b, emit::add(b, x, x), DType::i16));
  b.output("float", emit::add(b, emit::convert(b, emit::neg(b, x), DType::f32), 1.5));
  const std::vector<Literal> in{make_literal<std::uint8_t>({3}, {128, 7, 0})};
  const auto y = KernelRunner({kernel_of(b.finish(), RecipeKind::map)}).run(0, in);
  EXPECT_EQ(to_doubles(y[0]), (std::vector<double>{0, 14, 0}));
  EXPECT_EQ(to_doubles(y[1]), (std::vector<double>{129.5, 250.5, 1.5}));
}

// Large sums in pieces and narrow accumulators: values whose f16 sum in f16 would stand still.
TEST(DTypes, LongSumsAreRoundedOnce) {
  std::vector<KernelCase> cases;
  for (DType t : {DType::f16, DType::bf16, DType::f64, DType::i8, DType::i64}) {
    const auto [tolerance, low, high] = precision_of(t);
    cases.push_back(
        {"total", total(t, 1000003), RecipeKind::rows, {}, 2 * tolerance, 0, high / 64});
  }
  check_cases(cases, false);
}

}  // namespace
}  // namespace heddle::testing
