// The kinds of kernels, each compiled through the worker and held against the interpreter.
#include <gtest/gtest.h>

#include "backends/kernel_runner.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"

namespace heddle::testing {
namespace {

Type f32(Dims dims) { return {DType::f32, std::move(dims)}; }

struct Case {
  std::string name;
  Function body;
  RecipeKind kind;
  std::vector<int> shares{};
};

Function chain(const Dims& d) {
  Builder b("chain");
  const ValueId x = b.input("x", f32(d)), y = b.input("y", f32(d));
  const ValueId e = emit::exp(b, emit::sub(b, emit::mul(b, x, y), y));
  const ValueId t = emit::div(b, e, emit::add(b, e, 1));
  b.output("z", emit::max(b, emit::tanh(b, t), emit::sub(b, t, x)));
  return b.finish();
}

// x w + bias, relu; layouts 0 NN, 1 NT, 2 TN, 3 TT.
Function linear(std::int64_t m, std::int64_t n, std::int64_t k, int layout) {
  Builder b("linear");
  const bool tl = layout >= 2, tr = layout % 2 == 1;
  const ValueId x = b.input("x", f32(tl ? Dims{k, m} : Dims{m, k}));
  const ValueId w = b.input("w", f32(tr ? Dims{n, k} : Dims{k, n}));
  const ValueId bias = b.input("bias", f32({n}));
  const ValueId d = emit::dot_general(b, x, w, {{}, {}, {tl ? 0 : 1}, {tr ? 1 : 0}});
  const ValueId z = emit::add(b, d, emit::broadcast_in_dim(b, bias, {m, n}, {1}));
  b.output("z", emit::max(b, z, emit::zeros_like(b, z)));
  return b.finish();
}

Function softmax(std::int64_t rows, std::int64_t columns) {
  Builder b("softmax");
  const Dims d{rows, columns};
  const ValueId x = b.input("x", f32(d));
  const ValueId m = emit::reduce_max(b, x, {1});
  const ValueId e = emit::exp(b, emit::sub(b, x, emit::broadcast_in_dim(b, m, d, {0})));
  const ValueId s = emit::reduce_sum(b, e, {1});
  b.output("y", emit::div(b, e, emit::broadcast_in_dim(b, s, d, {0})));
  b.output("max", m);
  b.output("sum", s);
  return b.finish();
}

Function column_sum(std::int64_t rows, std::int64_t columns) {
  Builder b("columns");
  const ValueId x = b.input("x", f32({rows, columns}));
  b.output("y", emit::reduce_sum(b, x, {0}));
  return b.finish();
}

Function total(std::int64_t n) {
  Builder b("total");
  const ValueId x = b.input("x", f32({n}));
  b.output("y", emit::reduce_sum(b, emit::mul(b, x, x), {0}));
  return b.finish();
}

void check(const std::vector<Case>& cases, bool checked) {
  std::vector<Kernel> kernels;
  for (const Case& c : cases) kernels.push_back(kernel_of(c.body, c.kind, c.shares));
  KernelRunner runner(kernels, checked);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::vector<Literal> inputs;
    for (const Input& in : cases[i].body.inputs) {
      inputs.push_back(random_literal(cases[i].body.type(in.value), 7 + inputs.size()));
    }
    const Program program({cases[i].body});
    const auto want = interpret(program, cases[i].body.name, inputs);
    const auto got = runner.run(i, inputs, 1);
    for (std::size_t o = 0; o < want.size(); ++o) {
      expect_close(got[o], want[o], 2e-5, 2e-5, cases[i].name + " output " + std::to_string(o));
    }
    const auto two = runner.run(i, inputs, 2);
    for (std::size_t o = 0; o < want.size(); ++o) {
      EXPECT_TRUE(two[o] == got[o]) << cases[i].name << ": two threads give other bits";
    }
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Dims& d : {Dims{1}, Dims{7}, Dims{3, 5}, Dims{1000, 3}, Dims{300000}}) {
    cases.push_back({"chain " + to_text(d), chain(d), RecipeKind::map});
  }
  for (auto [m, n, k] : {std::tuple{1, 1, 1}, {3, 5, 2}, {7, 77, 33}, {64, 10, 9}, {100, 96, 96}}) {
    for (int layout = 0; layout < 4; ++layout) {
      cases.push_back({"linear " + std::to_string(layout) + " " + to_text(Dims{m, n, k}),
                       linear(m, n, k, layout), RecipeKind::contract});
    }
  }
  for (auto [r, c] : {std::pair{1, 1}, {5, 3}, {32, 10}, {333, 77}, {64, 1000}}) {
    cases.push_back({"softmax " + to_text(Dims{r, c}), softmax(r, c), RecipeKind::rows});
    cases.push_back({"columns " + to_text(Dims{r, c}), column_sum(r, c), RecipeKind::columns});
  }
  for (std::int64_t n : {1, 7, 100, 100003, 3000000}) {
    cases.push_back({"total " + std::to_string(n), total(n), RecipeKind::rows});
  }
  return cases;
}

TEST(Kernels, AgreeWithTheInterpreter) { check(all_cases(), false); }
TEST(Kernels, ReadAndWriteTheirOwnRegionsOnly) { check(all_cases(), true); }

}  // namespace
}  // namespace heddle::testing
