// Windows, convolutions and pooling against figures of PyTorch 2.15, and the handed cases.
#include <functional>

#include "heddle/graph/ad/transforms.h"
#include "ops/support.h"
#include "support/expect_error.h"

namespace heddle::ops_test {
namespace {

using heddle::testing::expect_error;

/// ((5 i) mod m) + low, as the figures were made with.
Literal pattern(Dims dims, int modulus = 7, int low = -3, DType dtype = DType::f64) {
  std::vector<double> values(static_cast<std::size_t>(element_count(dims).constant()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i * 5) % modulus + low;
  }
  return tensor(dtype, std::move(dims), values);
}

/// The operation's result, then the cotangents of its operands for `cotangent` (ones: empty).
std::vector<Literal> with_cotangents(const Operation& op, const std::vector<Literal>& operands,
                                     const Attributes& attributes, std::optional<Literal> ct = {}) {
  std::vector<Type> types;
  std::vector<std::string> wrt;
  for (const Literal& o : operands) {
    types.push_back(o.type);
    wrt.push_back("x" + std::to_string(wrt.size()));
  }
  const Program p = program_of(op, types, attributes);
  std::vector<Literal> arguments = operands;
  const Type result = p.entry().type(p.entry().outputs[0].value);
  arguments.push_back(ct ? *ct : splat(result, 1));
  return run(vjp(p, wrt), arguments);
}

TEST(window, convolution_with_groups_strides_dilation_and_padding) {  // F9's kind
  const ConvAttributes a{{1, 2}, {1, 0}, {0, 2}, {1, 1}, {2, 1}, 2};
  const Literal x = pattern({1, 4, 4, 5}), w = pattern({2, 2, 2, 3}, 5, -2);
  const auto all =
      with_cotangents(op_conv_general, {x, w}, Attributes::of(a), pattern({1, 2, 3, 3}, 3, -1));
  EXPECT_EQ(to_text(all[0].type), "f64[1,2,3,3]");
  expect_same(all[0], {0, 6, -4, 0, -2, 6, 2, 0, -12, -6, 0, 8, 2, 0, -12, 4, 2, 12});
  expect_same(all[1], {2, 2, 0, -2, -2, 4, 4, 0, -4, -4, 2, 2, 0, -2, -2, 2, 2, 0, -2, -2,
                       2, 2, 0, -2, -2, 4, 4, 0, -4, -4, 2, 2, 0, -2, -2, 2, 2, 0, -2, -2,
                       2, 2, 0, -2, -2, 4, 4, 0, -4, -4, 2, 2, 0, -2, -2, 2, 2, 0, -2, -2,
                       2, 2, 0, -2, -2, 4, 4, 0, -4, -4, 2, 2, 0, -2, -2, 2, 2, 0, -2, -2});
  expect_same(all[2], {-1, -1, 6,  -5, 2, 2,  -1, -1, -1, 2, -5, 2,
                       -1, -1, -1, 2,  2, -5, -1, -1, -1, 2, 2,  2});
}

TEST(window, numbers_beyond_counting_are_refused) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kLeast = -kMost - 1,
                         kHalf = std::int64_t{1} << 62;
  const Type x{DType::f32, {1, 1, 5}}, w{DType::f32, {1, 1, 3}};
  const auto conv = [&](const ConvAttributes& a) {
    return expect_error<ValueError>([&] {
      program_of(op_conv_general, {x, w}, Attributes::of(a));
    });
  };
  for (const std::int64_t n : {kMost, kHalf}) {
    for (const ConvAttributes& a :
         {ConvAttributes{{n}, {0}, {0}, {1}, {1}}, ConvAttributes{{1}, {n}, {0}, {1}, {1}},
          ConvAttributes{{1}, {0}, {n}, {1}, {1}}, ConvAttributes{{1}, {0}, {0}, {n}, {1}},
          ConvAttributes{{1}, {0}, {0}, {1}, {n}}}) {
      EXPECT_NE(conv(a).find("needed at most 1152921504606846976"), std::string::npos) << conv(a);
    }
  }
  EXPECT_NE(conv({{1}, {kLeast}, {0}, {1}, {1}}).find("too small"), std::string::npos);
  const std::int64_t far = std::int64_t{1} << 60;
  expect_error<OverflowError>(
      [&] {
        program_of(op_conv_general, {x, w},
                   Attributes::of(ConvAttributes{{1}, {0}, {0}, {1}, {far}}));
      },
      "3 elements, 1152921504606846976 apart");
  const PoolAttributes pool{{2}, {kMost}, {0}, {0}, true};
  expect_error<ValueError>(
      [&] {
        program_of(op_max_pool, {{DType::f32, {5}}}, Attributes::of(pool));
      },
      "strides");
}

TEST(window, strides_beyond_the_range_take_the_first) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Literal x = doubles({1, 2, 3, 4, 5});
  const auto all =
      with_cotangents(op_slice, {x}, Attributes::of(SliceAttributes{{1}, {5}, {kMost}}));
  expect_same(all[0], {2});
  expect_same(all[1], {0, 1, 0, 0, 0});
  const auto none =
      with_cotangents(op_slice, {x}, Attributes::of(SliceAttributes{{2}, {2}, {kMost}}));
  expect_same(none[0], {});
}

TEST(window, convolution_along_one_axis) {
  const Literal y = apply(op_conv_general, {pattern({2, 1, 5}), pattern({2, 1, 3}, 5, -2)},
                          Attributes::of(ConvAttributes{{1}, {1}, {1}, {1}, {1}}));
  expect_same(y, {2, 2, 0, -2, -2, 2, 2, 0, -2, -2, 0, 6, 4, 2, -4, 0, 6, 4, 2, -4});
}

TEST(window, transposed_convolution_fills_every_channel) {  // F8
  const Literal x = tensor(DType::f32, {1, 1, 3}, {0, 1, 2});
  const Literal ones = tensor(DType::f32, {1, 2, 3}, std::vector<double>(6, 1));
  const Literal y = apply(op_conv_transpose, {x, ones},
                          Attributes::of(ConvTransposeAttributes{{1}, {0}, {0}, {0}, {1}}));
  EXPECT_EQ(to_text(y.type), "f32[1,2,5]");
  expect_same(y, {0, 1, 3, 3, 2, 0, 1, 3, 3, 2});
}

TEST(window, transposed_convolution_with_groups_and_dilation) {  // F9
  const std::vector<double> iota = {0, 1, 2, 3, 4, 5, 6, 7};
  const ConvTransposeAttributes a{{2, 1}, {1, 0}, {0, 1}, {1, 0}, {2, 2}, 2};
  const Literal y =
      apply(op_conv_transpose,
            {tensor(DType::f32, {1, 2, 2, 2}, iota), tensor(DType::f32, {2, 1, 2, 2}, iota)},
            Attributes::of(a));
  EXPECT_EQ(to_text(y.type), "f32[1,2,5,3]");
  expect_same(y, {0, 0, 0, 0,  2,  2,  0, 0, 0, 4,  6,  6,  0, 0, 0,
                  0, 0, 0, 48, 58, 58, 0, 0, 0, 36, 42, 42, 0, 0, 0});
}

TEST(window, transposed_convolution_and_its_derivatives) {
  const ConvTransposeAttributes a{{2, 1}, {1, 0}, {1, 0}, {1, 0}, {2, 1}, 2};
  const auto all =
      with_cotangents(op_conv_transpose, {pattern({1, 2, 2, 3}), pattern({2, 1, 2, 2}, 5, -2)},
                      Attributes::of(a), pattern({1, 2, 4, 4}, 3, -1));
  expect_same(all[0], {0, 0, 0, 0, 10, 0,  -12, -2,  0, 0, 0, 0, 4, -2, -8, -2,
                       0, 0, 0, 0, 2,  12, 0,   -10, 0, 0, 0, 0, 0, 4,  -2, -6});
  expect_same(all[1], {-2, 2, 0, -2, 0, 2, 2, 0, -2, 0, 2, -2});
  expect_same(all[2], {-3, -2, 2, -5, 5, -2, 2, 3});
}

TEST(window, averages_never_count_what_lies_beyond_the_padding) {  // F7
  std::vector<double> values;
  for (int i = 1; i <= 16; ++i) values.push_back(i);
  AvgPoolAttributes a;
  a.window = {3, 3}, a.strides = {2, 2}, a.low = a.high = {1, 1}, a.ceil = a.count_padding = true;
  for (DType d : {DType::f32, DType::f64}) {
    expect_near(apply(op_avg_pool, {tensor(d, {4, 4}, values)}, Attributes::of(a)),
                {14.0 / 9, 10.0 / 3, 2, 19.0 / 3, 11, 6, 4.5, 7.5, 4}, 1e-7, 0);
  }
  a.window = {3, 2}, a.strides = {2, 3};
  const Literal x = pattern({1, 1, 5, 4}, 11);
  auto all = with_cotangents(op_avg_pool, {x}, Attributes::of(a));
  expect_near(all[0], {0.5, 2, 2, 11.0 / 6, 1.0 / 3, 5.0 / 3}, 1e-14, 0);
  const double s = 1.0 / 6, t = 1.0 / 3;
  expect_near(all[1], {s, 0, s, s, t, 0, t, t, s, 0, s, s, t, 0, t, t, s, 0, s, s}, 1e-14, 0);
  a.count_padding = false;
  all = with_cotangents(op_avg_pool, {x}, Attributes::of(a));
  expect_near(all[0], {1.5, 3, 4, 11.0 / 6, 1, 2.5}, 1e-14, 0);
  const double u = 5.0 / 6, v = 5.0 / 12, q = 0.25;
  expect_near(all[1], {0.5, 0, q, q, u, 0, v, v, t, 0, s, s, u, 0, v, v, 0.5, 0, q, q}, 1e-14, 0);
}

TEST(window, maxima_of_windows) {
  const Literal x = pattern({1, 1, 5, 6}, 11);
  auto all = with_cotangents(
      op_reduce_window_max, {x},
      Attributes::of(WindowAttributes{
          {1, 1, 2, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}, {0, 0, 1, 1}, {1, 1, 1, 1}, {1, 1, 2, 1}}));
  expect_same(all[0], {5, 4, 3, 5, 4, 3, 4, 4, 3});
  expect_same(all[1], {0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 2, 0, 0, 0, 0,
                       0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  all = with_cotangents(op_max_pool, {x},
                        Attributes::of(PoolAttributes{{2, 3}, {2, 2}, {1, 1}, {1, 1}, true}));
  expect_same(all[0], {2, 7, 6, 0, 7, 7, 6, 5, 7, 6, 5, 2});
  expect_same(all[1], {0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0,
                       1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0});
}

TEST(window, the_derivative_of_a_maximum_goes_to_its_place) {  // G5, G6
  auto all = with_cotangents(op_max_pool, {doubles({5, 3, 1, 2, 5})},
                             Attributes::of(PoolAttributes{{2}, {1}, {0}, {0}, false}));
  expect_same(all[1], {1, 1, 0, 1, 1});
  std::vector<double> values, wanted(24, 0);
  for (int i = 1; i <= 24; ++i) values.push_back(i == 8 ? 88 : i);
  wanted[1 * 6 + 1] = 4, wanted[1 * 6 + 5] = 1, wanted[3 * 6 + 5] = 1;
  all = with_cotangents(op_max_pool, {tensor(DType::f64, {4, 6}, values)},
                        Attributes::of(PoolAttributes{{3, 3}, {2, 2}, {1, 1}, {1, 1}, false}));
  expect_same(all[1], wanted);
  // The first of equal ones, row by row; a long window, which is folded in several steps.
  all = with_cotangents(op_max_pool, {tensor(DType::f64, {2, 2}, {1, 3, 3, 3})},
                        Attributes::of(PoolAttributes{{2, 2}, {1, 1}, {0, 0}, {0, 0}, false}));
  expect_same(all[1], {0, 1, 0, 0});
  all = with_cotangents(op_max_pool, {doubles({1, 4, 2, 4, 0, 3, 4})},
                        Attributes::of(PoolAttributes{{7}, {1}, {0}, {0}, false}));
  expect_same(all[1], {0, 1, 0, 0, 0, 0, 0});
}

TEST(window, nan_wins_and_padding_never_does) {  // F2, F14
  const auto pool = [](std::int64_t n, std::int64_t pad) {
    return Attributes::of(WindowAttributes{{n}, {n}, {pad}, {pad}, {1}, {1}});
  };
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Literal x = vector_of(d, {kNaN, -1, -2, kNaN, -3, -4});
    expect_same(apply(op_reduce_window_max, {x}, pool(2, 0)), {kNaN, kNaN, -3});
    expect_same(apply(op_reduce_window_min, {x}, pool(2, 0)), {kNaN, kNaN, -4});
    expect_same(apply(op_reduce_window_max, {vector_of(d, {-5, -6})}, pool(4, 1)), {-5});
    expect_same(apply(op_reduce_window_max, {vector_of(d, {-5})}, pool(2, 3)), {-kInf, -5, -kInf});
  }
  for (DType d : {DType::i8, DType::u8}) {
    for (int n : {16, 17, 18}) {
      std::vector<double> values = {5, 1, 100};
      while (static_cast<int>(values.size()) < n) values.push_back(7);
      expect_same(apply(op_reduce_window_min, {vector_of(d, values)}, pool(n, 0)), {1});
    }
  }
}

TEST(window, sums_of_integers_wrap) {  // F12
  const auto pairs = Attributes::of(WindowAttributes{{2}, {1}, {0}, {0}, {1}, {1}});
  expect_same(apply(op_reduce_window_sum, {vector_of(DType::u8, {128, 128, 3})}, pairs), {0, 131});
  expect_same(
      apply(op_conv_general,
            {tensor(DType::u8, {1, 1, 2}, {16, 128}), tensor(DType::u8, {1, 1, 2}, {16, 2})},
            Attributes::of(ConvAttributes{{1}, {0}, {0}, {1}, {1}})),
      {0});
}

}  // namespace
}  // namespace heddle::ops_test
