// Checked arithmetic on both carriers: exact or an error.
#include <gtest/gtest.h>

#include <functional>

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

// What the overflow's error says was found: the exact result, or, on `cpu`, no number.
std::string found_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const OverflowError& e) {
    return e.detail().found;
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
  }
  return "no error";
}

struct Overflow {
  std::function<Tensor(std::string_view)> call;
  std::string exact;
};
const std::string kWide = "a number of 64 bits or more";

Tensor product(const Doubles& row, const Doubles& column, std::string_view carrier,
               bool transposed) {
  const auto k = static_cast<std::int64_t>(row.size());
  const std::vector<std::int64_t> y =
      transposed ? std::vector{std::int64_t{1}, k} : std::vector{k, std::int64_t{1}};
  return checked::matmul(whole(row, {1, k}, carrier), whole(column, y, carrier),
                         {.rhs_transposed = transposed});
}
std::vector<Overflow> overflows() {
  std::vector<Overflow> all;
  auto pair = [&](auto op, double x, double y, const std::string& exact) {
    all.push_back(
        {[=](std::string_view c) { return op(whole({x}, {1}, c), whole({y}, {1}, c)); }, exact});
  };
  auto add = [](const Tensor& x, const Tensor& y) { return checked::add(x, y); };
  auto mul = [](const Tensor& x, const Tensor& y) { return checked::mul(x, y); };
  auto by_element = [](const Tensor& x, const Tensor& y) { return checked::elementwise_mul(x, y); };
  pair(add, kMost, 1, "2147483648");
  pair(add, kLeast, kLeast, "-4294967296");
  pair(mul, kMost, kMost, "4611686014132420609");
  pair(mul, kLeast, kLeast, "4611686018427387904");
  pair(mul, kLeast, kMost, "-4611686016279904256");
  pair(by_element, 65536, 32768, "2147483648");
  auto sum = [&](const Doubles& x, const std::string& exact) {
    const auto n = static_cast<std::int64_t>(x.size());
    all.push_back(
        {[=](std::string_view c) { return checked::reduce_sum(whole(x, {n}, c), {0}); }, exact});
  };
  sum({kMost, kMost, 5}, "4294967299");
  sum(Doubles(1000, kLeast), "-2147483648000");
  auto dot = [&](const Doubles& row, const Doubles& column, const std::string& exact) {
    for (const bool transposed : {false, true}) {
      all.push_back(
          {[=](std::string_view c) { return product(row, column, c, transposed); }, exact});
    }
  };
  dot({kMost}, {kMost}, "4611686014132420609");
  dot({kMost, 1}, {2, 1}, "4294967295");
  dot({kLeast, kLeast}, {kLeast, kMost}, "2147483648");
  dot({kLeast, 65537}, {kMost, -3}, "-4611686016280100867");
  dot({kMost, kMost, 7}, {kMost, kMost, 1}, "9223372028264841225");  // just an i64
  dot({kLeast, kLeast, 5}, {kMost, kMost, 1}, "-9223372032559808507");
  dot(Doubles(2, kLeast), Doubles(2, kLeast), kWide);  // 2^63
  dot(Doubles(3, kMost), Doubles(3, kMost), kWide);
  dot(Doubles(5, kLeast), Doubles(5, kMost), kWide);
  return all;
}

// 2A.3: the number that an error names is the exact result.
TEST(Checked, OverflowsNameTheExactResult) {
  for (const Overflow& o : overflows()) {
    SCOPED_TRACE(o.exact);
    EXPECT_EQ(found_by([&] { o.call("reference"); }), o.exact);
    EXPECT_EQ(found_by([&] { o.call("cpu"); }), "");
  }
  const Program p = trace([](const Tensor& x, const Tensor& y) { return checked::matmul(x, y); },
                          {i32({1, 2}), i32({2, 1})}, {.name = "f"});
  const std::vector<Literal> in{splat(i32({1, 2}), kMost), splat(i32({2, 1}), kMost)};
  EXPECT_EQ(found_by([&] { interpret(p, "f", in); }), "9223372028264841218");
  EXPECT_EQ(found_by([&] { compile(p)->run("f", in); }), "");
}

// The products sum to 2^80, and those of one half of a factor to 2^64.
TEST(Checked, LongSumsOfProductsDoNotWrapAround) {
  const Doubles row(std::size_t{1} << 18, kLeast);
  EXPECT_EQ(found_by([&] { product(row, row, "reference", false); }), kWide);
  EXPECT_EQ(found_by([&] { product(row, row, "cpu", false); }), "");
  Doubles column = row;
  for (std::size_t i = 0; i < column.size(); i += 2) column[i] = kMost;
  column[1] += 1;
  // Half of 2^18 pairs: (2^31)^2 - 2^31 (2^31 - 1) = 2^31 each, and 2^31 less.
  EXPECT_EQ(found_by([&] { product(row, column, "reference", true); }), "281472829227008");
  EXPECT_EQ(found_by([&] { product(row, column, "cpu", true); }), "");
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
