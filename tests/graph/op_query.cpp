// The records seen as schemas.
#include "heddle/graph/op_query.h"

#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

// req C2, req C3
TEST(Schema, TraitsAreTheClosedFour) {
  EXPECT_EQ(kElementwise | kFusable | kHasSideEffect | kCommutative, 15);
  for (const Operation* op : built_in_operations()) {
    EXPECT_EQ(op->strict.traits & ~15, 0) << op->name;
    // An elementwise result has the operands' shape; commutative operands are two.
    for (const Workload& row : op->strict.workloads()) {
      if ((op->strict.traits & kElementwise) == 0) break;
      const Type result = op->strict.infer({*op, row.operands, row.attributes, nullptr})[0];
      EXPECT_EQ(result.dims, row.operands.back().dims) << op->name;
    }
    if ((op->strict.traits & kCommutative) != 0) {
      EXPECT_EQ(op->strict.roles.size(), 2u) << op->name;
    }
  }
}

// req C1, req C11: every operation infers, and has a reference or is its decomposition.
TEST(Schema, EveryOperationInfersAndHasAReference) {
  for (const Operation* op : built_in_operations()) {
    EXPECT_NE(op->strict.infer, nullptr) << op->name;
    EXPECT_TRUE(op->strict.evaluate != nullptr || op->strict.decompose != nullptr) << op->name;
    EXPECT_TRUE(find_schema(op->name).has_value()) << op->name;
  }
}

// req C5
TEST(Schema, VariadicInputs) {
  const OpSchema concatenate = *find_schema("concatenate");
  EXPECT_TRUE(concatenate.has_variadic_inputs());
  EXPECT_EQ(concatenate.min_input_count(), 1u);
  EXPECT_FALSE(find_schema("add")->has_variadic_inputs());
  EXPECT_EQ(find_schema("add")->min_input_count(), 2u);
}

// req C10
TEST(Schema, ChecksInItsOrder) {
  const OpQuery query = make_op_query();
  EXPECT_TRUE(query.op_registered("add"));
  EXPECT_FALSE(query.op_registered("no_such"));
  const Attributes axes({{"axes", std::vector<std::int64_t>{0}}});
  EXPECT_EQ(query.check_schema("reduce_sum", 1, 1, axes), std::nullopt);
  EXPECT_EQ(query.check_schema("no_such", 1, 1, {}), "operation 'no_such' is not registered");
  EXPECT_EQ(query.check_schema("add", 3, 2, {}), "add has 3 inputs, its schema 2");
  EXPECT_EQ(query.check_schema("concatenate", 0, 1, {}),
            "concatenate has 0 inputs, its schema at least 1");
  EXPECT_EQ(query.check_schema("reduce_sum", 1, 2, {}), "reduce_sum has 2 outputs, its schema 1");
  EXPECT_EQ(query.check_schema("reduce_sum", 1, 1, {}), "reduce_sum lacks attribute 'axes'");
  EXPECT_EQ(query.check_schema("reduce_sum", 1, 1, Attributes({{"axes", std::int64_t{0}}})),
            "attribute 'axes' of reduce_sum is int, its schema says ints");
  EXPECT_EQ(query.check_schema(
                "reduce_sum", 1, 1,
                Attributes({{"axes", std::vector<std::int64_t>{0}}, {"more", std::int64_t{0}}})),
            "attribute 'more' of reduce_sum is not in its schema");
}

// Every row of every operation passes its own schema.
TEST(Schema, RowsAreNodesOfTheirSchema) {
  for (const Operation* op : built_in_operations()) {
    if (op == &op_constant) continue;
    for (const Workload& row : op->strict.workloads()) {
      EXPECT_EQ(make_op_query().check_schema(op->name, row.operands.size(),
                                             find_schema(op->name)->outputs, row.attributes),
                std::nullopt)
          << op->name;
    }
  }
}

// req C7: a typed view gives nothing for an absent attribute or one of another kind.
TEST(Schema, AttributesAreTyped) {
  const Attributes a({{"axis", std::int64_t{1}}});
  ASSERT_NE(a.find("axis"), nullptr);
  EXPECT_EQ(std::get_if<double>(a.find("axis")), nullptr);
  EXPECT_EQ(a.find("axes"), nullptr);
}

// req C8: pure, and inputs and outputs by position.
TEST(Schema, DecompositionsAreFunctionsOfTypes) {
  for (const Operation* op : built_in_operations()) {
    if (op->strict.decompose == nullptr) continue;
    for (const Workload& row : op->strict.workloads()) {
      const Function once = op->strict.decompose({*op, row.operands, row.attributes, nullptr});
      const Function again = op->strict.decompose({*op, row.operands, row.attributes, nullptr});
      EXPECT_EQ(to_text(once), to_text(again)) << op->name;
      EXPECT_EQ(once.inputs.size(), row.operands.size()) << op->name;
    }
  }
}

TEST(BackwardGraph, OfAnyOutput) {
  const Program p = parse(
      "func @f(x: f32[2], u: f32[2]) -> (a: f32[2], loss: f32[]) {\n %0 = mul(x, x) : f32[2]\n"
      " %1 = reduce_sum(%0) {axes = [0]} : f32[]\n return %0, %1\n}",
      "t.heddle");
  const std::vector<std::string> wrt{"x", "u"};
  const Program g = build_backward_graph(p, 1, wrt);
  const std::vector<float> x{3, -4}, u{1, 1};
  const std::vector<Literal> arguments{make_literal<float>({2}, std::span<const float>(x)),
                                       make_literal<float>({2}, std::span<const float>(u))};
  const std::vector<Literal> r = interpret(g, g.entry().name, arguments);
  ASSERT_EQ(r.size(), 4u);
  EXPECT_EQ(to_doubles(r[1]), (std::vector<double>{25}));
  EXPECT_EQ(to_doubles(r[2]), (std::vector<double>{6, -8}));
  EXPECT_EQ(to_doubles(r[3]), (std::vector<double>{0, 0})) << "not connected";
  EXPECT_THROW(build_backward_graph(p, 0, wrt), ValueError);
  EXPECT_THROW(build_backward_graph(p, 2, wrt), ValueError);
}

}  // namespace
}  // namespace heddle
