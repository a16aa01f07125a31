// Plans compute what their programs say, with the memory they claim: run by interpreting kernels on
// simulated memory.
#include "heddle/graph/builder.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/lower_empty.h"
#include "heddle/schedule/make_plan.h"
#include "support/run_plan.h"

namespace heddle {
namespace {

Plan plan_of(const Program& program) {
  Plan plan = make_plan(
      dead_node_elimination(canonicalize(lower_empty(expand_composites(program)))), Target::host());
  verify(plan);
  return plan;
}

std::vector<Literal> ramp_inputs(const Function& f) {
  std::vector<Literal> inputs;
  for (const Input& in : f.inputs) {
    const Type& type = f.type(in.value);
    std::vector<double> values;
    for (std::int64_t i = 0; i < element_count(type); ++i) {
      values.push_back(is_floating(type.dtype) ? 0.37 * static_cast<double>(i % 7) - 1
                                               : static_cast<double>(i % 3));
    }
    inputs.push_back(
        convert(make_literal<double>(type.dims, std::span<const double>(values)), type.dtype));
  }
  return inputs;
}

// The plan's results are the program's, to the bit: the same evaluators in another order of calls.
void expect_same(const std::string& text, std::size_t steps) {
  const Program program = parse(text, "plan.heddle");
  const Plan plan = plan_of(program);
  EXPECT_EQ(plan.functions[0].steps.size(), steps) << to_text(plan);
  const std::vector<Literal> inputs = ramp_inputs(program.entry());
  const std::vector<Literal> found = testing::run_plan(plan, inputs),
                             expected = interpret(program, program.entry().name, inputs);
  for (std::size_t o = 0; o < expected.size(); ++o) {
    EXPECT_EQ(to_doubles(found[o]), to_doubles(expected[o]))
        << program.entry().outputs[o].name << "\n"
        << to_text(plan);
  }
}

TEST(Plan, output_that_is_an_input_twice_and_unused) {  // F15
  expect_same(
      "func @f(x: f32[3], y: f32[3]) -> (a: f32[3], b: f32[3], c: f32[3], d: f32[3]) {\n"
      "  %0 = exp(x) : f32[3]\n  %1 = neg(%0) : f32[3]\n  return x, %0, %0, y\n}\n",
      4);
}

TEST(Plan, concatenated_operand_used_again) {  // F15
  expect_same(
      "func @f(x: f32[2,3], y: f32[2,3]) -> (a: f32[4,3], b: f32[2,3]) {\n"
      "  %0 = exp(x) : f32[2,3]\n  %1 = concatenate(%0, y) {axis = 0} : f32[4,3]\n"
      "  %2 = mul(%0, y) : f32[2,3]\n  return %1, %2\n}\n",
      2);
}

TEST(Plan, donated_input_is_updated_in_place) {
  const std::string text =
      "func @step(w: f32[4,3] donate, g: f32[4,3]) -> (w: f32[4,3]) {\n  %0 = sub(w, g) : "
      "f32[4,3]\n  return %0\n}\n";
  expect_same(text, 1);
  const Plan plan = plan_of(parse(text, "plan.heddle"));
  EXPECT_EQ(plan.functions[0].outputs[0].shares, 0);
  EXPECT_EQ(plan.kernels[0].out[0].shares, 0);
  EXPECT_EQ(plan.functions[0].arena_bytes, Dim(0));
}

TEST(Plan, donated_input_read_elsewhere_is_read_first) {
  expect_same(
      "func @step(w: f32[3,3] donate, x: f32[3,3]) -> (w: f32[3,3], y: f32[3,3]) {\n"
      "  %0 = sub(w, x) : f32[3,3]\n"
      "  %1 = dot_general(x, w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract "
      "= [0]} : f32[3,3]\n"
      "  return %0, %1\n}\n",
      2);
}

TEST(Plan, donated_input_that_is_needed_later_is_copied_over) {
  // y needs the new w and the old one: the kernel cannot overwrite it.
  expect_same(
      "func @step(w: f32[3,3] donate, x: f32[3,3]) -> (w: f32[3,3], y: f32[3,3]) {\n"
      "  %0 = dot_general(x, w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract "
      "= [0]} : f32[3,3]\n"
      "  %1 = dot_general(%0, w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract "
      "= [0]} : f32[3,3]\n"
      "  return %0, %1\n}\n",
      3);
}

TEST(Plan, donated_inputs_that_change_places) {  // F15's kind: each output is the other's input
  expect_same(
      "func @swap(a: f32[5] donate, b: f32[5] donate) -> (a: f32[5], b: f32[5]) {\n  return b, "
      "a\n}\n",
      4);
}

TEST(Plan, transposed_read_of_a_donated_input_is_not_in_place) {
  expect_same(
      "func @f(w: f32[3,3] donate) -> (w: f32[3,3]) {\n  %0 = transpose(w) {permutation = [1, 0]} "
      ": f32[3,3]\n"
      "  %1 = add(w, %0) : f32[3,3]\n  return %1\n}\n",
      2);
}

TEST(Plan, softmax_is_one_kernel) {
  expect_same(
      "func @f(x: f32[5,7]) -> (y: f32[5,7]) {\n  %0 = softmax(x) {axis = 1} : f32[5,7]\n  return "
      "%0\n}\n",
      1);
}

TEST(Plan, layer_norm_is_one_kernel) {
  expect_same(
      "func @f(x: f32[5,7], s: f32[7], b: f32[7]) -> (y: f32[5,7]) {\n"
      "  %0 = layer_norm(x, s, b) {epsilon = 0x1p-10} : f32[5,7]\n  return %0\n}\n",
      1);
}

TEST(Plan, linear_relu_is_one_kernel) {
  expect_same(
      "func @f(x: f32[5,7], w: f32[7,3], b: f32[3]) -> (y: f32[5,3]) {\n  %0 = matmul(x, w) : "
      "f32[5,3]\n"
      "  %1 = broadcast_in_dim(b) {axes = [1], dims = dims[5,3]} : f32[5,3]\n  %2 = add(%0, %1) : "
      "f32[5,3]\n"
      "  %3 = relu(%2) : f32[5,3]\n  return %3\n}\n",
      1);
}

TEST(Plan, reshapes_are_free) {
  expect_same(
      "func @f(x: f32[4,6]) -> (y: f32[8,3]) {\n  %0 = exp(x) : f32[4,6]\n  %1 = reshape(%0) {dims "
      "= dims[8,3]} : f32[8,3]\n"
      "  return %1\n}\n",
      1);
}

TEST(Plan, reductions_over_nothing_are_their_identities) {  // F10
  expect_same(
      "func @f(x: f32[3,0,4]) -> (a: f32[3,4], b: f32[3,4], c: f32[3,4], d: f32[]) {\n"
      "  %0 = reduce_sum(x) {axes = [1]} : f32[3,4]\n  %1 = reduce_prod(x) {axes = [1]} : "
      "f32[3,4]\n"
      "  %2 = reduce_max(x) {axes = [1]} : f32[3,4]\n  %3 = reduce_sum(x) {axes = [0, 1, 2]} : "
      "f32[]\n"
      "  return %0, %1, %2, %3\n}\n",
      2);
}

// Shifted sums are computed where they are read only up to a limit: a prefix in log2(n) steps would
// read its operand n times for each element.
TEST(Plan, chains_of_shifted_sums_are_cut) {
  Builder b("f");
  ValueId x = b.input("x", {DType::f32, {1024}});
  for (std::int64_t d = 1; d < 1024; d *= 2) {
    const ValueId zero = emit::scalar(b, DType::f32, 0);
    x = emit::add(b, x, emit::pad(b, x, zero, {d}, {-d}, {0}));
  }
  b.output("y", x);
  const Program p({b.finish()});
  const Plan plan = plan_of(p);
  EXPECT_GE(plan.functions[0].steps.size(), 2u);
  EXPECT_LE(plan.functions[0].steps.size(), 4u);
}

TEST(Plan, middle_axes_reduce) {
  expect_same(
      "func @f(x: f32[3,9,4]) -> (a: f32[3,4], b: f32[9], c: i32[3,4]) {\n"
      "  %0 = reduce_sum(x) {axes = [1]} : f32[3,4]\n  %1 = reduce_max(x) {axes = [0, 2]} : "
      "f32[9]\n"
      "  %2 = argmax(x) {axis = 1} : i32[3,4]\n  return %0, %1, %2\n}\n",
      3);
}

}  // namespace
}  // namespace heddle
