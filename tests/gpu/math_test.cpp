// Maths without f64, as Metal needs it, against the host's own.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "backends/operation_rows.h"
#include "gpu/device_runner.h"
#include "heddle/graph/operation.h"
#include "support/ulps.h"

namespace heddle::testing {
namespace {

struct Function1 {
  const Operation* op;
  double (*exact)(double);
  double ulps;
};
// The bounds of backends/halide/math_single.h, and of two that are the CPU's.
const Function1 kFunctions[] = {{&op_sin, std::sin, 2.5},     {&op_cos, std::cos, 2.5},
                                {&op_tan, std::tan, 2.5},     {&op_cbrt, std::cbrt, 1.0},
                                {&op_erfc, std::erfc, 3.0},   {&op_asinh, std::asinh, 1.0},
                                {&op_acosh, std::acosh, 1.0}, {&op_atanh, std::atanh, 1.0},
                                {&op_exp, std::exp, 1.3},     {&op_tanh, std::tanh, 2.5}};

TEST(DeviceMath, StaysWithinItsBoundsWithoutF64) {
  constexpr std::int64_t kCount = 1 << 17;
  std::vector<float> x(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) x[i] = std::bit_cast<float>(i * 32771u);
  const std::vector<Literal> in{make_literal<float>({kCount}, x)};
  std::vector<Kernel> kernels;
  for (const Function1& f : kFunctions) {
    const Program p = ops_test::program_of(*f.op, {in[0].type});
    kernels.push_back(kernel_of(p.entry(), RecipeKind::map, {}, "metal"));
  }
  DeviceRunner runner(kernels);
  for (std::size_t f = 0; f < kernels.size(); ++f) {
    const Literal result = runner.run(f, in)[0];
    const auto y = view<float>(result);
    double worst = 0;
    float at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double u = float_ulps(y[i], kFunctions[f].exact(static_cast<double>(x[i])));
      if (u > worst) worst = u, at = x[i];
    }
    EXPECT_LE(worst, kFunctions[f].ulps) << kFunctions[f].op->name << " of " << at;
  }
}

TEST(DeviceMath, PowersAndAnglesStayWithinTheirBounds) {
  const std::int64_t kCount = 1 << 16;
  std::mt19937_64 random(7);
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53,
                 v = static_cast<double>(random() >> 11) * 0x1p-53;
    x.push_back(static_cast<float>(std::exp2(i % 2 == 0 ? 60 * u - 30 : 2 * u - 1)));
    y.push_back(static_cast<float>(i % 2 == 0 ? 8 * v - 4 : 200 * v - 100));
  }
  const std::vector<Literal> in{make_literal<float>({kCount}, x), make_literal<float>({kCount}, y)};
  std::vector<Kernel> kernels;
  for (const Operation* op : {&op_pow, &op_atan2}) {
    kernels.push_back(kernel_of(ops_test::program_of(*op, {in[0].type, in[1].type}).entry(),
                                RecipeKind::map, {}, "metal"));
  }
  DeviceRunner runner(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Literal result = runner.run(k, in)[0];
    const auto got = view<float>(result);
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
      const double u = float_ulps(got[i], k == 0 ? std::pow(a, b) : std::atan2(a, b));
      if (u > worst) worst = u, at = i;
    }
    EXPECT_LE(worst, k == 0 ? 1.5 : 3.0) << (k == 0 ? "pow " : "atan2 ") << x[at] << ", " << y[at];
  }
}

}  // namespace
}  // namespace heddle::testing
