// Values that other systems got wrong (cases F1..F18), and special values in general.
#include "heddle/graph/passes/passes.h"
#include "ops/support.h"
#include "support/expect_error.h"

namespace heddle::ops_test {
namespace {

const std::vector<DType> kFloats = {DType::f16, DType::bf16, DType::f32, DType::f64};

Attributes axes(std::vector<std::int64_t> a) {
  return Attributes::of(AxesAttributes{std::move(a)});
}
Attributes axis(std::int64_t a) { return Attributes::of(AxisAttributes{a}); }

TEST(forward, gather_clips_or_drops_indices_outside) {
  const Literal x = floats({1, 2, 3, 4, 5}), indices = ints({-1, 0, 4, 5});
  expect_same(apply(op_gather, {x, indices}, Attributes::of(GatherAttributes{0, "clip"})),
              {1, 1, 5, 5});
  expect_same(apply(op_gather, {x, indices}, Attributes::of(GatherAttributes{0, "drop"})),
              {0, 1, 5, 0});
}

TEST(forward, scatter_adds_duplicates_and_drops_what_is_outside) {
  const Literal x = floats({1, 1, 1}), indices = ints({0, 0, 2, 3, -1});
  const Literal updates = floats({1, 2, 4, 8, 16});
  expect_same(apply(op_scatter, {x, indices, updates}, Attributes::of(GatherAttributes{0, "drop"})),
              {4, 1, 5});
  expect_same(apply(op_scatter, {x, indices, updates}, Attributes::of(GatherAttributes{0, "clip"})),
              {20, 1, 13});
}

TEST(forward, nan_wins_in_every_extremum) {  // F2
  for (DType d : kFloats) {
    const Literal x = vector_of(d, {kNaN, 1, kNaN, 0}), y = vector_of(d, {1, kNaN, kNaN, -0.0});
    expect_same(apply(op_max, {x, y}), {kNaN, kNaN, kNaN, 0});
    expect_same(apply(op_max, {y, x}), {kNaN, kNaN, kNaN, 0});
    expect_same(apply(op_min, {x, y}), {kNaN, kNaN, kNaN, -0.0});
    const Literal low = vector_of(d, {0, 0, kNaN, 0}), high = vector_of(d, {1, 1, 1, kNaN});
    expect_same(apply(op_clamp, {vector_of(d, {kNaN, 2, 0, 0}), low, high}), {kNaN, 1, kNaN, kNaN});
    expect_same(apply(op_sign, {vector_of(d, {kNaN, 0, -0.0, -3})}), {kNaN, 0, -0.0, -1});
    expect_same(apply(op_relu, {vector_of(d, {kNaN, -1, 2})}), {kNaN, 0, 2});
    for (const Operation* op : {&op_reduce_max, &op_reduce_min}) {
      expect_same(apply(*op, {vector_of(d, {1, kNaN, 3})}, axes({0})), {kNaN});
      expect_same(apply(*op, {vector_of(d, {kNaN, 1, 3})}, axes({0})), {kNaN});
    }
    expect_same(apply(op_argmax, {vector_of(d, {1, kNaN, 3, kNaN})}, axis(0)), {1});
    expect_same(apply(op_argmin, {vector_of(d, {-1, 0, kNaN})}, axis(0)), {2});
  }
}

TEST(forward, ties_round_to_even) {  // F3
  for (DType d : kFloats) {
    expect_same(apply(op_round_even, {vector_of(d, {0.5, 1.5, 2.5, -0.5, -2.5, 0.75, -0.25})}),
                {0, 2, 2, -0.0, -2, 1, -0.0});
  }
  expect_same(apply(op_round_even, {doubles({0.49999999999999994, 4503599627370497, kInf, kNaN})}),
              {0, 4503599627370497, kInf, kNaN});
}

TEST(forward, a_sum_of_one_value_with_itself) {  // F4
  Builder b("f");
  const ValueId x = b.input("x", {DType::f32, {1}});
  ValueId sum = x;
  for (int i = 0; i < 4; ++i) sum = emit::add(b, sum, x);
  b.output("y", sum);
  const ValueId parts[] = {x, x, x, x, x};
  b.output("z", emit::reduce_sum(b, emit::concatenate(b, parts, 0), {0}));
  const std::vector<Literal> results = run(Program({b.finish()}), {floats({-0.7491791})});
  EXPECT_FLOAT_EQ(static_cast<float>(to_doubles(results[0])[0]), -3.7458956f);
  EXPECT_FLOAT_EQ(static_cast<float>(to_doubles(results[1])[0]), -3.7458956f);
}

TEST(forward, integers_do_not_pass_through_double) {  // F5
  Builder b("f");
  const ValueId x = b.constant(make_literal<std::int64_t>({}, {9007199254740993}));
  const ValueId one = b.constant(make_literal<std::int64_t>({}, {1}));
  b.output("y", emit::div(b, x, one));
  const Program folded = constant_folding(Program({b.finish()}));
  const Literal y = run(folded, {})[0];
  EXPECT_EQ(view<std::int64_t>(y)[0], 9007199254740993);
}

TEST(forward, integers_wrap_and_division_truncates) {
  const Literal x = ints({-7, 7, -7, 7}), y = ints({2, -2, -2, 2});
  expect_same(apply(op_div, {x, y}), {-3, -3, 3, 3});  // F6
  expect_same(apply(op_rem, {ints({-7, 7}), ints({3, -3})}), {-1, 1});
  expect_same(apply(op_rem, {floats({-7.5}), floats({-3})}), {-1.5});
  const double least = -2147483648.0;
  expect_same(apply(op_div, {ints({5, least}), ints({0, -1})}), {0, least});
  expect_same(apply(op_rem, {ints({5, least}), ints({0, -1})}), {5, 0});
  expect_same(apply(op_neg, {ints({least})}), {least});
  expect_same(apply(op_abs, {ints({least, -3})}), {least, 3});
  expect_same(apply(op_add, {ints({2147483647}), ints({1})}), {least});
  expect_same(apply(op_add, {vector_of(DType::u8, {200}), vector_of(DType::u8, {100})}), {44});
  expect_same(apply(op_mul, {vector_of(DType::i16, {300}), vector_of(DType::i16, {300})}), {24464});
  expect_same(apply(op_pow, {ints({2, -1, 0, 3, -1}), ints({10, -3, -1, -1, 4})}),
              {1024, -1, 0, 0, 1});
}

TEST(forward, reductions_of_nothing_are_identities) {  // F10
  const Literal x = tensor(DType::f32, {3, 0, 4}, {});
  expect_same(apply(op_reduce_sum, {x}, axes({1})), std::vector<double>(12, 0));
  expect_same(apply(op_reduce_prod, {x}, axes({1})), std::vector<double>(12, 1));
  expect_same(apply(op_reduce_max, {x}, axes({1})), std::vector<double>(12, -kInf));
  expect_same(apply(op_reduce_min, {x}, axes({1})), std::vector<double>(12, kInf));
  const Literal whole = tensor(DType::i32, {2, 0}, {});
  expect_same(apply(op_reduce_max, {whole}, axes({1})), {-2147483648.0, -2147483648.0});
  expect_same(apply(op_reduce_min, {whole}, axes({1})), {2147483647, 2147483647});
  const Literal truth = tensor(DType::boolean, {2, 0}, {});
  expect_same(apply(op_reduce_any, {truth}, axes({1})), {0, 0});
  expect_same(apply(op_reduce_all, {truth}, axes({1})), {1, 1});
  EXPECT_THROW(apply(op_argmax, {x}, axis(1)), ValueError);
}

TEST(forward, softmax_of_extremes) {  // F11
  for (DType d : kFloats) {
    expect_same(apply(op_softmax, {vector_of(d, {kInf, 0})}, axis(0)), {kNaN, kNaN});
    expect_same(apply(op_softmax, {vector_of(d, {1000, 1000})}, axis(0)), {0.5, 0.5});
    expect_same(apply(op_softmax, {vector_of(d, {-kInf, -kInf})}, axis(0)), {kNaN, kNaN});
    expect_same(apply(op_logsumexp, {vector_of(d, {kInf, 0})}, axis(0)), {kInf});
    expect_same(apply(op_logsumexp, {vector_of(d, {-kInf, -kInf})}, axis(0)), {-kInf});
    expect_same(apply(op_log_softmax, {vector_of(d, {0, -kInf})}, axis(0)), {0, -kInf});
  }
}

TEST(forward, a_broadcast_zero_chosen_everywhere) {  // F13
  for (std::int64_t last : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17}) {
    Builder b("f");
    const ValueId mask = b.input("mask", {DType::boolean, {2, 4, 1}});
    const ValueId x = b.input("x", {DType::f32, {2, 4, last}});
    const ValueId wide = emit::broadcast_in_dim(b, mask, {2, 4, last}, {0, 1, 2});
    b.output("y", emit::select(b, wide, emit::zeros_like(b, x), x));
    std::mt19937_64 random(7);
    const Literal value = random_literal({DType::f32, {2, 4, last}}, 1, 2, random);
    const Literal all = tensor(DType::boolean, {2, 4, 1}, std::vector<double>(8, 1));
    expect_same(run(Program({b.finish()}), {all, value})[0],
                std::vector<double>(static_cast<std::size_t>(8 * last), 0));
  }
}

TEST(forward, extremes_of_odd_lengths_start_right) {  // F14
  for (DType d : {DType::i8, DType::u8, DType::f32}) {
    for (int n : {16, 17, 18}) {
      std::vector<double> values = {5, 1, 100};
      while (static_cast<int>(values.size()) < n) values.push_back(7);
      expect_same(apply(op_reduce_min, {vector_of(d, values)}, axes({0})), {1});
      expect_same(apply(op_argmin, {vector_of(d, values)}, axis(0)), {1});
      expect_same(apply(op_argmax, {vector_of(d, values)}, axis(0)), {2});
    }
  }
}

TEST(forward, signs_of_zero) {  // F16
  for (DType d : kFloats) {
    const Literal minus = vector_of(d, {-0.0}), plus = vector_of(d, {0.0});
    expect_same(apply(op_relu, {minus}), {0.0});
    expect_same(apply(op_abs, {minus}), {0.0});
    expect_same(apply(op_add, {minus, plus}), {0.0});
    expect_same(apply(op_sub, {plus, plus}), {0.0});
    expect_same(apply(op_neg, {plus}), {-0.0});
    expect_same(apply(op_sqrt, {minus}), {-0.0});
    expect_same(apply(op_floor, {minus}), {-0.0});
    expect_same(apply(op_ceil, {vector_of(d, {-0.5})}), {-0.0});
    expect_same(apply(op_expm1, {minus}), {-0.0});
    expect_same(apply(op_log1p, {minus}), {-0.0});
    expect_same(apply(op_tanh, {minus}), {-0.0});
    expect_same(apply(op_sinh, {vector_of(d, {-0.0, kInf, -kInf, kNaN})}),
                {-0.0, kInf, -kInf, kNaN});
    expect_same(apply(op_erf, {minus}), {-0.0});
  }
}

TEST(forward, exponential_and_logarithm_at_the_edges) {  // F17
  expect_same(apply(op_exp, {floats({kInf, kNaN, 89, -kInf})}), {kInf, kNaN, kInf, 0});
  expect_same(apply(op_log, {floats({kInf, kNaN, 0, -1, -0.0})}), {kInf, kNaN, -kInf, kNaN, -kInf});
  expect_near(apply(op_log, {floats({1e-40})}), {-92.1034}, 1e-5, 0);
  expect_same(apply(op_logistic, {floats({-kInf, kInf, kNaN, 0})}), {0, 1, kNaN, 0.5});
  expect_same(apply(op_rsqrt, {floats({0, -0.0, kInf, -1})}), {kInf, -kInf, 0, kNaN});
  expect_same(apply(op_log1p, {floats({-1, -2, kInf})}), {-kInf, kNaN, kInf});
  expect_same(apply(op_expm1, {floats({-kInf, kInf})}), {-1, kInf});
  expect_same(apply(op_erf, {floats({kInf, -kInf, kNaN})}), {1, -1, kNaN});
}

TEST(forward, elementary_functions_at_the_edges) {
  const double half_pi = static_cast<double>(1.57079637f), pi = static_cast<double>(3.14159274f);
  for (const Operation* op : {&op_trunc, &op_cbrt, &op_sin, &op_tan, &op_asin, &op_atan, &op_sinh,
                              &op_asinh, &op_atanh}) {
    expect_same(apply(*op, {floats({0, -0.0, kNaN})}), {0, -0.0, kNaN}, std::string(op->name));
  }
  for (const Operation* op : {&op_trunc, &op_cbrt, &op_sinh, &op_asinh}) {
    expect_same(apply(*op, {floats({kInf, -kInf})}), {kInf, -kInf}, std::string(op->name));
  }
  for (const Operation* op : {&op_sin, &op_cos, &op_tan}) {
    expect_same(apply(*op, {floats({kInf, -kInf})}), {kNaN, kNaN}, std::string(op->name));
  }
  expect_same(apply(op_trunc, {floats({-0.5, 1.9, -1.9})}), {-0.0, 1, -1});
  expect_same(apply(op_exp2, {floats({-kInf, kInf, kNaN, 10, -149, 128})}),
              {0, kInf, kNaN, 1024, 0x1p-149, kInf});
  expect_same(apply(op_log2, {floats({0, -0.0, -1, kInf, kNaN, 0x1p-149, 8})}),
              {-kInf, -kInf, kNaN, kInf, kNaN, -149, 3});
  expect_same(apply(op_cbrt, {floats({27, -8, 0x1p-147})}), {3, -2, 0x1p-49});
  expect_same(apply(op_asin, {floats({1, -1, 1.1, -kInf})}), {half_pi, -half_pi, kNaN, kNaN});
  expect_same(apply(op_acos, {floats({1, -1, 0, 1.1, kNaN})}), {0, pi, half_pi, kNaN, kNaN});
  expect_same(apply(op_atan, {floats({kInf, -kInf})}), {half_pi, -half_pi});
  expect_same(apply(op_cosh, {floats({0, -kInf, kInf, kNaN})}), {1, kInf, kInf, kNaN});
  expect_same(apply(op_acosh, {floats({1, 0.5, -kInf, kInf, kNaN})}), {0, kNaN, kNaN, kInf, kNaN});
  expect_same(apply(op_atanh, {floats({1, -1, 2, kInf})}), {kInf, -kInf, kNaN, kNaN});
  expect_same(apply(op_erfc, {floats({kInf, -kInf, kNaN, 0})}), {0, 2, kNaN, 1});
  // The largest finite results, and a reduction that a short pi gets wrong (figures: mpmath).
  expect_near(apply(op_cosh, {floats({89.4})}), {3.34886275e38}, 1e-6, 0);
  expect_near(apply(op_sin, {floats({0x1.fffffep127})}), {-0.5218765231}, 1e-7, 0);
  expect_near(apply(op_cos, {floats({16367173 * 0x1p72})}), {-1.6147697e-9}, 1e-6, 0);
}

TEST(forward, predicates_of_floats) {
  for (DType d : kFloats) {
    const Literal x = vector_of(d, {kNaN, kInf, -kInf, 0, -1});
    expect_same(apply(op_is_nan, {x}), {1, 0, 0, 0, 0});
    expect_same(apply(op_is_inf, {x}), {0, 1, 1, 0, 0});
    expect_same(apply(op_is_finite, {x}), {0, 0, 0, 1, 1});
  }
}

TEST(forward, angles_in_every_quadrant_and_at_the_origin) {
  const double pi = 3.14159265358979323846;
  const Literal y = doubles({0, -0.0, 0, -0.0, 1, -1, kInf, kInf, -kInf, 1, -1, 1, kNaN, 0});
  const Literal x = doubles({0, 0, -0.0, -0.0, 0, 0, kInf, -kInf, -kInf, -kInf, kInf, -1, 1, kNaN});
  expect_near(apply(op_atan2, {y, x}),
              {0, 0, pi, -pi, pi / 2, -pi / 2, pi / 4, 3 * pi / 4, -3 * pi / 4, pi, 0, 3 * pi / 4,
               kNaN, kNaN},
              1e-15, 0);
  expect_same(apply(op_atan2, {doubles({-0.0, -1}), doubles({0, kInf})}), {-0.0, -0.0});
}

TEST(forward, shifts_by_any_amount) {
  const Literal by = ints({0, 1, 31, 32, 1000, -1});
  const auto same = [](double v) { return ints(std::vector<double>(6, v)); };
  expect_same(apply(op_shl, {same(3), by}), {3, 6, -2147483648.0, 0, 0, 0});
  expect_same(apply(op_shr, {same(-8), by}), {-8, -4, -1, -1, -1, -1});
  expect_same(apply(op_shr, {same(8), by}), {8, 4, 0, 0, 0, 0});
  const Literal u8 = vector_of(DType::u8, {200, 200, 200, 200}),
                places = vector_of(DType::u8, {1, 7, 8, 255});
  expect_same(apply(op_shr, {u8, places}), {100, 1, 0, 0});
  expect_same(apply(op_shl, {u8, places}), {144, 0, 0, 0});
  expect_same(apply(op_xor_, {ints({12, -1}), ints({10, 5})}), {6, -6});
  expect_same(apply(op_xor_, {vector_of(DType::boolean, {0, 0, 1, 1}),
                              vector_of(DType::boolean, {0, 1, 0, 1})}),
              {0, 1, 1, 0});
}

TEST(forward, bits_read_as_another_dtype) {
  const auto to = [](DType d) { return Attributes::of(ConvertAttributes{d}); };
  expect_same(apply(op_bitcast, {floats({1, -0.0})}, to(DType::i32)), {1065353216, -2147483648.0});
  expect_same(apply(op_bitcast, {vector_of(DType::f16, {1, -2})}, to(DType::u16)), {15360, 49152});
  expect_same(apply(op_bitcast, {vector_of(DType::bf16, {1})}, to(DType::f16)), {1.875});
  expect_same(apply(op_bitcast, {vector_of(DType::i8, {-1})}, to(DType::u8)), {255});
}

TEST(forward, infinity_times_zero_is_nan) {  // F18
  for (DType d : kFloats) {
    const Literal zero = vector_of(d, {0, 0, 0});
    expect_same(apply(op_mul, {vector_of(d, {kInf, kNaN, -1}), zero}), {kNaN, kNaN, -0.0});
  }
}

TEST(forward, powers_at_the_edges) {
  expect_same(apply(op_pow, {floats({0, kNaN, 1, 0, 0, -2, -8, kInf}),
                             floats({0, 0, kNaN, -1, 2, 3, 0.5, -1})}),
              {1, 1, 1, kInf, 0, -8, kNaN, 0});
}

TEST(forward, conversion_saturates_truncates_and_wraps) {
  const Literal x = floats({1.9, -1.9, 3e9, -3e9, kNaN, kInf});
  const auto to = [](DType d) { return Attributes::of(ConvertAttributes{d}); };
  expect_same(apply(op_convert, {x}, to(DType::i32)),
              {1, -1, 2147483647, -2147483648.0, 0, 2147483647});
  expect_same(apply(op_convert, {x}, to(DType::u8)), {1, 0, 255, 0, 0, 255});
  expect_same(apply(op_convert, {ints({-7, 300})}, to(DType::u8)), {249, 44});  // F12
  expect_same(apply(op_convert, {floats({0, -0.0, kNaN, 0.5})}, to(DType::boolean)), {0, 0, 1, 1});
  expect_same(apply(op_convert, {floats({65520, 1e-8, 2049})}, to(DType::f16)), {kInf, 0, 2048});
  // Once: by way of f32 these would be ties, and go the other way.
  expect_same(apply(op_convert, {doubles({0x1.002p0, 0x1.002p0 + 0x1p-40, 0x1.006p0 - 0x1p-40})},
                    to(DType::f16)),
              {1, 0x1.004p0, 0x1.004p0});
  expect_same(apply(op_convert, {doubles({0x1p-134, 0x1p-134 + 0x1p-180, 1e300})}, to(DType::bf16)),
              {0, 0x1p-133, kInf});
  const std::int64_t big = (std::int64_t{1} << 60) + (std::int64_t{1} << 52);
  const Literal tie = make_literal<std::int64_t>({3}, {big, big + 1, -big - 1});
  expect_same(apply(op_convert, {tie}, to(DType::bf16)), {0x1p60, 0x1.02p60, -0x1.02p60});
}

TEST(forward, pad_places_and_cuts) {
  const Literal x = floats({1, 2, 3}), value = scalar(DType::f32, 9);
  const auto pad = [&](std::int64_t low, std::int64_t high, std::int64_t interior) {
    return apply(op_pad, {x, value}, Attributes::of(PadAttributes{{low}, {high}, {interior}}));
  };
  expect_same(pad(1, 2, 0), {9, 1, 2, 3, 9, 9});
  expect_same(pad(0, 0, 1), {1, 9, 2, 9, 3});
  expect_same(pad(-1, 1, 1), {9, 2, 9, 3, 9});
  expect_same(pad(-1, -1, 0), {2});
}

// Not the memory nor the time that it would take.
TEST(forward, what_is_beyond_the_reference_is_an_error) {
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  const auto refused = [](const Operation& op, const std::vector<Literal>& x, Attributes a,
                          const std::string& found) {
    const std::string text = testing::expect_error<OverflowError>([&] { apply(op, x, a); });
    EXPECT_NE(text.find("[" + std::string(op.name) + "]"), std::string::npos) << text;
    EXPECT_NE(text.find(found), std::string::npos) << text;
    EXPECT_NE(text.find("at most 2147483647"), std::string::npos) << text;
  };
  const Literal x = floats({1, 2}), value = scalar(DType::f32, 9);
  refused(op_pad, {x, value}, Attributes::of(PadAttributes{{kMany}, {0}, {0}}),
          "f32[1099511627778]");
  refused(op_pad, {x, value}, Attributes::of(PadAttributes{{0}, {0}, {kMany}}),
          "f32[1099511627778]");
  refused(op_broadcast_in_dim, {value}, Attributes::of(BroadcastAttributes{{kMany}, {}}),
          "f32[1099511627776]");
  for (const Operation* op : {&op_reduce_window_sum, &op_reduce_window_max}) {
    refused(*op, {x}, Attributes::of(WindowAttributes{{kMany}, {1}, {0}, {kMany - 2}, {1}, {1}}),
            "[1099511627776]");
  }
  refused(op_max_pool, {x}, Attributes::of(PoolAttributes{{kMany}, {1}, {kMany - 2}, {0}, false}),
          "[1099511627776]");
  expect_same(apply(op_pad, {x, value}, Attributes::of(PadAttributes{{-kMany}, {kMany}, {0}})),
              {9, 9});
  expect_same(apply(op_reduce_window_sum, {x},
                    Attributes::of(WindowAttributes{{3}, {1}, {kMany}, {kMany}, {1}, {kMany}})),
              {1, 2});
}

TEST(forward, moves_elements) {
  const Literal x = tensor(DType::i32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_same(apply(op_transpose, {x}, Attributes::of(TransposeAttributes{{1, 0}})),
              {1, 4, 2, 5, 3, 6});
  expect_same(apply(op_reverse, {x}, axes({1})), {3, 2, 1, 6, 5, 4});
  expect_same(apply(op_concatenate, {x, x}, axis(1)), {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_same(apply(op_slice, {x}, Attributes::of(SliceAttributes{{0, 0}, {2, 3}, {1, 2}})),
              {1, 3, 4, 6});
  expect_same(
      apply(op_broadcast_in_dim, {ints({1, 2})}, Attributes::of(BroadcastAttributes{{2, 3}, {0}})),
      {1, 1, 1, 2, 2, 2});
}

TEST(forward, dot_general_orders_batch_then_free_axes) {
  // einsum("kbi,jbk->bij") of 2x2x1 and 1x2x2.
  const Literal x = tensor(DType::f32, {2, 2, 1}, {1, 2, 3, 4});
  const Literal y = tensor(DType::f32, {1, 2, 2}, {5, 6, 7, 8});
  const Literal z =
      apply(op_dot_general, {x, y}, Attributes::of(DotAttributes{{1}, {1}, {0}, {2}}));
  EXPECT_EQ(to_text(z.type), "f32[2,1,1]");
  expect_same(z, {1 * 5 + 3 * 6, 2 * 7 + 4 * 8});
}

TEST(forward, sums_round_once) {
  // 2^24 ones after 2^24: float accumulation would stay at 2^24.
  std::vector<double> values(65, 1);
  values[0] = 16777216;
  expect_same(apply(op_reduce_sum, {floats(values)}, axes({0})), {16777280});
  expect_same(
      apply(op_reduce_sum, {vector_of(DType::f16, std::vector<double>(4096, 1))}, axes({0})),
      {4096});
}

TEST(forward, the_mean_of_many_narrow_floats) {
  const Literal many = vector_of(DType::f16, std::vector<double>(70000, 2));
  expect_same(apply(op_mean, {many}, axes({0})), {2});
}

TEST(forward, activations_and_losses) {
  // Figures from Python's math module, 10 digits.
  const auto gelu = [](bool tanh) { return Attributes::of(GeluAttributes{tanh}); };
  expect_near(apply(op_gelu, {doubles({1, -2})}, gelu(false)), {0.8413447461, -0.0455002639}, 1e-9,
              0);
  expect_near(apply(op_gelu, {doubles({1, -2})}, gelu(true)), {0.8411919906, -0.0454023059}, 1e-8,
              0);
  expect_near(apply(op_silu, {doubles({1, -2})}), {0.7310585786, -0.2384058440}, 1e-9, 0);
  expect_near(apply(op_logsumexp, {doubles({1, 2, 3})}, axis(0)), {3.4076059644}, 1e-10, 0);
  const Literal logits = tensor(DType::f64, {2, 3}, {1, 2, 3, 0, 0, 0});
  expect_near(apply(op_cross_entropy, {logits, ints({2, 1})}), {(0.4076059644 + 1.0986122887) / 2},
              1e-9, 0);
  expect_same(apply(op_cross_entropy, {logits, ints({3, 1})}), {kNaN});
  expect_same(apply(op_cross_entropy, {logits, ints({0, -1})}), {kNaN});
  const Literal normed = apply(op_layer_norm, {doubles({1, 3}), doubles({2, 2}), doubles({1, 1})},
                               Attributes::of(LayerNormAttributes{0.0}));
  expect_near(normed, {-1, 3}, 1e-12, 0);
  expect_near(apply(op_mean, {tensor(DType::f64, {2, 2}, {1, 2, 3, 6})}, axes({0})), {2, 4}, 0, 0);
}

}  // namespace
}  // namespace heddle::ops_test
