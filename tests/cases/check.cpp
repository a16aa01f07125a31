#include "cases/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "heddle/schedule/carrier_types.h"

namespace heddle::testing {
namespace {

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

// Cases compiled side by side: one function each, all in one program.
class CompiledCases {
 public:
  CompiledCases(std::vector<Function> functions, const Target& target)
      : program_(std::move(functions)), executable_(compile(program_, {.target = target})) {}
  std::vector<Doubles> run(const std::string& function, const std::vector<Literal>& inputs) {
    return all_elements(executable_->run(function, inputs));
  }

 private:
  Program program_;
  std::unique_ptr<Executable> executable_;
};

bool can_run(const Function& f, const Target& target) {
  return std::all_of(f.types.begin(), f.types.end(),
                     [&](const Type& t) { return carrier_has(t.dtype, target); });
}

// The first case of each name that was handed: "F3", and of "F13 extent 1" and "F13 extent 8" one.
class Handed {
 public:
  bool is_new(const std::string& name) {
    const std::size_t end = name.find_first_not_of("0123456789", 1);
    const bool neighbour = end != std::string::npos && name[end] != ' ';  // "F3a in f64"
    return !neighbour && seen_.insert(name.substr(0, end)).second;
  }

 private:
  std::set<std::string> seen_;
};

// A gradient's zero has either sign.
void lose_signs_of_zeros(std::vector<Doubles>& all) {
  for (Doubles& values : all) {
    for (double& e : values) e += 0.0;
  }
}

Function gradient_of(const GradientCase& c, const std::string& name) {
  const Program p = traced(name, c.inputs, [&](const Tensors& x) { return Tensors{c.f(x)}; });
  std::vector<std::string> wrt;
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    if (is_wrt(c.inputs[k])) wrt.push_back("x" + std::to_string(k));
  }
  Function f = vjp(p, wrt).entry();
  f.name = name;
  return f;
}

}  // namespace

void expect_all(const std::vector<Doubles>& got, const std::vector<Doubles>& wanted,
                double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t r = 0; r < got.size(); ++r) {
    expect_elements(got[r], wanted[r], tolerance, what + " result " + std::to_string(r));
  }
}

bool is_wrt(const Literal& l) { return is_floating(l.type.dtype); }

Literal cotangent_of(const GradientCase& c, const Type& type) {
  if (c.cotangent.empty()) return splat(type, 1);
  return convert(make_literal<double>(type.dims, c.cotangent), type.dtype);
}

std::size_t check_forward_compiled(const Target& target, bool neighbours) {
  std::vector<ForwardCase> cases;
  std::vector<Function> functions;
  Handed handed;
  for (const ForwardCase& c : forward_cases()) {
    const Function f = traced("f" + std::to_string(cases.size()), c.inputs, c.f).entry();
    if (!can_run(f, target) || !(neighbours || handed.is_new(c.name))) continue;
    cases.push_back(c);
    functions.push_back(f);
  }
  CompiledCases compiled(functions, target);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ForwardCase& c = cases[i];
    expect_all(compiled.run(functions[i].name, c.inputs), c.expected, c.tolerance,
               c.name + " on " + target.carrier);
  }
  return cases.size();
}

std::size_t check_gradients_compiled(const Target& target, bool neighbours) {
  std::vector<GradientCase> cases;
  std::vector<Function> functions;
  Handed handed;
  for (const GradientCase& c : gradient_cases()) {
    const Function f = gradient_of(c, "g" + std::to_string(cases.size()));
    if (!can_run(f, target) || !(neighbours || handed.is_new(c.name))) continue;
    cases.push_back(c);
    functions.push_back(f);
  }
  CompiledCases compiled(functions, target);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const GradientCase& c = cases[i];
    std::vector<Literal> arguments = c.inputs;
    arguments.push_back(cotangent_of(c, functions[i].type(functions[i].inputs.back().value)));
    std::vector<Doubles> got = compiled.run(functions[i].name, arguments);
    got.erase(got.begin());  // the value
    lose_signs_of_zeros(got);
    expect_all(got, c.expected, c.tolerance, c.name + " on " + target.carrier);
  }
  return cases.size();
}

}  // namespace heddle::testing
