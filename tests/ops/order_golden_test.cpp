// Scans, sorts, slices at computed places and random bits: figures of NumPy, PyTorch and Random123,
// and the handed cases.
#include "heddle/graph/ad/transforms.h"
#include "ops/support.h"

namespace heddle::ops_test {
namespace {

std::vector<Literal> cotangents(const Operation& op, const Literal& x, const Attributes& attributes,
                                const std::vector<double>& ct) {
  const Program p = program_of(op, {x.type}, attributes);
  const Type result = p.entry().type(p.entry().outputs[0].value);
  return run(vjp(p, std::vector<std::string>{"x0"}), {x, tensor(x.type.dtype, result.dims, ct)});
}
Attributes along(std::int64_t axis, bool reverse = false, bool exclusive = false) {
  return Attributes::of(CumulativeAttributes{axis, reverse, exclusive});
}

TEST(order, cumulative_along_each_axis) {
  for (DType d : {DType::f32, DType::f16, DType::i32, DType::i8}) {
    const Literal x = tensor(d, {2, 4}, {2, 0, 3, -1, 1, 1, -2, 0});
    expect_same(apply(op_cumsum, {x}, along(0)), {2, 0, 3, -1, 3, 1, 1, -1});
    expect_same(apply(op_cumsum, {x}, along(1)), {2, 2, 5, 4, 1, 2, 0, 0});
    expect_same(apply(op_cummax, {x}, along(0)), {2, 0, 3, -1, 2, 1, 3, 0});
    expect_same(apply(op_cummax, {x}, along(1)), {2, 2, 3, 3, 1, 1, 1, 1});
    expect_same(apply(op_cummin, {x}, along(1)), {2, 0, 0, -1, 1, 1, -2, -2});
    expect_same(apply(op_cumsum, {x}, along(1, true)), {4, 2, 2, -1, 0, -1, -2, 0});
    expect_same(apply(op_cumsum, {x}, along(1, false, true)), {0, 2, 2, 5, 0, 1, 2, 0});
    expect_same(apply(op_cumsum, {x}, along(1, true, true)), {2, 2, -1, 0, -1, -2, 0, 0});
  }
  const Literal x = tensor(DType::i32, {2, 4}, {2, 0, 3, -1, 1, 1, -2, 0});
  expect_same(apply(op_cumprod, {x}, along(0)), {2, 0, 3, -1, 2, 0, -6, 0});
  expect_same(apply(op_cumprod, {x}, along(1, false, true)), {1, 2, 0, 0, 1, 1, 1, -2});
  expect_same(apply(op_cummax, {vector_of(DType::i8, {3, 1})}, along(0, false, true)), {-128, 3});
  expect_same(apply(op_cumsum, {vector_of(DType::u8, {200, 100})}, along(0)), {200, 44});
}

TEST(order, nan_stays_in_cumulative_extremes) {  // F2
  for (const Operation* op : {&op_cummax, &op_cummin}) {
    expect_same(apply(*op, {floats({1, kNaN, 3, kNaN})}, along(0)), {1, kNaN, kNaN, kNaN});
    expect_same(apply(*op, {floats({kNaN, 1})}, along(0, true)), {kNaN, 1});
  }
}

TEST(order, derivatives_of_cumulative_operations) {  // G9, G10
  expect_same(cotangents(op_cumsum, doubles({1, 2, 3}), along(0), {1, 2, 3})[1], {6, 5, 3});
  expect_same(cotangents(op_cumprod, doubles({2, 0, 3}), along(0), {1, 1, 1})[1], {1, 8, 0});
  expect_same(cotangents(op_cumprod, doubles({2, 0, 3, 0, 4}), along(0), {1, 2, 3, 4, 5})[1],
              {1, 22, 0, 0, 0});
  // The first of equal ones.
  expect_same(cotangents(op_cummax, doubles({1, 3, 3, 2}), along(0), {1, 1, 1, 1})[1],
              {1, 3, 0, 0});
}

TEST(order, sorts_are_stable_and_nan_comes_last) {
  const auto order = [](std::int64_t count, bool descending, bool nan_first = false) {
    return Attributes::of(ArgsortAttributes{0, count, descending, nan_first});
  };
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Literal x = vector_of(d, {2, kNaN, -0.0, 0, kInf, -kInf, 2, kNaN});
    expect_same(apply(op_argsort, {x}, order(8, false)), {5, 2, 3, 0, 6, 4, 1, 7});
    expect_same(apply(op_argsort, {x}, order(8, true)), {4, 0, 6, 2, 3, 5, 1, 7});
    expect_same(apply(op_argsort, {x}, order(3, true, true)), {1, 7, 4});
    expect_same(apply(op_sort, {x}, Attributes::of(SortAttributes{0, true})),
                {kInf, 2, 2, -0.0, 0, -kInf, kNaN, kNaN});
  }
  expect_same(apply(op_argsort, {vector_of(DType::i8, {-128, 127, 0, -1})}, order(4, true)),
              {1, 2, 3, 0});
  expect_same(apply(op_argsort, {vector_of(DType::u64, {1, 0x1p63, 3})}, order(3, false)),
              {0, 2, 1});
  const Literal truth = vector_of(DType::boolean, {1, 0, 1, 0});
  expect_same(apply(op_argsort, {truth}, order(4, false)), {1, 3, 0, 2});
}

TEST(order, the_derivative_of_a_sort_goes_back_where_it_came_from) {  // G14
  const Attributes ascending = Attributes::of(SortAttributes{0, false});
  expect_same(cotangents(op_sort, doubles({2, 1, 2, 0}), ascending, {1, 2, 3, 4})[1], {3, 2, 4, 1});
}

TEST(order, top_k_takes_the_lower_index_first) {
  const Literal x = tensor(DType::f32, {2, 5}, {1, 7, 3, 7, 2, kNaN, 1, kInf, 1, kNaN});
  const Program p = program_of(op_top_k, {x.type}, Attributes::of(TopKAttributes{3}));
  const auto both = run(p, {x});
  expect_same(both[0], {7, 7, 3, kNaN, kNaN, kInf});
  expect_same(both[1], {1, 3, 2, 0, 4, 2});
  const Program reverse = vjp(widen(p), std::vector<std::string>{"x0"});
  const Literal wide = tensor(DType::f64, {2, 5}, {1, 7, 3, 7, 2, 4, 1, 5, 1, 6});
  const auto all = run(reverse, {wide, tensor(DType::f64, {2, 3}, {1, 2, 3, 4, 5, 6})});
  expect_same(all.back(), {0, 1, 3, 2, 0, 6, 0, 5, 0, 4});
}

TEST(order, elements_taken_along_an_axis) {  // F1's kind
  const Literal x = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal i = tensor(DType::i32, {2, 2}, {2, 3, -1, 0});
  expect_same(apply(op_take_along_axis, {x, i}, Attributes::of(GatherAttributes{1, "drop"})),
              {3, 0, 0, 4});
  expect_same(apply(op_take_along_axis, {x, i}, Attributes::of(GatherAttributes{1, "clip"})),
              {3, 3, 4, 4});
}

TEST(order, slices_are_moved_inside) {
  const Literal x = tensor(DType::i32, {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Attributes sizes = Attributes::of(DynamicSliceAttributes{{2, 2}});
  expect_same(apply(op_dynamic_slice, {x, ints({1, 1})}, sizes), {5, 6, 9, 10});
  expect_same(apply(op_dynamic_slice, {x, ints({2, -7})}, sizes), {4, 5, 8, 9});
  const Literal update = tensor(DType::i32, {1, 2}, {-1, -2});
  expect_same(apply(op_dynamic_update_slice, {x, ints({9, 9}), update}),
              {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2});
}

// The known answers of Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(order, philox_gives_the_published_numbers) {
  const auto bits = [](const std::vector<double>& key, const std::vector<double>& counter) {
    return apply(op_rng_bits, {vector_of(DType::u32, key), vector_of(DType::u32, counter)},
                 Attributes::of(RandomAttributes{{4}}));
  };
  constexpr double kOnes = 0xffffffffu;
  expect_same(bits({0, 0}, {0, 0, 0, 0}), {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  expect_same(bits({kOnes, kOnes}, {kOnes, kOnes, kOnes, kOnes}),
              {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  expect_same(
      bits({0xa4093822u, 0x299f31d0u}, {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}),
      {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST(order, the_counter_carries_and_blocks_follow_each_other) {
  const Attributes eight = Attributes::of(RandomAttributes{{8}});
  const Literal key = vector_of(DType::u32, {0, 0});
  constexpr double kOnes = 0xffffffffu;
  const Literal last = vector_of(DType::u32, {kOnes, kOnes, kOnes, kOnes});
  const std::vector<double> values = to_doubles(apply(op_rng_bits, {key, last}, eight));
  EXPECT_EQ(values[4], 0x6627e8d5u);  // counter 0 again
  const Literal before = vector_of(DType::u32, {kOnes, 4, 0, 0});
  const Literal next = vector_of(DType::u32, {0, 5, 0, 0});
  EXPECT_EQ(to_doubles(apply(op_rng_bits, {key, before}, eight))[5],
            to_doubles(apply(op_rng_bits, {key, next}, eight))[1]);
}

TEST(order, distributions_have_their_moments) {
  const Attributes many = Attributes::of(RandomAttributes{{100000}});
  const Literal key = vector_of(DType::u32, {1, 2}), counter = vector_of(DType::u32, {0, 0, 0, 0});
  const auto check = [&](const Operation& op, double mean, double variance, double fourth) {
    double sums[3] = {0, 0, 0};
    for (double v : to_doubles(apply(op, {key, counter}, many))) {
      const double c = v - mean;
      sums[0] += c, sums[1] += c * c, sums[2] += c * c * c * c;
    }
    EXPECT_NEAR(sums[0] / 1e5, 0, 5 * std::sqrt(variance / 1e5)) << op.name;
    EXPECT_NEAR(sums[1] / 1e5, variance, 0.02 * variance) << op.name;
    EXPECT_NEAR(sums[2] / 1e5, fourth, 0.05 * fourth) << op.name;
  };
  check(op_random_uniform, 0.5, 1 / 12.0, 1 / 80.0);
  check(op_random_normal, 0, 1, 3);
  for (double v : to_doubles(apply(op_random_uniform, {key, counter}, many))) {
    ASSERT_TRUE(v >= 0 && v < 1 && std::floor(v * 0x1p24) == v * 0x1p24) << v;
  }
}

}  // namespace
}  // namespace heddle::ops_test
