// The elementary functions over the bit patterns of f32 against double, with the bounds that
// backends/halide/math.h states. HEDDLE_SWEEP=1 takes every pattern; else every 1021st.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>

#include "backends/cases.h"
#include "support/ulps.h"

namespace heddle::testing {
namespace {

constexpr std::int64_t kBlock = 1 << 20;

struct Function1 {
  const Operation* op;
  double (*exact)(double);
  double ulps;
};

double exact_logistic(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double exact_rsqrt(double x) { return 1 / std::sqrt(x); }

const Function1 kFunctions[] = {
    {&op_exp, std::exp, 1.3},           {&op_exp2, std::exp2, 1.4},    {&op_expm1, std::expm1, 1.8},
    {&op_log, std::log, 1.1},           {&op_log2, std::log2, 1.6},    {&op_log1p, std::log1p, 1.7},
    {&op_sqrt, std::sqrt, 0.501},       {&op_rsqrt, exact_rsqrt, 1.5}, {&op_cbrt, std::cbrt, 1.0},
    {&op_sin, std::sin, 2.0},           {&op_cos, std::cos, 2.0},      {&op_tan, std::tan, 2.0},
    {&op_asin, std::asin, 2.5},         {&op_acos, std::acos, 2.0},    {&op_atan, std::atan, 2.0},
    {&op_sinh, std::sinh, 4.0},         {&op_cosh, std::cosh, 2.0},    {&op_tanh, std::tanh, 2.5},
    {&op_asinh, std::asinh, 0.6},       {&op_acosh, std::acosh, 0.6},  {&op_atanh, std::atanh, 0.6},
    {&op_erf, std::erf, 1.4},           {&op_erfc, std::erfc, 0.6},    {&op_trunc, std::trunc, 0},
    {&op_logistic, exact_logistic, 2.5}};

// Infinity when a special value or the sign of a zero is wrong.
double ulps(float got, double exact) {
  const bool wrong_zero = (exact == 0 || got == 0) && std::signbit(got) != std::signbit(exact);
  return wrong_zero ? std::numeric_limits<double>::infinity() : float_ulps(got, exact);
}

Function one_operation(const Operation& op, std::size_t operands, std::int64_t count = kBlock) {
  Builder b("f");
  Values in;
  for (std::size_t i = 0; i < operands; ++i) {
    in.push_back(b.input("x" + std::to_string(i), f32({count})));
  }
  b.output("y", b.emit(op, in));
  return b.finish();
}

TEST(Math, StaysWithinItsBoundsAndHasTheRightSpecialValues) {  // F16, F17
  std::vector<Kernel> kernels;
  for (const Function1& f : kFunctions) {
    kernels.push_back(kernel_of(one_operation(*f.op, 1), RecipeKind::map));
  }
  KernelRunner runner(kernels);
  const bool all = std::getenv("HEDDLE_SWEEP") != nullptr;
  const std::uint64_t step = all ? 1 : 1021;
  std::vector<double> worst(kernels.size());
  std::vector<float> x(kBlock), worst_at(kernels.size());
  for (std::uint64_t base = 0; base < (1ull << 32); base += step * kBlock) {
    for (std::uint64_t i = 0; i < kBlock; ++i) {
      const std::uint64_t bits = std::min<std::uint64_t>(base + i * step, 0xffffffffu);
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
    const std::vector<Literal> in{make_literal<float>({kBlock}, x)};
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const Literal y = runner.run(k, in, 2)[0];
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(view<float>(y)[i], kFunctions[k].exact(x[i]));
        if (error > worst[k]) worst[k] = error, worst_at[k] = x[i];
      }
    }
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    EXPECT_LE(worst[k], kFunctions[k].ulps) << kFunctions[k].op->name << " at " << worst_at[k];
  }
}

TEST(Math, PowerIsCorrectToTheLastPlace) {
  KernelRunner runner({kernel_of(one_operation(op_pow, 2), RecipeKind::map)});
  double worst = 0;
  float at_x = 0, at_y = 0;
  for (unsigned seed = 1; seed < 5; ++seed) {
    // Bit patterns, and pairs whose result is finite.
    std::vector<float> x(kBlock), y(kBlock);
    const Literal a = random_literal({DType::i32, {kBlock}}, seed, -2147483648.0, 2147483647.0);
    const Literal b = random_literal(f32({kBlock}), seed + 100, -30, 30);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::bit_cast<float>(view<std::int32_t>(a)[i]);
      y[i] = seed % 2 != 0 ? view<float>(b)[i] : std::round(view<float>(b)[i]);
      if (seed < 3) x[i] = std::fabs(std::fmod(x[i], 20.f));
    }
    const std::vector<Literal> in{make_literal<float>({kBlock}, x),
                                  make_literal<float>({kBlock}, y)};
    const Literal z = runner.run(0, in, 2)[0];
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error =
          ulps(view<float>(z)[i], std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])));
      if (error > worst) worst = error, at_x = x[i], at_y = y[i];
    }
  }
  EXPECT_LE(worst, 0.6) << "pow(" << at_x << ", " << at_y << ")";
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
      {&op_sin, std::sin, 2.0}, {&op_cos, std::cos, 2.0}, {&op_tan, std::tan, 2.0}};
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
