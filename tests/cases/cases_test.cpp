// The handed cases on every carrier: at once, interpreted, and compiled.  F1 .. F18, G1 .. G15
#include "cases/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

void expect_elements(const Doubles& got, const Doubles& wanted, double tolerance,
                     const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << what << " element " << i << ": " << got[i];
    } else if (tolerance == 0 || std::isinf(wanted[i])) {
      EXPECT_TRUE(got[i] == wanted[i] && std::signbit(got[i]) == std::signbit(wanted[i]))
          << what << " element " << i << ": " << got[i] << ", wanted " << wanted[i];
    } else {
      EXPECT_NEAR(got[i], wanted[i], tolerance * std::fabs(wanted[i])) << what << " element " << i;
    }
  }
}
void expect_all(const std::vector<Doubles>& got, const std::vector<Doubles>& wanted,
                double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t r = 0; r < got.size(); ++r) {
    expect_elements(got[r], wanted[r], tolerance, what + " result " + std::to_string(r));
  }
}

std::vector<Doubles> all_elements(const std::vector<Literal>& literals) {
  std::vector<Doubles> all;
  for (const Literal& l : literals) all.push_back(to_doubles(l));
  return all;
}
std::vector<Type> types_of(const std::vector<Literal>& inputs) {
  std::vector<Type> types;
  for (const Literal& l : inputs) types.push_back(l.type);
  return types;
}
Tensors on_carrier(const std::vector<Literal>& inputs, const std::string& carrier) {
  Tensors all;
  for (const Literal& l : inputs) all.push_back(tensor(l, carrier));
  return all;
}

Program traced(const std::string& name, const std::vector<Literal>& inputs,
               const std::function<Tensors(const Tensors&)>& f) {
  Trace trace(name);
  Tensors x;
  for (const Type& t : types_of(inputs))
    x.push_back(trace.input("x" + std::to_string(x.size()), t));
  const Tensors y = f(x);
  for (std::size_t r = 0; r < y.size(); ++r) trace.output("y" + std::to_string(r), y[r]);
  return trace.finish();
}

// Cases compiled side by side: one function each.
class CompiledCases {
 public:
  explicit CompiledCases(std::vector<Function> functions)
      : program_(std::move(functions)), executable_(compile(program_)) {}
  std::vector<Doubles> run(const std::string& function, const std::vector<Literal>& inputs) {
    return all_elements(executable_->run(function, inputs));
  }

 private:
  Program program_;
  std::unique_ptr<Executable> executable_;
};

std::string numbered(const char* what, std::size_t i) { return what + std::to_string(i); }

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

TEST(HandedCases, ForwardCompiled) {
  const std::vector<ForwardCase> cases = forward_cases();
  std::vector<Function> functions;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    functions.push_back(traced(numbered("f", i), cases[i].inputs, cases[i].f).entry());
  }
  CompiledCases compiled(functions);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ForwardCase& c = cases[i];
    expect_all(compiled.run(numbered("f", i), c.inputs), c.expected, c.tolerance, c.name);
  }
}

// ---- derivatives ----

bool is_wrt(const Literal& l) { return is_floating(l.type.dtype); }

Literal cotangent_of(const GradientCase& c, const Type& type) {
  if (c.cotangent.empty()) return splat(type, 1);
  return convert(make_literal<double>(type.dims, c.cotangent), type.dtype);
}

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

TEST(HandedCases, GradientsCompiled) {
  const std::vector<GradientCase> cases = gradient_cases();
  std::vector<Function> functions;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Program p = traced(numbered("g", i), cases[i].inputs,
                             [&](const Tensors& x) { return Tensors{cases[i].f(x)}; });
    std::vector<std::string> wrt;
    for (std::size_t k = 0; k < cases[i].inputs.size(); ++k) {
      if (is_wrt(cases[i].inputs[k])) wrt.push_back(numbered("x", k));
    }
    functions.push_back(vjp(p, wrt).entry());
    functions.back().name = numbered("g", i);
  }
  CompiledCases compiled(functions);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const GradientCase& c = cases[i];
    std::vector<Literal> arguments = c.inputs;
    const Function& f = functions[i];
    arguments.push_back(cotangent_of(c, f.type(f.inputs.back().value)));
    std::vector<Doubles> got = compiled.run(numbered("g", i), arguments);
    got.erase(got.begin());  // the value
    for (Doubles& g : got) {
      for (double& e : g) e += 0.0;
    }
    expect_all(got, c.expected, c.tolerance, c.name);
  }
}

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
