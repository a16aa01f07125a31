// Flops and bytes of a node, by its record.
#include "ops/support.h"

namespace heddle::ops_test {
namespace {

using Cost = std::pair<std::int64_t, std::int64_t>;

Cost cost_of(const Operation& op, const std::vector<Type>& operands,
             const Attributes& attributes = {}, const Bindings& symbols = {}) {
  return op.strict.roofline(NodeContext{op, operands, attributes}, symbols);
}

TEST(roofline, counts_of_the_usual_operations) {
  const Type x{DType::f32, {32, 784}}, w{DType::f32, {784, 10}};
  const Attributes nn = Attributes::of(DotAttributes{{}, {}, {1}, {0}});
  EXPECT_EQ(cost_of(op_dot_general, {x, w}, nn),
            Cost(2 * 32 * 784 * 10, 4 * (32 * 784 + 784 * 10 + 32 * 10)));
  const Attributes rows = Attributes::of(AxesAttributes{{1}});
  EXPECT_EQ(cost_of(op_reduce_sum, {x}, rows), Cost(32 * 784, 4 * (32 * 784 + 32)));
  EXPECT_EQ(cost_of(op_exp, {x}), Cost(10 * 32 * 784, 8 * 32 * 784));
  EXPECT_EQ(cost_of(op_reverse, {x}, rows), Cost(0, 8 * 32 * 784));
  const Type indices{DType::i32, {5}};
  EXPECT_EQ(cost_of(op_gather, {x, indices}, Attributes::of(GatherAttributes{0, "drop"})),
            Cost(0, 2 * 4 * 5 * 784 + 4 * 5));
}

TEST(roofline, follows_symbols) {
  const Type x{DType::f32, {Dim::symbol("n"), 4}};
  const Attributes rows = Attributes::of(AxesAttributes{{1}});
  EXPECT_EQ(cost_of(op_reduce_sum, {x}, rows, {{"n", 8}}), Cost(32, 4 * (32 + 8)));
}

}  // namespace
}  // namespace heddle::ops_test
