// The dtype plans of 000's table of promotion, line by line: what a call of each line is computed
// in, and what comes out. Where Heddle's rule is another one on purpose, graph/ops/surface.h says
// why; those lines stand here too, as they are here.
#include <gtest/gtest.h>

#include <sstream>

#include "heddle/graph/call.h"
#include "heddle/graph/operation.h"

namespace heddle::ops_test {
namespace {

struct Line {
  const Operation* op;
  const char* operands;  ///< f32 i32 bool .. are tensors; others numbers; "true" is a weak bool
  const char* plan;      ///< compute, output, arithmetic, accumulation; or the error
  Attributes options{};
};

Operand operand(const std::string& word) {
  for (const DType d : kAllDTypes) {
    if (word == name_of(d)) return Tensor(Type{d, {2}}, nullptr);
  }
  if (word == "true") return true;
  if (word.find('.') != std::string::npos) return std::stod(word);
  return static_cast<std::int64_t>(std::stoll(word));
}

std::string plan_text(const DtypePlan& p) {
  constexpr const char* kArithmetic[] = {"ieee", "wrapping", "checked"};
  constexpr const char* kAccumulation[] = {"", " floating", " sequential", " exact", " extremum"};
  return std::string(name_of(p.compute)) + " " + std::string(name_of(p.output)) + " " +
         kArithmetic[static_cast<int>(p.arithmetic)] +
         kAccumulation[static_cast<int>(p.accumulation)] +
         (p.accumulator ? " in " + std::string(name_of(*p.accumulator)) : "");
}

std::string found(const Line& line) {
  std::vector<Operand> operands;
  std::istringstream words(line.operands);
  for (std::string word; words >> word;) operands.push_back(operand(word));
  try {
    const DtypePlan p = plan(bind_types(*line.op, operands, line.options, {}));
    EXPECT_EQ(p.operation, line.op->name);
    EXPECT_EQ(p.operands.size(), operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Tensor* t = std::get_if<Tensor>(&operands[i]);
      EXPECT_EQ(p.operands[i].role, t ? OperandKind::tensor : OperandKind::weak_scalar);
      EXPECT_EQ(p.operands[i].dtype, t ? std::optional(t->type().dtype) : std::nullopt);
    }
    return plan_text(p);
  } catch (const Error& e) {
    const bool type = dynamic_cast<const TypeError*>(&e) != nullptr,
               overflow = dynamic_cast<const OverflowError*>(&e) != nullptr;
    return std::string(type       ? "TypeError "
                       : overflow ? "OverflowError "
                                  : "? ") +
           std::to_string(e.detail().step) + " " + e.detail().field + " " + e.detail().found;
  }
}

void expect_lines(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    EXPECT_EQ(found(line), line.plan) << line.op->name << " of " << line.operands;
  }
}

constexpr const char* kFloat = "f32 f32 ieee";
constexpr const char* kWhole = "i32 i32 wrapping";
constexpr const char* kRefused = "TypeError 14 operands[0].dtype i32";

// 2A.3, line 1 and 2; 2A.2. (The checked ones: tests/eager/six_operations_test.cpp.)
TEST(PromotionTable, SumsAndProducts) {
  for (const Operation* op : {&op_add, &op_sub, &op_mul}) {
    expect_lines({{op, "i32 i32", kWhole},
                  {op, "i32 f32", kFloat},
                  {op, "f32 i32", kFloat},
                  {op, "f32 f32", kFloat},
                  {op, "i32 3", kWhole},
                  {op, "-1 i32", kWhole},
                  {op, "i32 0.5", kFloat},
                  {op, "0.5 i32", kFloat},
                  {op, "i32 true", kFloat},
                  {op, "true i32", kFloat},
                  {op, "f32 3", kFloat},
                  {op, "f32 2147483648", kFloat},
                  {op, "i32 2147483647", kWhole},
                  {op, "i32 2147483648", "OverflowError 14 operands[1] 2147483648"},
                  {op, "-2147483649 i32", "OverflowError 14 operands[0] -2147483649"},
                  {op, "bool bool", "TypeError 14 operands[0].dtype bool"}});
  }
  for (const Operation* op : {&op_checked_add, &op_checked_elementwise_mul, &op_checked_mul}) {
    expect_lines(
        {{op, "i32 i32", "i32 i32 checked"}, {op, "i32 f32", kFloat}, {op, "f32 f32", kFloat}});
  }
  expect_lines({{&op_checked_mul, "i32 3", "i32 i32 checked"},
                {&op_checked_mul, "3 i32", "i32 i32 checked"},
                {&op_checked_mul, "i32 true", kFloat},
                {&op_checked_mul, "0.5 i32", kFloat},
                {&op_checked_mul, "i32 -2147483649", "OverflowError 14 operands[1] -2147483649"}});
}

// 2A.3: div, pow.
TEST(PromotionTable, DivisionAndPowers) {
  expect_lines({{&op_div, "i32 i32", kFloat},
                {&op_div, "i32 3", kFloat},
                {&op_div, "f32 i32", kFloat},
                {&op_pow, "f32 f32", kFloat},
                {&op_pow, "i32 i32", kFloat},
                {&op_pow, "i32 3", kWhole},
                {&op_pow, "i32 0", kWhole},
                {&op_pow, "i32 2147483647", kWhole},
                {&op_pow, "i32 2147483648", kFloat},
                {&op_pow, "i32 -1", kFloat},
                {&op_pow, "i32 0.5", kFloat},
                {&op_pow, "i32 true", kFloat},
                {&op_pow, "3 i32", kFloat},
                {&op_pow, "2 f32", kFloat}});
}

// 2A.3: relu keeps, the other activations are floats.
TEST(PromotionTable, Activations) {
  expect_lines({{&op_relu, "f32", kFloat}, {&op_relu, "i32", kWhole}});
  for (const Operation* op : {&op_exp, &op_gelu, &op_logistic, &op_silu, &op_tanh}) {
    expect_lines({{op, "f32", kFloat}, {op, "i32", kFloat}});
  }
}

// 2A.3: floats only. Where Heddle has the integer operation too, it keeps integers.
TEST(PromotionTable, FloatsOnly) {
  for (const Operation* op : {&op_rsqrt, &op_sqrt, &op_floor, &op_ceil, &op_round_even, &op_exp2,
                              &op_log, &op_log2, &op_sin, &op_cos, &op_erf}) {
    expect_lines({{op, "f32", kFloat}});
  }
  for (const Operation* op :
       {&op_sqrt, &op_rsqrt, &op_floor, &op_ceil, &op_round_even, &op_log, &op_log2, &op_erf}) {
    expect_lines({{op, "i32", kRefused}});
  }
  for (const Operation* op : {&op_exp2, &op_sin, &op_cos}) expect_lines({{op, "i32", kFloat}});
  for (const Operation* op : {&op_neg, &op_abs, &op_sign}) {
    expect_lines({{op, "f32", kFloat}, {op, "i32", kWhole}});
  }
  for (const Operation* op : {&op_max, &op_min, &op_rem}) {
    expect_lines({{op, "f32 f32", kFloat}, {op, "i32 i32", kWhole}, {op, "f32 i32", kFloat}});
  }
}

// 2A.3: bool comes out.
TEST(PromotionTable, Comparisons) {
  for (const char* direction : {"eq", "ne", "lt", "le"}) {
    const Attributes to({{"direction", std::string(direction)}});
    expect_lines({{&op_compare, "f32 f32", "f32 bool ieee", to},
                  {&op_compare, "i32 i32", "i32 bool wrapping", to},
                  {&op_compare, "i32 0.5", "f32 bool ieee", to}});
  }
  expect_lines({{&op_not_, "bool", "bool bool wrapping"},
                {&op_not_, "f32", "TypeError 14 operands[0].dtype f32"}});
}

// 2A.3: reductions and products.
TEST(PromotionTable, Accumulations) {
  constexpr const char* kSum = "f32 f32 ieee floating in f32";
  const Attributes axes({{"axes", std::vector<std::int64_t>{0}}});
  expect_lines({{&op_reduce_sum, "f32", kSum, axes},
                {&op_reduce_sum, "i32", "i32 i32 wrapping exact", axes},
                {&op_checked_reduce_sum, "f32", kSum, axes},
                {&op_checked_reduce_sum, "i32", "i32 i32 checked exact", axes},
                {&op_matmul, "f32 f32", kSum},
                {&op_matmul, "i32 f32", kSum},
                {&op_matmul, "i32 i32", "i32 i32 wrapping exact"},
                {&op_checked_matmul, "i32 f32", kSum},
                {&op_checked_matmul, "i32 i32", "i32 i32 checked exact"},
                {&op_reduce_prod, "f32", kSum, axes},
                {&op_cumsum, "f32", kSum},
                {&op_reduce_max, "f32", "f32 f32 ieee extremum", axes},
                {&op_reduce_min, "i32", "i32 i32 wrapping extremum", axes}});
  const Attributes axis({{"axis", std::int64_t{0}}});
  for (const Operation* op : {&op_argmax, &op_argmin}) {
    expect_lines({{op, "f32", "f32 i32 ieee extremum", axis}});
  }
}

// 2A.3: indexing and choosing.
TEST(PromotionTable, IndexingAndChoosing) {
  expect_lines({{&op_gather, "f32 i32", kFloat},
                {&op_gather, "f32 f32", "TypeError 14 operands[1].dtype f32"},
                {&op_scatter, "f32 i32 f32", kFloat},
                {&op_select, "bool f32 f32", kFloat},
                {&op_select, "f32 f32 f32", "TypeError 14 operands[0].dtype f32"},
                {&op_clamp, "f32 f32 f32", kFloat},
                {&op_clamp, "f32 0.5 1", kFloat},
                {&op_clamp, "f32 f32 1", kFloat}});
}

}  // namespace
}  // namespace heddle::ops_test
