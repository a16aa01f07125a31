// Attention, its gradient and the halves of that as one kernel each, and in programs: against the
// decomposition, whose scores are stored.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/kernel_runner.h"
#include "heddle/backends/compile.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "ops/support.h"

namespace heddle::testing {
namespace {

struct Sizes {
  std::int64_t heads, queries, keys, depth;
  AttentionAttributes attributes{};
};

std::string name_of(const Operation& op, const Sizes& s) {
  return std::string(op.name) + " " + std::to_string(s.heads) + "," + std::to_string(s.queries) +
         "," + std::to_string(s.keys) + "," + std::to_string(s.depth) +
         (s.attributes.causal ? " causal" : "");
}

std::vector<Type> operand_types(const Operation& op, const Sizes& s) {
  const Type queries{DType::f32, {s.heads, s.queries, s.depth}};
  const Type keys{DType::f32, {s.heads, s.keys, s.depth}};
  const Type numbers{DType::f32, {s.heads, s.queries}};
  std::vector<Type> types{queries, keys, keys};
  if (&op != &op_attention) types.insert(types.end(), {numbers, queries, numbers});
  return types;
}

Function one_call(const Operation& op, const Sizes& s) {
  Builder b("f");
  Values operands;
  for (const Type& t : operand_types(op, s)) {
    operands.push_back(b.input("x" + std::to_string(operands.size()), t));
  }
  const Values results = b.add(op, operands, Attributes::of(s.attributes));
  for (std::size_t r = 0; r < results.size(); ++r) b.output("y" + std::to_string(r), results[r]);
  return b.finish();
}

// Of a gradient, the logsumexp must be that of the scores: else shares overflow.
std::vector<Literal> operands_of(const Function& f, const Sizes& s) {
  std::vector<Literal> all;
  for (const Input& in : f.inputs) {
    all.push_back(random_literal(f.type(in.value), 7 + static_cast<unsigned>(all.size()), -1, 1));
  }
  if (all.size() > 3) {
    const Program forward({one_call(op_attention, s)});
    all[3] = interpret(forward, "f", std::span(all).first(3))[1];
  }
  return all;
}

const Operation* const kOperations[] = {&op_attention, &op_attention_gradient, &op_attention_dq,
                                        &op_attention_dkv};
constexpr std::size_t kCount = std::size(kOperations);

void check_kernels(const std::vector<Sizes>& all, bool checked) {
  std::vector<Kernel> kernels;
  for (const Sizes& s : all) {
    for (const Operation* op : kOperations) {
      kernels.push_back(kernel_of(one_call(*op, s), RecipeKind::row_block));
    }
  }
  KernelRunner runner(kernels, checked);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Sizes& s = all[k / kCount];
    const Operation& op = *kOperations[k % kCount];
    const Function f = one_call(op, s);
    const std::vector<Literal> operands = operands_of(f, s);
    const std::vector<Literal> want = interpret(Program({f}), "f", operands);
    const std::vector<Literal> got = runner.run(k, operands);
    for (std::size_t o = 0; o < want.size(); ++o) {
      expect_close(got[o], want[o], 1e-5, 2e-6 * std::sqrt(static_cast<double>(s.keys)),
                   name_of(op, s));
    }
    const std::vector<Literal> again = runner.run(k, operands, 4);
    for (std::size_t o = 0; o < got.size(); ++o) {
      EXPECT_EQ(*got[o].bytes, *again[o].bytes) << name_of(op, s) << ": with 4 threads";
    }
  }
}

TEST(RowBlock, EveryResultOnRaggedSizes) {
  check_kernels({{1, 1, 1, 32},
                 {2, 33, 77, 32},
                 {1, 100, 20, 64, {true}},
                 {5, 17, 64, 64, {true, 0.3}},
                 {1, 8, 3000, 32}},
                false);
}

TEST(RowBlock, NothingIsReadOutside) {
  check_kernels({{2, 33, 77, 32}, {1, 20, 40, 32, {true}}}, true);
}

// One query is NaN, and one key makes products of both infinities.
TEST(RowBlock, RowsWithNaNAndInfinity) {
  for (bool causal : {false, true}) {
    const Sizes s{1, 37, 50, 32, {causal}};
    const Function f = one_call(op_attention, s);
    std::vector<Literal> operands = operands_of(f, s);
    const auto put = [&](std::size_t i, std::size_t row, double x) {
      std::vector<double> v = to_doubles(operands[i]);
      v[row * 32] = x;
      operands[i] = ops_test::tensor(DType::f32, operands[i].type.dims, v);
    };
    put(0, 20, ops_test::kNaN);
    put(1, 30, ops_test::kInf);
    const auto want = interpret(Program({f}), "f", operands);
    const auto got = KernelRunner({kernel_of(f, RecipeKind::row_block)}).run(0, operands);
    for (std::size_t o = 0; o < want.size(); ++o) expect_close(got[o], want[o], 1e-5, 2e-5, f.name);
  }
}

std::size_t row_blocks_of(const Plan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.kernels.begin(), plan.kernels.end(),
                    [](const Kernel& k) { return std::holds_alternative<RowBlock>(k.recipe); }));
}

// What a program stores does not grow with queries times keys, and nor does its gradient's. Many
// heads are tasks of one kernel; of few, the halves of the gradient are cut.
std::unique_ptr<Executable> check_gradient(std::int64_t heads, std::size_t kernels,
                                           const std::vector<std::string>& of) {
  const Sizes s{heads, 300, 300, 32, {true}};
  const Program p = vjp(Program({one_call(op_attention, s)}), of);
  std::unique_ptr<Executable> e = compile(p);
  const FunctionPlan& f = e->plan().functions[0];
  for (const Buffer& b : f.buffers) EXPECT_LT(element_count(b.type), 300 * 300);
  EXPECT_EQ(row_blocks_of(e->plan()), kernels);
  std::vector<Literal> operands;
  for (const Input& in : p.entry().inputs) {
    operands.push_back(random_literal(p.entry().type(in.value),
                                      11 + static_cast<unsigned>(operands.size()), -1, 1));
  }
  const auto got = e->run(p.entry().name, operands);
  const auto want = interpret(p, p.entry().name, operands);
  for (std::size_t o = 0; o < want.size(); ++o) {
    expect_close(got[o], want[o], 1e-5, 5e-5, p.entry().outputs[o].name);
  }
  return e;
}
TEST(RowBlock, ProgramsStoreNoScores) {
  check_gradient(2, 3, {"x0", "x1", "x2"});
  check_gradient(4, 2, {"x0", "x1", "x2"});
}

// Whether a kernel is that composite.
bool computes(const Plan& plan, const Operation& op) {
  return std::any_of(plan.kernels.begin(), plan.kernels.end(),
                     [&](const Kernel& k) { return k.body.nodes.back().op == &op; });
}

TEST(RowBlock, OnlyTheHalfThatIsAskedForIsComputed) {
  EXPECT_TRUE(computes(check_gradient(4, 2, {"x0"})->plan(), op_attention_dq));
  EXPECT_TRUE(computes(check_gradient(4, 2, {"x2"})->plan(), op_attention_dkv));
  EXPECT_TRUE(computes(check_gradient(4, 2, {"x1", "x2"})->plan(), op_attention_dkv));
  EXPECT_TRUE(computes(check_gradient(4, 2, {"x0", "x2"})->plan(), op_attention_gradient));
}

}  // namespace
}  // namespace heddle::testing
