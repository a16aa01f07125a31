// Checked arithmetic on both carriers: exact or an error.
#include <gtest/gtest.h>

#include "heddle/frontend/heddle.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;
using Doubles = std::vector<double>;

constexpr double kMost = 2147483647, kLeast = -2147483648.0;

Tensor whole(const Doubles& v, const std::vector<std::int64_t>& extents, std::string_view carrier) {
  return tensor(std::span<const double>(v), extents, {.dtype = DType::i32, .carrier = carrier});
}

// 2A.1, 2A.3, F-kind integer overflow
TEST(Checked, ExactOrAnError) {
  for (const std::string_view c : {"cpu", "reference"}) {
    const Tensor x = whole({kMost, kLeast, 7}, {3}, c), y = whole({0, 0, -9}, {3}, c);
    EXPECT_EQ(elements(checked::add(x, y)), (Doubles{kMost, kLeast, -2})) << c;
    const Tensor one = whole({1, 0, 0}, {3}, c);
    const std::string text = expect_error<OverflowError>([&] { checked::add(x, one); });
    EXPECT_NE(text.find("[checked_add]"), std::string::npos) << text;
    EXPECT_NE(text.find("checked_test.cpp"), std::string::npos) << text;
    EXPECT_EQ(elements(x + one), (Doubles{kLeast, kLeast, 7})) << "plain addition wraps";
    expect_error<OverflowError>(
        [&] {
          checked::mul(x, whole({2, 1, 1}, {3}, c));
        },
        "[checked_mul]", 27);
    expect_error<OverflowError>([&] { checked::mul(x, -1); }, "[checked_mul]", 27);
    EXPECT_EQ(elements(checked::mul(y, 3)), (Doubles{0, 0, -27}));
  }
}

TEST(Checked, OnlyTheFinalNarrowingCounts) {
  for (const std::string_view c : {"cpu", "reference"}) {
    const Tensor x = whole({kMost, kMost, kLeast, kLeast, 5}, {5}, c);
    EXPECT_EQ(elements(checked::reduce_sum(x, {0})), (Doubles{3})) << c;
    expect_error<OverflowError>(
        [&] {
          checked::reduce_sum(whole({kMost, 1}, {2}, c), {0});
        },
        "[checked_reduce_sum]", 27);
  }
}

// Products that leave i64 on the way: 4 * 2^62 - 4 * 2^62 + 6.
TEST(Checked, MatrixProductsAreExactBeyondI64) {
  for (const std::string_view c : {"cpu", "reference"}) {
    Doubles row, column;
    for (int i = 0; i < 8; ++i) row.push_back(kLeast), column.push_back(i < 4 ? kLeast : kMost);
    for (int i = 0; i < 4; ++i) row.push_back(kLeast), column.push_back(-1);
    row.insert(row.end(), {2}), column.insert(column.end(), {3});
    // kLeast * (4 kLeast + 4 kMost - 4) + 6 = kLeast * -8 + 6: does not fit.
    const auto k = static_cast<std::int64_t>(row.size());
    expect_error<OverflowError>([&] {
      checked::matmul(whole(row, {1, k}, c), whole(column, {k, 1}, c));
    });
    for (int i = 0; i < 4; ++i) row.push_back(kLeast), column.push_back(2);
    const auto n = static_cast<std::int64_t>(row.size());
    EXPECT_EQ(elements(checked::matmul(whole(row, {1, n}, c), whole(column, {n, 1}, c))),
              (Doubles{6}))
        << c;
    EXPECT_EQ(elements(checked::matmul(whole(row, {1, n}, c), whole(column, {1, n}, c),
                                       {.rhs_transposed = true})),
              (Doubles{6}));
  }
}

TEST(Checked, FloatsAreAsEver) {
  const Tensor x = tensor({1e38, 2}, {2});
  EXPECT_EQ(elements(checked::add(x, whole({1, 2}, {2}, "cpu")))[1], 4);
  expect_error<NotImplementedError>([&] {
    const Tensor d = tensor({1, 2}, {2}, {.dtype = DType::f64});
    checked::add(d, d);
  });
  Tensor w = tensor({3, 4}, {1, 2});
  require_gradient(w);
  backward(checked::reduce_sum(checked::matmul(w, tensor({5, 6}, {1, 2}), {.rhs_transposed = true}),
                               {0, 1}));
  EXPECT_EQ(elements(*gradient(w)), (Doubles{5, 6}));
}

TEST(Checked, CompiledProgramsFaultToo) {
  const Program p = trace([](const Tensor& x, const Tensor& y) { return checked::add(x, y); },
                          {i32({2}), i32({2})}, {.name = "f", .inputs = {"x", "y"}});
  const std::unique_ptr<Executable> e = compile(p);
  const std::vector<Literal> good{splat(i32({2}), 20), splat(i32({2}), 22)};
  ASSERT_EQ(e->run("f", good).size(), 1u);
  EXPECT_EQ(to_doubles(e->run("f", good)[0]), (Doubles{42, 42}));
  const std::vector<Literal> bad{splat(i32({2}), kMost), splat(i32({2}), 1)};
  expect_error<OverflowError>([&] { e->run("f", bad); });
  const std::string text = expect_error<OverflowError>([&] { interpret(p, "f", bad); });
  EXPECT_EQ(text.find("[checked_add] checked_test.cpp:"), 0u) << text;
}

TEST(Checked, AFoldedOverflowIsStillOne) {
  const auto program = [](std::int64_t y) {
    return trace(
        [&](const Tensor& x) {
          const Tensor most = constant(splat(i32({}), static_cast<double>(kMost)));
          return std::vector<Tensor>{
              x, checked::add(most, constant(splat(i32({}), static_cast<double>(y))))};
        },
        {i32({2})}, {.name = "f"});
  };
  const std::vector<Literal> x{splat(i32({2}), 1)};
  EXPECT_EQ(to_doubles(compile(program(-1))->run("f", x)[1]), Doubles{kMost - 1});
  const std::unique_ptr<Executable> e = compile(program(1));
  expect_error<OverflowError>([&] { e->run("f", x); });
}

}  // namespace
}  // namespace heddle
