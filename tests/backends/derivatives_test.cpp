// The derivatives of every operation as compiled programs, against the interpreter: tangents,
// cotangents, second order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heddle/backends/compile.h"
#include "heddle/graph/ad/transforms.h"
#include "ops/support.h"

namespace heddle::testing {
namespace {

constexpr std::uint64_t kSeed = 20240811;

// The first of the operation's rows that is in f32, or in another float; null: it has none that
// derivatives flow through.
std::optional<Workload> row_of(const Operation& op) {
  std::optional<Workload> found;
  for (const Workload& w : op.strict.workloads()) {
    const auto is = [&](DType d) {
      return std::any_of(w.operands.begin(), w.operands.end(),
                         [&](const Type& t) { return t.dtype == d; });
    };
    if (w.order < 1 || is(DType::f16) || is(DType::bf16) || !(is(DType::f32) || is(DType::f64)))
      continue;
    const Function f = ops_test::program_of(op, w.operands, w.attributes).entry();
    if (!is_floating(f.type(f.outputs[0].value).dtype)) continue;
    if (std::any_of(f.types.begin(), f.types.end(),
                    [](const Type& t) { return element_count(t) == 0; }))
      continue;
    if (!found || is(DType::f32)) found = w;
    if (is(DType::f32)) break;
  }
  return found;
}

// One function: J v, J^T c, and, where there is one, the Hessian of the sum of squares times v.
class Derived {
 public:
  Derived(const Operation& op, Workload row)
      : row_(std::move(row)),
        name_(op.name),
        program_(ops_test::one_output(ops_test::program_of(op, row_.operands, row_.attributes))) {
    for (std::size_t i = 0; i < row_.operands.size(); ++i) {
      if (is_floating(row_.operands[i].dtype)) wrt_.push_back("x" + std::to_string(i));
    }
  }

  Function function() const {
    Builder b(name_);
    Values x, v;
    for (const Type& t : row_.operands) x.push_back(b.input("x" + std::to_string(x.size()), t));
    for (const Type& t : row_.operands) {
      if (is_floating(t.dtype)) v.push_back(b.input("v" + std::to_string(v.size()), t));
    }
    Values with_v = x, with_c = x;
    with_v.insert(with_v.end(), v.begin(), v.end());
    const Function reverse = vjp(program_, wrt_).entry();
    for (std::size_t i = x.size(); i < reverse.inputs.size(); ++i) {
      with_c.push_back(
          b.input("c" + std::to_string(i - x.size()), reverse.type(reverse.inputs[i].value)));
    }
    add(b, "tangent", jvp(program_, wrt_).entry(), with_v);
    add(b, "cotangent", reverse, with_c);
    if (row_.order >= 2) add(b, "second", hvp(sum_of_squares(), wrt_).entry(), with_v);
    return b.finish();
  }

  std::vector<Literal> arguments(const Function& f, std::mt19937_64& random) const {
    std::vector<Literal> all = ops_test::random_operands(row_, row_.operands, random);
    for (std::size_t i = all.size(); i < f.inputs.size(); ++i) {
      all.push_back(ops_test::random_literal(f.type(f.inputs[i].value), -1, 1, random));
    }
    return all;
  }

 private:
  static void add(Builder& b, const std::string& what, const Function& f, const Values& arguments) {
    const Values results = b.splice(f, arguments);
    for (std::size_t r = 0; r < results.size(); ++r) {
      b.output(what + std::to_string(r), results[r]);
    }
  }
  Program sum_of_squares() const {
    const Function& f = program_.entry();
    Builder b("f");
    Values x;
    for (const Input& in : f.inputs) x.push_back(b.input(in.name, f.type(in.value)));
    const ValueId y = b.splice(f, x)[0];
    b.output("loss", emit::reduce_sum(b, emit::mul(b, y, y), emit::all_axes(b.type(y).rank())));
    return Program({b.finish()});
  }

  Workload row_;
  std::string name_;
  Program program_;
  std::vector<std::string> wrt_;
};

// f32 results are rounded after every operation on both sides, but sums in another order.
void expect_alike(const Literal& got, const Literal& want, const std::string& what) {
  const std::vector<double> g = to_doubles(got), w = to_doubles(want);
  double largest = 1e-3;
  for (double e : w) largest = std::isfinite(e) ? std::max(largest, std::fabs(e)) : largest;
  const double tolerance = (want.type.dtype == DType::f64 ? 1e-12 : 2e-5) * largest;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (std::isnan(w[i]) && std::isnan(g[i])) continue;
    if (g[i] == w[i]) continue;
    EXPECT_NEAR(g[i], w[i], tolerance) << what << " element " << i;
  }
}

// One library of them all: workers compile side by side.
TEST(Operations, TheirDerivativesAgreeWithTheReference) {
  std::vector<Derived> derived;
  std::vector<Function> functions;
  for (const Operation* op : built_in_operations()) {
    const std::optional<Workload> row = row_of(*op);
    if (!row) continue;
    derived.emplace_back(*op, *row);
    functions.push_back(derived.back().function());
  }
  ASSERT_GT(functions.size(), 60u);
  const Program program(functions);
  const std::unique_ptr<Executable> executable = compile(program);
  std::mt19937_64 random(kSeed);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const std::vector<Literal> arguments = derived[i].arguments(functions[i], random);
    const auto want = interpret(program, functions[i].name, arguments);
    const auto got = executable->run(functions[i].name, arguments);
    for (std::size_t o = 0; o < want.size(); ++o) {
      expect_alike(got[o], want[o], functions[i].name + " output " + functions[i].outputs[o].name);
    }
  }
}

}  // namespace
}  // namespace heddle::testing
