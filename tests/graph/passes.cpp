// Passes keep the results bit for bit, and do what they are for.
#include "heddle/graph/passes/passes.h"

#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "heddle/graph/verify.h"

namespace heddle {
namespace {

Program read(const std::string& body, const std::string& signature) {
  return parse("func @f" + signature + " {\n" + body + "\n}", "passes.heddle");
}

std::string body_of(const Program& p) {
  const std::string text = to_text(p);
  return text.substr(text.find('\n') + 1);
}

TEST(Fold, keeps_whole_numbers_exact) {  // F5
  const Program p = read(
      "%0 = constant 9007199254740993 : i64[]\n %1 = constant 1 : i64[]\n %2 = div(%0, %1) : "
      "i64[]\n return %2",
      "() -> (y: i64[])");
  const Program folded = dead_node_elimination(constant_folding(p));
  EXPECT_EQ(body_of(folded), "  %0 = constant 9007199254740993 : i64[]\n  return %0\n}\n");
}

TEST(Fold, computes_as_programs_run) {
  const Program p = read(
      "%0 = constant [-128, 7, -7] : i8[3]\n %1 = constant [-1, 0, 100] : i8[3]\n"
      " %2 = div(%0, %1) : i8[3]\n %3 = rem(%0, %1) : i8[3]\n %4 = shl(%0, %1) : i8[3]\n"
      " %5 = shr(%0, %1) : i8[3]\n %6 = mul(%0, %1) : i8[3]\n return %2, %3, %4, %5, %6",
      "() -> (a: i8[3], b: i8[3], c: i8[3], d: i8[3], e: i8[3])");
  const Program folded = dead_node_elimination(constant_folding(p));
  EXPECT_EQ(body_of(folded),
            "  %0 = constant [-128, 0, 0] : i8[3]\n  %1 = constant [0, 7, -7] : i8[3]\n"
            "  %2 = constant [0, 7, 0] : i8[3]\n  %3 = constant [-1, 7, -1] : i8[3]\n"
            "  %4 = constant [-128, 0, 68] : i8[3]\n  return %0, %1, %2, %3, %4\n}\n");
}

// A program is compiled at once, whatever its constants would become.
TEST(Fold, leaves_what_the_reference_cannot_compute) {
  const Program p = read(
      "%0 = constant [1, 2] : f32[2]\n %1 = constant 0 : f32[]\n"
      " %2 = pad(%0, %1) {low = [1099511627776], high = [0], interior = [0]} : "
      "f32[1099511627778]\n"
      " %3 = reduce_window_sum(%0) {window = [1099511627776], strides = [1], low = [0], high = "
      "[1099511627774], base_dilation = [1], window_dilation = [1]} : f32[1]\n"
      " return %2, %3",
      "() -> (a: f32[1099511627778], b: f32[1])");
  EXPECT_EQ(to_text(constant_folding(p)), to_text(p));
}

TEST(Canonicalize, never_touches_arithmetic) {  // F16, F18
  const std::string body =
      "  %0 = constant 0x0p+0 : f32[]\n  %1 = mul(x, %0) : f32[]\n  %2 = add(x, %0) : f32[]\n  %3 "
      "= sub(x, x) : f32[]\n"
      "  return %1, %2, %3\n}\n";
  const Program p =
      parse("func @f(x: f32[]) -> (a: f32[], b: f32[], c: f32[]) {\n" + body, "passes.heddle");
  EXPECT_EQ(body_of(canonicalize(constant_folding(p))), body);
}

TEST(Canonicalize, drops_movement_that_moves_nothing) {
  const Program p = read(
      "%0 = transpose(x) {permutation = [1, 0]} : f32[3,2]\n %1 = transpose(%0) {permutation = [1, "
      "0]} : f32[2,3]\n"
      "%2 = reshape(%1) {dims = dims[6]} : f32[6]\n %3 = reshape(%2) {dims = dims[2,3]} : "
      "f32[2,3]\n"
      "%4 = neg(%3) : f32[2,3]\n %5 = neg(%4) : f32[2,3]\n %6 = exp(%5) : f32[2,3]\n return %6",
      "(x: f32[2,3]) -> (y: f32[2,3])");
  EXPECT_EQ(body_of(dead_node_elimination(canonicalize(p))),
            "  %0 = exp(x) : f32[2,3]\n  return %0\n}\n");
}

TEST(CommonSubexpressions, sees_through_the_order_of_commutative_operands) {
  const Program p = read(
      "%0 = add(x, y) : f32[]\n %1 = add(y, x) : f32[]\n %2 = sub(x, y) : f32[]\n %3 = sub(y, x) : "
      "f32[]\n"
      "%4 = mul(%0, %1) : f32[]\n %5 = mul(%2, %3) : f32[]\n return %4, %5",
      "(x: f32[], y: f32[]) -> (a: f32[], b: f32[])");
  EXPECT_EQ(common_subexpression_elimination(p).entry().nodes.size(), 5u);
}

TEST(Passes, keep_an_input_that_nothing_reads) {  // F15
  const Program p =
      read("%0 = exp(x) : f32[]\n return y, y", "(x: f32[], y: f32[]) -> (a: f32[], b: f32[])");
  EXPECT_EQ(to_text(dead_node_elimination(p)),
            "func @f(x: f32[], y: f32[]) -> (a: f32[], b: f32[]) {\n  return y, y\n}\n");
}

TEST(Passes, composites_expand_to_the_same_values) {
  const Program p =
      read("%0 = softmax(x) {axis = 1} : f32[2,3]\n %1 = relu(%0) : f32[2,3]\n return %1",
           "(x: f32[2,3]) -> (y: f32[2,3])");
  const Program q = expand_composites(p);
  verify(q);
  for (const Node& n : q.entry().nodes) EXPECT_EQ(n.op->strict.decompose, nullptr) << n.op->name;
  const std::vector<Literal> x{make_literal<float>({2, 3}, {1, 2, 3, -1, 0, 50})};
  EXPECT_EQ(interpret(p, "f", x)[0], interpret(q, "f", x)[0]);
}

}  // namespace
}  // namespace heddle
