// Every primitive on the device, by its own workload rows and by special values, against the
// reference.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "backends/operation_rows.h"
#include "gpu/device_runner.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/carrier_types.h"

namespace heddle::testing {
namespace {

Target metal_target() {
  Target t = Target::host();
  t.carrier = "metal";
  return t;
}

// What is left out, and why: nothing but dtypes that the carrier has not.
std::vector<Row> device_rows() {
  std::vector<Row> rows = compiled_rows();
  std::erase_if(rows, [](const Row& r) {
    const Function f =
        ops_test::program_of(*r.op, r.workload.operands, r.workload.attributes).entry();
    return std::any_of(f.types.begin(), f.types.end(),
                       [](const Type& t) { return !carrier_has(t.dtype, metal_target()); });
  });
  return rows;
}

void check_rows(const std::vector<Row>& rows, std::size_t batch, RecipeKind kind) {
  std::vector<Function> bodies;
  std::vector<Kernel> kernels;
  for (std::size_t r = 0; r < rows.size(); r += batch) {
    bodies.push_back(side_by_side(std::span(rows).subspan(r, std::min(batch, rows.size() - r))));
    kernels.push_back(kernel_of(bodies.back(), kind, {}, "metal"));
  }
  DeviceRunner runner(kernels);
  std::mt19937_64 random(20240607);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    std::vector<Literal> inputs;
    for (std::size_t r = k * batch; r < std::min(rows.size(), (k + 1) * batch); ++r) {
      const Workload& w = rows[r].workload;
      for (Literal& l : ops_test::random_operands(w, w.operands, random)) inputs.push_back(l);
    }
    const auto want = ops_test::run(Program({bodies[k]}), inputs);
    const auto got = runner.run(k, inputs);
    for (std::size_t o = 0; o < want.size(); ++o) {
      const double tolerance = tolerance_of(*rows[k * batch + o].op, want[o].type.dtype);
      expect_close(got[o], want[o], tolerance, tolerance,
                   to_text(bodies[k]) + "output " + std::to_string(o));
    }
  }
}

TEST(DeviceOperations, TheirRowsAgreeWithTheReference) {
  const std::vector<Row> rows = device_rows();
  ASSERT_GT(rows.size(), 80u);
  check_rows(rows, 6, RecipeKind::map);  // more would be too many buffers
}

TEST(DeviceOperations, TheirRowsAgreeByEveryRecipe) {
  const std::vector<Row> rows = device_rows();
  const auto check = [&](Pattern pattern, RecipeKind kind) {
    std::vector<Row> some;
    for (const Row& r : rows) {
      if (r.op->strict.pattern == pattern) some.push_back(r);
    }
    check_rows(some, 1, kind);
  };
  check(Pattern::reduce, RecipeKind::rows);
  check(Pattern::reduce, RecipeKind::columns);
  check(Pattern::contract, RecipeKind::contract);
  check(Pattern::scatter, RecipeKind::scatter);
  check(Pattern::scan, RecipeKind::fibres);
  check(Pattern::sort, RecipeKind::fibres);
}

// Fast maths is off, and max and min keep NaN: F2, F3, F16-F18.
TEST(DeviceOperations, SpecialValuesAreTheReferences) {
  std::vector<double> first, second;
  for (double a : kSpecials) {
    for (double b : kSpecials) first.push_back(a), second.push_back(b);
  }
  for (std::size_t p : {0u, 2u, 3u}) {  // f64 the carrier has not
    const Precision& precision = kPrecisions[p];
    const Literal x = ops_test::vector_of(precision.dtype, first),
                  y = ops_test::vector_of(precision.dtype, second);
    std::vector<const Operation*> ops;
    std::vector<Kernel> kernels;
    std::vector<Function> bodies;
    for (const Operation* op : built_in_operations()) {
      if (op->strict.pattern != Pattern::elementwise || op->strict.decompose != nullptr) continue;
      const std::size_t count = op->strict.roles.size();
      if (count > 2 || op == &op_compare || op == &op_convert || op == &op_bitcast) continue;
      if (p != 0 && ops.size() == 12) break;  // the same operations on other storage
      try {
        const Program program = ops_test::program_of(*op, std::vector<Type>(count, x.type));
        bodies.push_back(program.entry());
        kernels.push_back(kernel_of(program.entry(), RecipeKind::map, {}, "metal"));
        ops.push_back(op);
      } catch (const TypeError&) {
        // not an operation of floats
      }
    }
    DeviceRunner runner(kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      std::vector<Literal> inputs{x, y};
      inputs.resize(bodies[i].inputs.size());
      const auto want = ops_test::run(Program({bodies[i]}), inputs);
      Precision own = precision;
      if (ops[i] == &op_erfc || ops[i] == &op_atan2) own.rtol *= 1.5;
      expect_special(runner.run(i, inputs)[0], want[0], own,
                     std::string(ops[i]->name) + " " + std::string(name_of(precision.dtype)));
    }
  }
}

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

double ulps(float got, double exact) {
  const double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(got) ? 0 : wrong;
  if (std::isnan(got)) return wrong;
  if (std::isinf(exact)) return got == exact ? 0 : wrong;
  const double limit = 0x1p128;  // where infinity stands when values round up to it
  const double x = std::isinf(got) ? std::copysign(limit, got) : static_cast<double>(got);
  if (std::fabs(exact) > limit) exact = std::copysign(limit, exact);
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(x - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

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
      const double u = ulps(y[i], kFunctions[f].exact(static_cast<double>(x[i])));
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
      const double u = ulps(got[i], k == 0 ? std::pow(a, b) : std::atan2(a, b));
      if (u > worst) worst = u, at = i;
    }
    EXPECT_LE(worst, k == 0 ? 1.5 : 3.0) << (k == 0 ? "pow " : "atan2 ") << x[at] << ", " << y[at];
  }
}

}  // namespace
}  // namespace heddle::testing
