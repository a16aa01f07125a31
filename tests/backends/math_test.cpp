// The elementary functions over the bit patterns of f32 against the C library's in f64, with the
// bounds that backends/halide/math.h states: every 1021st pattern, and, labelled long, every one.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "backends/cases.h"
#include "support/ulps.h"

namespace heddle::testing {
namespace {

constexpr std::int64_t kBlock = 1 << 20;
constexpr double kPowUlps = 0.6;

struct Function1 {
  const Operation* op;
  double (*exact)(double);
  double ulps;
};

void PrintTo(const Function1& f, std::ostream* out) { *out << f.op->name; }

double exact_logistic(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double exact_rsqrt(double x) { return 1 / std::sqrt(x); }

const Function1 kFunctions[] = {
    {&op_exp, std::exp, 1.3},           {&op_exp2, std::exp2, 1.4},    {&op_expm1, std::expm1, 1.8},
    {&op_log, std::log, 1.3},           {&op_log2, std::log2, 1.6},    {&op_log1p, std::log1p, 1.9},
    {&op_sqrt, std::sqrt, 0.501},       {&op_rsqrt, exact_rsqrt, 1.5}, {&op_cbrt, std::cbrt, 1.0},
    {&op_sin, std::sin, 3.0},           {&op_cos, std::cos, 3.0},      {&op_tan, std::tan, 2.0},
    {&op_asin, std::asin, 2.5},         {&op_acos, std::acos, 2.0},    {&op_atan, std::atan, 2.0},
    {&op_sinh, std::sinh, 4.0},         {&op_cosh, std::cosh, 2.0},    {&op_tanh, std::tanh, 2.5},
    {&op_asinh, std::asinh, 0.6},       {&op_acosh, std::acosh, 0.6},  {&op_atanh, std::atanh, 0.6},
    {&op_erf, std::erf, 1.6},           {&op_erfc, std::erfc, 0.6},    {&op_trunc, std::trunc, 0},
    {&op_logistic, exact_logistic, 2.5}};

// Infinity when a special value or the sign of a zero is wrong.
double ulps(float got, double exact) {
  const bool wrong_zero = (exact == 0 || got == 0) && std::signbit(got) != std::signbit(exact);
  return wrong_zero ? std::numeric_limits<double>::infinity() : float_ulps(got, exact);
}

// The largest error seen, and where.
struct Worst {
  double ulps = 0;  // where nothing is rounded wrongly
  float x = 0, y = 0;

  void see(float got, double exact, float at_x, float at_y = 0) {
    const auto rounded = static_cast<float>(exact);
    if (std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(rounded)) return;
    const double error = testing::ulps(got, exact);
    if (error > ulps) ulps = error, x = at_x, y = at_y;
  }
};

Function one_operation(const Operation& op, std::size_t operands, std::int64_t count = kBlock) {
  Builder b("f");
  Values in;
  for (std::size_t i = 0; i < operands; ++i) {
    in.push_back(b.input("x" + std::to_string(i), f32({count})));
  }
  b.output("y", b.emit(op, in));
  return b.finish();
}

// Every step-th bit pattern of f32, and the last.
std::vector<Worst> sweep(std::span<const Function1> functions, std::uint64_t step) {
  std::vector<Kernel> kernels;
  for (const Function1& f : functions) {
    kernels.push_back(kernel_of(one_operation(*f.op, 1), RecipeKind::map));
  }
  KernelRunner runner(kernels);
  std::vector<Worst> worst(kernels.size());
  std::vector<float> x(kBlock);
  for (std::uint64_t base = 0; base < (1ull << 32); base += step * kBlock) {
    for (std::uint64_t i = 0; i < kBlock; ++i) {
      const std::uint64_t bits = std::min<std::uint64_t>(base + i * step, 0xffffffffu);
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
    const std::vector<Literal> in{make_literal<float>({kBlock}, x)};
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const Literal y = runner.run(k, in)[0];
      const auto got = view<float>(y);
      for (std::size_t i = 0; i < x.size(); ++i) {
        worst[k].see(got[i], functions[k].exact(x[i]), x[i]);
      }
    }
  }
  return worst;
}

TEST(Math, StaysWithinItsBoundsAndHasTheRightSpecialValues) {  // F16, F17
  const std::vector<Worst> worst = sweep(kFunctions, 1021);
  for (std::size_t k = 0; k < worst.size(); ++k) {
    EXPECT_LE(worst[k].ulps, kFunctions[k].ulps) << kFunctions[k].op->name << " at " << worst[k].x;
  }
}

void print(std::string_view function, const Worst& worst, double bound) {
  if (worst.ulps == 0) {
    std::printf("%-10s rounded rightly", std::string(function).c_str());
  } else {
    std::printf("%-10s at most %.3f ulp, at x = %a", std::string(function).c_str(), worst.ulps,
                static_cast<double>(worst.x));
  }
  if (worst.y != 0) std::printf(", y = %a", static_cast<double>(worst.y));
  std::printf("; the bound is %.3f\n", bound);
}

double exact_gelu(double x, bool tanh) {
  const double a = std::min(std::fabs(x), 100.),
               u = 0.7978845608028654 * (a + 0.044715 * a * a * a);
  const double tail = tanh ? 1 / (1 + std::exp(2 * u)) : std::erfc(a / std::sqrt(2.)) / 2;
  return std::isnan(x) ? x : (x < 0 ? 0 : x) - a * tail;
}

// Relative where x is positive; where it is negative the result is a difference.
TEST(Math, GeluStaysWithinItsBounds) {
  for (const bool tanh : {false, true}) {
    Builder b("f");
    const ValueId in = b.input("x", f32({kBlock}));
    b.output("y", b.emit(op_gelu, {in}, Attributes::of(GeluAttributes{tanh})));
    KernelRunner runner({kernel_of(b.finish(), RecipeKind::map)});
    double above = 0, below = 0;
    std::vector<float> x(kBlock);
    for (std::uint64_t base = 0; base < (1ull << 32); base += 1021ull * kBlock) {
      for (std::uint64_t i = 0; i < kBlock; ++i) {
        const std::uint64_t bits = std::min<std::uint64_t>(base + i * 1021, 0xffffffffu);
        x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      }
      const Literal y = runner.run(0, {{make_literal<float>({kBlock}, x)}})[0];
      const auto got = view<float>(y);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = exact_gelu(static_cast<double>(x[i]), tanh);
        if (!std::isfinite(exact) || exact == 0) {
          EXPECT_EQ(ulps(got[i], exact), 0) << x[i] << " gave " << got[i];
        } else if (x[i] > 0) {
          above = std::max(above, float_ulps(got[i], exact));
        } else {
          below = std::max(below, std::fabs(static_cast<double>(got[i]) - exact));
        }
      }
    }
    EXPECT_LE(above, 3) << "tanh: " << tanh;
    EXPECT_LE(below, tanh ? 3e-7 : 7.5e-7) << "tanh: " << tanh;
  }
}

// Label long: every pattern there is.
class EveryPattern : public ::testing::TestWithParam<Function1> {};

TEST_P(EveryPattern, StaysWithinItsBound) {
  const Worst worst = sweep({&GetParam(), 1}, 1)[0];
  print(GetParam().op->name, worst, GetParam().ulps);
  EXPECT_LE(worst.ulps, GetParam().ulps) << "at " << worst.x;
}
INSTANTIATE_TEST_SUITE_P(Long, EveryPattern, ::testing::ValuesIn(kFunctions),
                         [](const auto& test) { return std::string(test.param.op->name); });

// Pairs for pow. The exponent is, turn by turn, one of any bits, a small integer,
// half of one, and one that brings the result near a random place between 2^-150 and 2^129.
class Pairs {
 public:
  explicit Pairs(unsigned seed) : generator_(seed) {}

  float exponent(float x) {
    const auto bits = static_cast<std::uint32_t>(generator_());
    switch (turn_++ % 4) {
      case 0:
        return std::bit_cast<float>(bits);
      case 1:
        return static_cast<float>(static_cast<int>(bits % 129) - 64);
      case 2:
        return 0.5f * static_cast<float>(static_cast<int>(bits % 513) - 256);
      default: {
        const double log2 = std::log2(std::fabs(static_cast<double>(x)));
        const double place = -150 + 279 * (static_cast<double>(bits) / 4294967296.0);
        return std::isfinite(log2) && log2 != 0 ? static_cast<float>(place / log2) : 1.f;
      }
    }
  }

 private:
  std::mt19937 generator_;
  std::uint32_t turn_ = 0;
};

// pow of every step-th x.
Worst sweep_pow(std::uint64_t step) {
  KernelRunner runner({kernel_of(one_operation(op_pow, 2), RecipeKind::map)});
  Worst worst;
  Pairs pairs(1);
  std::vector<float> x(kBlock), y(kBlock);
  for (std::uint64_t base = 0; base < (1ull << 32); base += step * kBlock) {
    for (std::uint64_t i = 0; i < kBlock; ++i) {
      const std::uint64_t bits = std::min<std::uint64_t>(base + i * step, 0xffffffffu);
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      y[i] = pairs.exponent(x[i]);
    }
    const std::vector<Literal> in{make_literal<float>({kBlock}, x),
                                  make_literal<float>({kBlock}, y)};
    const Literal z = runner.run(0, in)[0];
    const auto got = view<float>(z);
    for (std::size_t i = 0; i < x.size(); ++i) {
      worst.see(got[i], std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])), x[i], y[i]);
    }
  }
  return worst;
}

TEST(Math, PowerIsCorrectToTheLastPlace) {
  const Worst worst = sweep_pow(255);
  EXPECT_LE(worst.ulps, kPowUlps) << "pow(" << worst.x << ", " << worst.y << ")";
}

TEST(LongMath, PowerOfEveryPatternIsCorrectToTheLastPlace) {
  const Worst worst = sweep_pow(1);
  print("pow", worst, kPowUlps);
  EXPECT_LE(worst.ulps, kPowUlps) << "pow(" << worst.x << ", " << worst.y << ")";
}

// Where the reduction by pi/2 loses most: the f32 nearest to multiples of it, and the largest.
TEST(Math, SineCosineAndTangentReduceEveryArgument) {
  std::vector<float> x;
  for (int k = 1; k < 200000; k += 7) {
    const double multiple = k * 1.57079632679489661923;
    const float near = static_cast<float>(multiple);
    for (float v : {near, std::nextafter(near, 0.f), std::nextafter(near, 1e9f)}) x.push_back(v);
  }
  for (int e = 0; e < 128; ++e) {
    for (float m : {1.f, 1.9999999f, 16367173.f / 8388608, 1.3234567f})
      x.push_back(std::ldexp(m, e));
  }
  x.push_back(std::ldexp(16367173.f, 72));  // 1.6e-9 from a multiple of pi/2
  x.push_back(std::numeric_limits<float>::max());
  const auto count = static_cast<std::int64_t>(x.size());
  const Function1 functions[] = {
      {&op_sin, std::sin, 3.0}, {&op_cos, std::cos, 3.0}, {&op_tan, std::tan, 2.0}};
  std::vector<Kernel> kernels;
  for (const Function1& f : functions) {
    kernels.push_back(kernel_of(one_operation(*f.op, 1, count), RecipeKind::map));
  }
  KernelRunner runner(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Literal y = runner.run(k, std::vector{make_literal<float>({count}, x)})[0];
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulps(view<float>(y)[i], functions[k].exact(x[i])), functions[k].ulps)
          << functions[k].op->name << " at " << x[i];
    }
  }
}

TEST(Math, AngleOfEveryPoint) {
  std::vector<float> y, x;
  const Literal a = random_literal({DType::i32, {kBlock}}, 5, -2147483648.0, 2147483647.0);
  const Literal b = random_literal(f32({kBlock}), 6, -4, 4), c = random_literal(f32({kBlock}), 7);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float any = std::bit_cast<float>(view<std::int32_t>(a)[i]);
    y.push_back(i % 2 ? any : view<float>(c)[i]);
    x.push_back(i % 4 < 2 ? view<float>(b)[i] : i % 8 < 6 ? any * view<float>(c)[i] : any);
  }
  KernelRunner runner({kernel_of(one_operation(op_atan2, 2), RecipeKind::map)});
  const std::vector<Literal> in{make_literal<float>({kBlock}, y), make_literal<float>({kBlock}, x)};
  const Literal z = runner.run(0, in, 2)[0];
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double exact = std::atan2(static_cast<double>(y[i]), static_cast<double>(x[i]));
    ASSERT_LE(ulps(view<float>(z)[i], exact), 1.5) << "atan2(" << y[i] << ", " << x[i] << ")";
  }
}

}  // namespace
}  // namespace heddle::testing
