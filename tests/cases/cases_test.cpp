// The handed cases on every carrier: at once, interpreted, and compiled.  F1 .. F18, G1 .. G15
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cases/check.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

Tensors on_carrier(const std::vector<Literal>& inputs, const std::string& carrier) {
  Tensors all;
  for (const Literal& l : inputs) all.push_back(tensor(l, carrier));
  return all;
}

void forward_on(const std::string& carrier) {
  for (const ForwardCase& c : forward_cases()) {
    std::vector<Doubles> got;
    for (const Tensor& y : c.f(on_carrier(c.inputs, carrier))) got.push_back(elements(y));
    expect_all(got, c.expected, c.tolerance, c.name + " on " + carrier);
  }
}
// The carrier of tensors in files runs six operations: those cases that use no others.
TEST(HandedCases, ForwardOnTiled) {
  std::vector<std::string> ran;
  for (const ForwardCase& c : forward_cases()) {
    std::vector<Doubles> got;
    try {
      for (const Tensor& y : c.f(on_carrier(c.inputs, "tiled"))) got.push_back(elements(y));
    } catch (const UnsupportedOperationPlan&) {
      continue;
    }
    expect_all(got, c.expected, c.tolerance, c.name + " on tiled");
    ran.push_back(c.name);
  }
  EXPECT_EQ(std::count(ran.begin(), ran.end(), "F4"), 1);
}
TEST(HandedCases, ForwardOnReference) { forward_on("reference"); }
TEST(HandedCases, ForwardOnCpu) { forward_on("cpu"); }

TEST(HandedCases, ForwardCompiled) { check_forward_compiled(Target::host()); }

// ---- derivatives ----

void gradients_on(const std::string& carrier) {
  for (const GradientCase& c : gradient_cases()) {
    Tensors x = on_carrier(c.inputs, carrier);
    std::vector<Doubles> got;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (is_wrt(c.inputs[i])) require_gradient(x[i]);
    }
    const Tensor y = c.f(x);
    backward(y, {.cotangent = tensor(cotangent_of(c, y.type()), carrier)});
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (is_wrt(c.inputs[i])) got.push_back(elements(*gradient(x[i])));
    }
    std::vector<Doubles> wanted = c.expected;
    wanted.resize(got.size());
    for (Doubles& w : wanted) {
      for (double& e : w) e += 0.0;  // a gradient's zero has either sign
    }
    for (Doubles& g : got) {
      for (double& e : g) e += 0.0;
    }
    expect_all(got, wanted, c.tolerance, c.name + " on " + carrier);
  }
}
TEST(HandedCases, GradientsOnReference) { gradients_on("reference"); }
TEST(HandedCases, GradientsOnCpu) { gradients_on("cpu"); }

TEST(HandedCases, GradientsCompiled) { check_gradients_compiled(Target::host()); }

// Higher orders are a matter of programs.
double once(const Program& p, const std::vector<Literal>& arguments, std::size_t output) {
  const double compiled = to_doubles(compile(p)->run(p.entry().name, arguments)[output])[0];
  const double interpreted = to_doubles(interpret(p, p.entry().name, arguments)[output])[0];
  EXPECT_NEAR(compiled, interpreted, 1e-6 * std::fmax(1, std::fabs(interpreted)));
  return compiled;
}

TEST(HandedCases, MixedSecondDerivatives) {  // G4
  const Program p = trace([](const Tensor& x, const Tensor& y) { return pow(x, y); },
                          {f32({}), f32({})}, {.name = "f", .inputs = {"x", "y"}});
  const Literal x = splat(f32({}), 23), zero = splat(f32({}), 0), one = splat(f32({}), 1);
  const Program h = hvp(p, std::vector<std::string>{"x", "y"});
  EXPECT_NEAR(once(h, {x, zero, zero, one}, 0), 0.0434782609, 1e-8);
  EXPECT_NEAR(once(h, {x, zero, one, zero}, 1), 0.0434782609, 1e-8);
}

TEST(HandedCases, FourDerivatives) {  // G15
  Program p = trace([](const Tensor& x) { return exp(-(x * x)); }, {f32({})},
                    {.name = "f", .inputs = {"x"}});
  for (double wanted : {0.0, -2.0, 0.0, 12.0}) {
    p = grad(p, "x");
    EXPECT_NEAR(once(p, {splat(f32({}), 0)}, 0), wanted, 1e-6);
  }
}

TEST(HandedCases, JacobiansForwardAndReverse) {  // G11
  const Program p = trace(
      [](const Tensor& x) {
        const Tensor norm = sqrt(sum(x * x, {0}));
        return where(x > 0.5, x / norm, maximum(x, -x * 2)) * reduce_max(x);
      },
      {f32({3})}, {.name = "f", .inputs = {"x"}, .outputs = {"y"}});
  const Literal x = make_literal<float>({3}, {0.75f, -0.5f, 1.25f});
  const std::unique_ptr<Executable> forward = compile(jvp(p, "x")), reverse = compile(vjp(p, "x"));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      std::vector<float> e(3, 0.0f), c(3, 0.0f);
      e[j] = 1, c[i] = 1;
      const auto t = forward->run(
          "f_jvp", std::vector{x, make_literal<float>({3}, std::span<const float>(e))});
      const auto g = reverse->run(
          "f_vjp", std::vector{x, make_literal<float>({3}, std::span<const float>(c))});
      EXPECT_NEAR(to_doubles(t[1])[i], to_doubles(g[1])[j], 1e-6) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace heddle
