// A number of any arithmetic type of C++ beside a tensor is a weak scalar, at once and in a trace.
#include <limits>
#include <tuple>

#include "eager/extension_support.h"
#include "heddle/graph/interpret.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

using Whole =
    std::tuple<char, signed char, unsigned char, wchar_t, char8_t, char16_t, char32_t, short,
               unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long>;
using Real = std::tuple<float, double, long double>;
template <class F, class... T>
void for_each_type(std::tuple<T...>, F f) {
  (f(T{3}), ...);
}

// f(x) at once, and the same traced and interpreted.
template <class F>
std::pair<Type, Elements> both_ways(const Tensor& x, F f) {
  const Tensor now = f(x);
  const Program p = trace([&](const Tensor& t) -> Tensor { return f(t); }, {x.type()});
  const std::vector<Literal> in{to_literal(x)};
  const Literal later = interpret(p, "main", in)[0];
  EXPECT_EQ(later.type, now.type());
  EXPECT_EQ(to_doubles(later), elements(now));
  return {now.type(), elements(now)};
}

Tensor of(DType dtype, std::initializer_list<double> elements) {
  return tensor(elements, {static_cast<std::int64_t>(elements.size())},
                {.dtype = dtype, .carrier = "reference"});
}

// Every operator, the number left and right of it.
template <class T>
void expect_arithmetic(const Tensor& x, DType meet, T three) {
  auto row = [&](Elements wanted, auto f) {
    const auto [type, found] = both_ways(x, f);
    EXPECT_EQ(type.dtype, meet);
    EXPECT_EQ(found, wanted);
  };
  row({5, 9}, [=](const Tensor& t) { return t + three; });
  row({5, 9}, [=](const Tensor& t) { return three + t; });
  row({-1, 3}, [=](const Tensor& t) { return t - three; });
  row({1, -3}, [=](const Tensor& t) { return three - t; });
  row({6, 18}, [=](const Tensor& t) { return t * three; });
  row({6, 18}, [=](const Tensor& t) { return three * t; });
  row({2, 3}, [=](const Tensor& t) { return minimum(t, three); });
  auto compare = [&](Elements wanted, auto f) {
    const auto [type, found] = both_ways(x, f);
    EXPECT_EQ(type.dtype, DType::boolean);
    EXPECT_EQ(found, wanted);
  };
  compare({1, 0}, [=](const Tensor& t) { return t < three; });
  compare({0, 1}, [=](const Tensor& t) { return three <= t; });
}

// 2A.2: a weak scalar has no dtype of its own.
TEST(Scalars, OfEveryArithmeticType) {
  for (const DType d : {DType::f32, DType::f16, DType::f64}) {
    for_each_type(Whole(), [&](auto v) { expect_arithmetic(of(d, {2, 6}), d, v); });
    for_each_type(Real(), [&](auto v) { expect_arithmetic(of(d, {2, 6}), d, v); });
  }
  for (const DType d : {DType::i32, DType::i64, DType::i8}) {
    for_each_type(Whole(), [&](auto v) { expect_arithmetic(of(d, {2, 6}), d, v); });
    for_each_type(Real(), [&](auto v) { expect_arithmetic(of(d, {2, 6}), DType::f32, v); });
  }
}

TEST(Scalars, BitsAndTruthValues) {
  const Tensor x = of(DType::i32, {6, 9}), b = of(DType::boolean, {1, 0});
  for_each_type(Whole(), [&](auto three) {
    EXPECT_EQ(both_ways(x, [=](const Tensor& t) { return t & three; }).second, (Elements{2, 1}));
    EXPECT_EQ(both_ways(x, [=](const Tensor& t) { return three | t; }).second, (Elements{7, 11}));
    EXPECT_EQ(both_ways(x, [=](const Tensor& t) { return t ^ three; }).second, (Elements{5, 10}));
  });
  const auto [type, found] = both_ways(b, [](const Tensor& t) { return true & t; });
  EXPECT_EQ(type.dtype, DType::boolean);
  EXPECT_EQ(found, (Elements{1, 0}));
  EXPECT_EQ(both_ways(b, [](const Tensor& t) { return t | true; }).second, (Elements{1, 1}));
  EXPECT_EQ(both_ways(b, [](const Tensor& t) { return t ^ true; }).second, (Elements{0, 1}));
}

TEST(Scalars, OfAnExtensionsCall) {
  const OperationDefinition& d = define_operation(
      "acme.scalars", {.operands = {{"x"}, {"s", OperandKind::weak_scalar}}}, like_first,
      {.vjp = kNonDifferentiable, .reference = [](const Invocation& inv) -> ReferenceResults {
         const Attribute s = to_attribute(inv.call.operands[1]);
         const auto* whole = std::get_if<std::int64_t>(&s);
         const double value = whole ? static_cast<double>(*whole) : std::get<double>(s);
         return make_tensor(splat(inv.results[0].type, value));
       }});
  const Tensor x = of(DType::f32, {0});
  for_each_type(Whole(), [&](auto v) { EXPECT_EQ(elements(d({x, v})), Elements{3}); });
  for_each_type(Real(), [&](auto v) { EXPECT_EQ(elements(d({x, v})), Elements{3}); });
  expect_error<OverflowError>([&] { d({x, ~0ull}); }, "scalars_test.cpp:");
}

TEST(Scalars, BeyondTheirRange) {
  const Tensor x = of(DType::f32, {1}), n = of(DType::i32, {1});
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(elements(x + static_cast<unsigned long long>(kMost)), Elements{0x1p63});
  const std::string wide = expect_error<OverflowError>([&] { x + 9223372036854775808ull; });
  EXPECT_NE(wide.find("scalars_test.cpp:"), std::string::npos) << wide;
  EXPECT_NE(wide.find("found 9223372036854775808, needed at most 9223372036854775807"),
            std::string::npos)
      << wide;
  expect_error<OverflowError>([&] { std::numeric_limits<unsigned long>::max() * x; },
                              "found 18446744073709551615");
  const std::string real = expect_error<OverflowError>([&] { x * 1e400L; });
  EXPECT_NE(real.find("found 1e+400"), std::string::npos) << real;
  EXPECT_EQ(elements(x * std::numeric_limits<long double>::infinity()),
            Elements{std::numeric_limits<double>::infinity()});
  const std::string narrow = expect_error<OverflowError>([&] { n + 5000000000LL; });
  EXPECT_NE(narrow.find("found 5000000000, needed a number of i32"), std::string::npos) << narrow;
  expect_error<OverflowError>([&] { n + 4294967295u; }, "found 4294967295", 14);
  expect_error<OverflowError>([&] { of(DType::u8, {1}) - 1L - (-1L); }, "found -1", 14);
  trace(
      [&](const Tensor& t) {
        expect_error<OverflowError>([&] { t + ~0ull; }, "found 18446744073709551615");
        return t;
      },
      {f32({})});
}

}  // namespace
}  // namespace heddle
