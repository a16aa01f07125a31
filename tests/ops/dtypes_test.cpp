// All thirteen dtypes: an operation either takes one (and its reference agrees with inference) or
// refuses it with a TypeError that names the operand; never anything else.
#include "ops/support.h"

namespace heddle::ops_test {
namespace {

/// The row's operands with the main dtype exchanged; index and predicate operands stay.
std::vector<Type> with_dtype(const Workload& row, DType dtype) {
  std::vector<Type> types = row.operands;
  const DType main = row.operands[0].dtype == DType::boolean && row.operands.size() == 3
                         ? row.operands[1].dtype  // select
                         : row.operands[0].dtype;
  for (Type& t : types) {
    if (t.dtype == main) t.dtype = dtype;
  }
  return types;
}

TEST(dtypes, each_is_taken_or_refused_by_name) {
  std::mt19937_64 random(3);
  for (const Operation* op : built_in_operations()) {
    if (op->strict.roles.empty()) continue;
    const Workload row = op->strict.workloads().at(0);
    int taken = 0;
    for (DType dtype : kAllDTypes) {
      SCOPED_TRACE(std::string(op->name) + " of " + std::string(name_of(dtype)));
      const std::vector<Type> types = with_dtype(row, dtype);
      try {
        const Program p = program_of(*op, types, row.attributes);
        run(p, random_operands(row, types, random));
        ++taken;
      } catch (const TypeError& e) {
        EXPECT_EQ(e.detail().operation, op->name);
        EXPECT_EQ(e.detail().field.substr(0, 9), "operands[") << e.what();
        EXPECT_EQ(e.detail().found, name_of(dtype)) << e.what();
      }
    }
    EXPECT_GT(taken, 0) << op->name;
  }
}

TEST(dtypes, the_record_says_which_ones_in_its_rows) {
  // A dtype that some row has must be taken; the 16-bit floats are there wherever f32 is.
  for (const Operation* op : built_in_operations()) {
    bool f32 = false, f16 = false, bf16 = false, f64 = false;
    for (const Workload& row : op->strict.workloads()) {
      for (const Type& t : row.operands) {
        f32 |= t.dtype == DType::f32, f16 |= t.dtype == DType::f16;
        bf16 |= t.dtype == DType::bf16, f64 |= t.dtype == DType::f64;
      }
    }
    EXPECT_EQ(f32, f16) << op->name;
    EXPECT_EQ(f32, bf16) << op->name;
    EXPECT_EQ(f32, f64) << op->name;
  }
}

TEST(dtypes, sixteen_bit_floats_round_every_operation) {
  // 1 + 2^-11 lies half way between two f16 numbers: the even one, 1.
  const Literal one = vector_of(DType::f16, {1}), half_step = vector_of(DType::f16, {0x1p-11});
  expect_same(apply(op_add, {one, half_step}), {1});
  expect_same(apply(op_mul, {vector_of(DType::bf16, {3}), vector_of(DType::bf16, {0x1.02p0})}),
              {0x1.84p1});
  expect_same(apply(op_div, {vector_of(DType::f16, {1}), vector_of(DType::f16, {3})}),
              {0x1.554p-2});
  expect_same(apply(op_exp, {vector_of(DType::f16, {12})}), {kInf});
}

TEST(dtypes, large_integers_are_exact) {
  const auto i64 = [](std::int64_t v) { return make_literal<std::int64_t>({1}, {v}); };
  const std::int64_t big = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(view<std::int64_t>(apply(op_sub, {i64(big), i64(1)}))[0], big - 1);
  EXPECT_EQ(view<std::int64_t>(apply(op_max, {i64(big), i64(big - 1)}))[0], big);
  EXPECT_EQ(view<std::int64_t>(apply(op_rem, {i64(big), i64(2)}))[0], 1);
  const Literal pair = make_literal<std::int64_t>({2}, {big, 1});
  EXPECT_EQ(
      view<std::int64_t>(apply(op_reduce_sum, {pair}, Attributes::of(AxesAttributes{{0}})))[0],
      big + 1);
  EXPECT_EQ(view<bool>(apply(op_compare, {i64(big), i64(big - 1)},
                             Attributes::of(CompareAttributes{"gt"})))[0],
            true);
  const auto u64 = [](std::uint64_t v) { return make_literal<std::uint64_t>({1}, {v}); };
  EXPECT_EQ(view<std::uint64_t>(apply(op_div, {u64(18446744073709551615u), u64(2)}))[0],
            9223372036854775807u);
}

}  // namespace
}  // namespace heddle::ops_test
