// Attention and the halves of its gradient as kernels of the test device, against the reference's
// decomposition; and that programs store no scores.
#include "heddle/schedule/row_block.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gpu/device_runner.h"
#include "heddle/backends/compile.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

struct Sizes {
  std::int64_t heads, queries, keys, depth, width;
  AttentionAttributes attributes{};
  DType dtype = DType::f32;
};

std::string name_of(const Operation& op, const Sizes& s) {
  std::string name(op.name);
  for (std::int64_t n : {s.heads, s.queries, s.keys, s.depth, s.width}) {
    name += " " + std::to_string(n);
  }
  return name + (s.attributes.causal ? " causal " : " ") + std::string(heddle::name_of(s.dtype));
}

std::vector<Type> operand_types(const Operation& op, const Sizes& s) {
  const auto type = [&](Dims dims) { return Type{s.dtype, std::move(dims)}; };
  std::vector<Type> types{type({s.heads, s.queries, s.depth}), type({s.heads, s.keys, s.depth}),
                          type({s.heads, s.keys, s.width})};
  if (&op == &op_attention) return types;
  const Type numbers = type({s.heads, s.queries});
  types.insert(types.end(), {numbers, type({s.heads, s.queries, s.width}), numbers});
  return types;
}

// `inside`: what it is computed in.
Function one_call(const Operation& op, const Sizes& s, DType inside) {
  Builder b("f");
  Values operands;
  for (const Type& t : operand_types(op, s)) {
    const ValueId x = b.input("x" + std::to_string(operands.size()), t);
    operands.push_back(emit::convert(b, x, inside));
  }
  const Values results = b.add(op, operands, Attributes::of(s.attributes));
  for (std::size_t r = 0; r < results.size(); ++r) {
    b.output("y" + std::to_string(r), emit::convert(b, results[r], s.dtype));
  }
  return b.finish();
}
Function one_call(const Operation& op, const Sizes& s) { return one_call(op, s, s.dtype); }

std::vector<Literal> reference(const Operation& op, const Sizes& s,
                               std::span<const Literal> operands) {
  const Program p({one_call(op, s, DType::f32)});
  return interpret(p, "f", operands);
}

// Of a gradient, the logsumexp must be that of the scores: else shares overflow.
std::vector<Literal> operands_of(const Operation& op, const Sizes& s) {
  std::vector<Literal> all;
  for (const Type& t : operand_types(op, s)) {
    all.push_back(random_literal(t, 7 + static_cast<unsigned>(all.size()), -1, 1));
  }
  if (all.size() > 3) all[3] = reference(op_attention, s, std::span(all).first(3))[1];
  return all;
}

const Operation* const kOperations[] = {&op_attention, &op_attention_dq, &op_attention_dkv};

// PoCL takes its time to compile the same kernels in another language: the first sizes only.
void check_kernels(std::vector<Sizes> all) {
  if (device::target().carrier == "opencl") all.resize(1);
  std::vector<Kernel> kernels;
  for (const Sizes& s : all) {
    for (const Operation* op : kOperations) {
      kernels.push_back(
          kernel_of(one_call(*op, s), RecipeKind::row_block, {}, device::target().carrier));
    }
  }
  DeviceRunner runner(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Sizes& s = all[k / 3];
    const Operation& op = *kOperations[k % 3];
    const std::vector<Literal> operands = operands_of(op, s);
    const std::vector<Literal> want = reference(op, s, operands), got = runner.run(k, operands);
    const double own = s.dtype == DType::f32 ? 1e-5 : s.dtype == DType::f16 ? 1e-3 : 8e-3;
    for (std::size_t o = 0; o < want.size(); ++o) {
      expect_close(got[o], want[o], own, own / 5 * std::sqrt(static_cast<double>(s.keys)),
                   name_of(op, s));
    }
    EXPECT_EQ(runner.object(k).threads, 256) << name_of(op, s);
    EXPECT_LE(runner.object(k).shared_bytes, 32768) << name_of(op, s);
    EXPECT_EQ(runner.object(k).device_bytes, 0) << name_of(op, s) << ": between launches";
  }
}

TEST(DeviceRowBlock, EveryResultOnRaggedSizes) {
  check_kernels({{2, 33, 77, 20, 36},
                 {1, 1, 1, 8, 8},
                 {3, 64, 128, 64, 64},
                 {1, 70, 130, 40, 130},
                 {1, 20, 65, 300, 17},
                 {1, 64, 70, 128, 128},
                 {1, 33, 40, 256, 256}});
}

// The third scale is less than 0: the greatest product has the least share.
TEST(DeviceRowBlock, CausalResults) {
  check_kernels({{2, 130, 130, 64, 64, {true}},
                 {1, 100, 20, 16, 16, {true, 0.3}},
                 {1, 40, 150, 8, 200, {true, -0.5}},
                 {1, 20, 100, 16, 16, {true}}});
}

TEST(DeviceRowBlock, NarrowFloatsAreRoundedOnce) {
  check_kernels({{2, 33, 77, 20, 36, {true}, DType::f16}, {1, 70, 20, 8, 8, {}, DType::bf16}});
}

// Scores are far apart, and from tile to tile greater or less: shares that vanish do, others do
// not.
TEST(DeviceRowBlock, GreatScoresDoNotOverflow) {
  const Sizes s{1, 20, 200, 16, 16, {false, 20}};
  const Function f = one_call(op_attention, s);
  DeviceRunner runner({kernel_of(f, RecipeKind::row_block, {}, device::target().carrier)});
  std::vector<Literal> operands = operands_of(op_attention, s);
  operands[0] = random_literal(operands[0].type, 3, -8, 8);
  const auto want = reference(op_attention, s, operands), got = runner.run(0, operands);
  for (std::size_t o = 0; o < want.size(); ++o) {
    expect_close(got[o], want[o], 1e-4, 1e-4, "output " + std::to_string(o));
  }
}

// What a program stores does not grow with queries times keys, and nor does its gradient's.
TEST(DeviceRowBlock, ProgramsStoreNoScores) {
  device::prepare({});
  const Sizes s{2, 150, 150, 20, 20, {true}};
  const Program p = vjp(Program({one_call(op_attention, s)}), {"x0", "x1", "x2"});
  const std::unique_ptr<Executable> e = compile(p, {.target = device::target()});
  const Plan& plan = e->plan();
  for (const Buffer& b : plan.functions[0].buffers) EXPECT_LT(element_count(b.type), 150 * 150);
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
}

// Where a device's blocks have no such form, attention is what it is composed of.
TEST(DeviceRowBlock, OthersAreDecomposed) {
  const auto whole = [](const Operation& op, const Sizes& s) {
    const std::vector<Type> types = operand_types(op, s);
    const Attributes attributes = Attributes::of(s.attributes);
    return has_row_block({op, types, attributes, {}}, device::target());
  };
  EXPECT_TRUE(whole(op_attention, {1, 8, 8, 300, 256}));
  EXPECT_FALSE(whole(op_attention, {1, 8, 8, 16, 257})) << "sums are registers";
  EXPECT_FALSE(whole(op_attention_dkv, {1, 8, 8, 300, 16})) << "sums are registers";
  EXPECT_FALSE(whole(op_attention, {1, 1, 500, 16, 16})) << "one row of scores";
  EXPECT_FALSE(whole(op_attention, {1, 8, 8, 16, 16, {}, DType::f64}));
}

}  // namespace
}  // namespace heddle::testing
