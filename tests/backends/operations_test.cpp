// Every primitive as a kernel, by its own workload rows and by special values, against the
// reference.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/kernel_runner.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/text.h"
#include "ops/support.h"

namespace heddle::testing {
namespace {

using ops_test::kInf;
using ops_test::kNaN;

bool compiles(const Type& t) {
  return t.dtype != DType::f16 && t.dtype != DType::bf16 && element_count(t) > 0;
}

bool compiles(const Function& f) {
  return std::all_of(f.types.begin(), f.types.end(), [](const Type& t) { return compiles(t); });
}

struct Row {
  const Operation* op;
  Workload workload;
};

std::vector<Row> compiled_rows() {
  std::vector<Row> rows;
  for (const Operation* op : built_in_operations()) {
    if (op->strict.decompose != nullptr || op == &op_constant) continue;
    for (const Workload& w : op->strict.workloads()) {
      if (compiles(ops_test::program_of(*op, w.operands, w.attributes).entry())) {
        rows.push_back({op, w});
      }
    }
  }
  return rows;
}

// Several rows side by side in one body: fewer kernels to compile.
Function side_by_side(std::span<const Row> rows) {
  Builder b("rows");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Values operands;
    for (const Type& t : rows[r].workload.operands) {
      operands.push_back(
          b.input("x" + std::to_string(r) + "_" + std::to_string(operands.size()), t));
    }
    for (ValueId v : b.add(*rows[r].op, operands, rows[r].workload.attributes)) {
      b.output("y" + std::to_string(v.index), v);
    }
  }
  return b.finish();
}

void check_rows(const std::vector<Row>& rows, std::size_t batch, RecipeKind kind, bool checked) {
  std::vector<Function> bodies;
  std::vector<Kernel> kernels;
  for (std::size_t r = 0; r < rows.size(); r += batch) {
    bodies.push_back(side_by_side(std::span(rows).subspan(r, std::min(batch, rows.size() - r))));
    kernels.push_back(kernel_of(bodies.back(), kind));
  }
  KernelRunner runner(kernels, checked);
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
      const double tolerance = is_floating(want[o].type.dtype) ? 5e-6 : 0;
      expect_close(got[o], want[o], tolerance, tolerance,
                   to_text(bodies[k]) + "output " + std::to_string(o));
    }
  }
}

// The dtypes that recipes are written for.
bool is_first_class(const Workload& w) {
  return std::all_of(w.operands.begin(), w.operands.end(), [](const Type& t) {
    return t.dtype == DType::f32 || t.dtype == DType::i32 || t.dtype == DType::boolean;
  });
}

void check_all_rows(bool checked) {
  std::vector<Row> rows = compiled_rows();
  ASSERT_GT(rows.size(), 80u);
  if (checked) std::erase_if(rows, [](const Row& r) { return !is_first_class(r.workload); });
  check_rows(rows, checked ? 4 : 16, RecipeKind::map, checked);
  auto check = [&](Pattern pattern, RecipeKind kind) {
    std::vector<Row> some;
    for (const Row& r : rows) {
      if (r.op->strict.pattern == pattern && is_first_class(r.workload)) some.push_back(r);
    }
    check_rows(some, 1, kind, checked);
  };
  check(Pattern::reduce, RecipeKind::rows);
  check(Pattern::reduce, RecipeKind::columns);
  check(Pattern::contract, RecipeKind::contract);
  check(Pattern::scatter, RecipeKind::scatter);
}

TEST(Operations, TheirRowsAgreeWithTheReference) { check_all_rows(false); }
TEST(Operations, TheirRowsStayInsideTheirOperands) { check_all_rows(true); }

// F2, F3, F6, F16-F18 and their kinds: every pair of special values.
const std::vector<double> kSpecials = {
    kNaN,   kInf,   -kInf,     0.0,        -0.0,        1.0,   -1.0,         0.5,       1.5,
    2.5,    -0.5,   -1.5,      -2.5,       2.0,         -2.0,  3.0,          -3.0,      7.0,
    -7.5,   1e-40,  -1e-40,    1e-30,      3e38,        -3e38, 89.0,         88.7,      -87.5,
    -103.5, -105.0, 8388609.0, 16777216.0, -16777217.0, 1e10,  4294967296.0, 0.99999994};

void expect_special(const Literal& got, const Literal& want, double rtol, const std::string& what) {
  const std::vector<double> g = to_doubles(got), w = to_doubles(want);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::string place = what + " element " + std::to_string(i);
    if (std::isnan(w[i])) {
      EXPECT_TRUE(std::isnan(g[i])) << place << " is " << g[i] << ", should be NaN";
    } else if (std::isinf(w[i]) || w[i] == 0) {
      EXPECT_EQ(g[i], w[i]) << place;
      EXPECT_EQ(std::signbit(g[i]), std::signbit(w[i])) << place << ": sign";
    } else {
      EXPECT_NEAR(g[i], w[i], rtol * std::fabs(w[i]) + 1.5e-45) << place << " of " << w[i];
    }
  }
}

TEST(Operations, SpecialValuesOfFloatsAreTheReferences) {
  std::vector<double> first, second;
  for (double a : kSpecials) {
    for (double b : kSpecials) first.push_back(a), second.push_back(b);
  }
  const Literal x = ops_test::floats(first), y = ops_test::floats(second);
  std::vector<const Operation*> ops;
  std::vector<Kernel> kernels;
  std::vector<Function> bodies;
  for (const Operation* op : built_in_operations()) {
    if (op->strict.pattern != Pattern::elementwise || op->strict.decompose != nullptr) continue;
    const std::size_t count = op->strict.roles.size();
    if (count > 2 || op == &op_compare || op == &op_convert) continue;
    try {
      const Program p = ops_test::program_of(*op, std::vector<Type>(count, x.type));
      bodies.push_back(p.entry());
      kernels.push_back(kernel_of(p.entry(), RecipeKind::map));
      ops.push_back(op);
    } catch (const TypeError&) {
      // not an operation of floats
    }
  }
  ASSERT_GT(kernels.size(), 20u);
  KernelRunner runner(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<Literal> inputs{x, y};
    inputs.resize(bodies[i].inputs.size());
    const auto want = ops_test::run(Program({bodies[i]}), inputs);
    expect_special(runner.run(i, inputs)[0], want[0], 5e-7, std::string(ops[i]->name));
  }
}

TEST(Operations, IntegersWrapAndTruncateAsTheReference) {  // F6
  const std::vector<double> values = {0, 1, -1, 2, -2, 3, -3, 7, -7, 2147483647.0, -2147483648.0};
  std::vector<double> first, second;
  for (double a : values) {
    for (double b : values) first.push_back(a), second.push_back(b);
  }
  const Literal x = ops_test::ints(first), y = ops_test::ints(second);
  std::vector<Kernel> kernels;
  std::vector<Function> bodies;
  for (const Operation* op : {&op_add, &op_sub, &op_mul, &op_div, &op_rem, &op_pow, &op_max,
                              &op_min, &op_and_, &op_or_, &op_neg, &op_abs, &op_sign, &op_not_}) {
    const std::size_t count = op->strict.roles.size();
    bodies.push_back(ops_test::program_of(*op, std::vector<Type>(count, x.type)).entry());
    kernels.push_back(kernel_of(bodies.back(), RecipeKind::map));
  }
  KernelRunner runner(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<Literal> inputs{x, y};
    inputs.resize(bodies[i].inputs.size());
    const auto want = ops_test::run(Program({bodies[i]}), inputs);
    EXPECT_EQ(to_doubles(runner.run(i, inputs)[0]), to_doubles(want[0])) << to_text(bodies[i]);
  }
}

TEST(Operations, ConversionsAndComparisonsAreTheReferences) {
  std::vector<Kernel> kernels;
  std::vector<Function> bodies;
  std::vector<std::vector<Literal>> inputs;
  auto add = [&](const Operation& op, std::vector<Literal> in, const Attributes& attributes) {
    std::vector<Type> types;
    for (const Literal& l : in) types.push_back(l.type);
    bodies.push_back(ops_test::program_of(op, types, attributes).entry());
    kernels.push_back(kernel_of(bodies.back(), RecipeKind::map));
    inputs.push_back(std::move(in));
  };
  const Literal x = ops_test::floats(kSpecials);
  for (DType to : kAllDTypes) {
    if (to == DType::f16 || to == DType::bf16) continue;
    add(op_convert, {x}, Attributes::of(ConvertAttributes{to}));
    add(op_convert, {ops_test::ints({0, 1, -1, 200, -200, 70000, -2147483648.0})},
        Attributes::of(ConvertAttributes{to}));
    add(op_convert, {ops_test::vector_of(DType::boolean, {0, 1, 1, 0})},
        Attributes::of(ConvertAttributes{to}));
  }
  std::vector<double> reversed(kSpecials.rbegin(), kSpecials.rend());
  for (const char* direction : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    for (const Literal& other : {ops_test::floats(reversed), x}) {
      add(op_compare, {x, other}, Attributes::of(CompareAttributes{direction}));
    }
  }
  KernelRunner runner(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto want = ops_test::run(Program({bodies[i]}), inputs[i]);
    ops_test::expect_same(runner.run(i, inputs[i])[0], to_doubles(want[0]), to_text(bodies[i]));
  }
}

}  // namespace
}  // namespace heddle::testing
