// The text form: what is printed reads back, byte for byte, and broken text gives one error with
// its place.
#include "heddle/graph/text.h"

#include <cmath>

#include "heddle/graph/builder.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

constexpr char kLayer[] =
    R"(func @layer(x: f32[2,3], w: f32[3,4] donate, b: f32[4]) -> (y: f32[2,4], w: f32[3,4]) {
  %0 = dot_general(x, w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]} : f32[2,4]
  %1 = broadcast_in_dim(b) {axes = [1], dims = dims[2,4]} : f32[2,4]
  %2 = add(%0, %1) : f32[2,4]
  %3 = constant 0x1p-1 : f32[]
  %4 = broadcast_in_dim(%3) {axes = [], dims = dims[3,4]} : f32[3,4]
  %5 = mul(w, %4) : f32[3,4]
  return %2, %5
}
)";

std::string round_trip(std::string_view text) { return to_text(parse(text, "test.heddle")); }

// Without the caller's place, which parse adds.
std::string parse_error(std::string_view text) {
  try {
    parse(text, "test.heddle", {});
  } catch (const ParseError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ProgramText, prints_what_it_read) { EXPECT_EQ(round_trip(kLayer), kLayer); }

TEST(ProgramText, keeps_every_kind_of_constant) {
  Builder b("constants");
  const float values[] = {-0.0f, INFINITY, 1e-45f, NAN};
  b.output("special", b.constant(make_literal<float>({4}, std::span(values))));
  b.output("same", b.constant(splat({DType::i64, {3, 2}}, 7)));
  b.output("bits", b.constant(make_literal<bool>({3}, {true, false, true})));
  b.output("exact", b.constant(make_literal<std::int64_t>({2}, {9007199254740993, -1})));
  std::vector<float> many(40);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i) / 3;
  b.output("many", b.constant(make_literal<float>({40}, std::span<const float>(many))));
  b.output("half", b.constant(make_literal<Half>({2}, {Half(1.5f), Half(65504.0f)})));
  b.output("none", b.constant(make_literal<float>({0}, std::initializer_list<float>{})));
  const Program p({b.finish()});
  const Program q = parse(to_text(p), "test.heddle");
  ASSERT_EQ(to_text(q), to_text(p));
  for (std::size_t n = 0; n < p.entry().nodes.size(); ++n) {
    EXPECT_EQ(*p.entry().nodes[n].literal, *q.entry().nodes[n].literal) << n;
  }
  EXPECT_EQ(p.hash(), q.hash());
}

TEST(ProgramText, affine_extents_round_trip) {
  const std::string text =
      "func @f(x: f32[n,2*n+1,m-3]) -> (y: f32[n,2*n+1,m-3]) {\n  return x\n}\n";
  EXPECT_EQ(round_trip(text), text);
}

TEST(ProgramText, hash_differs_when_a_constant_does) {
  auto with = [](double value) {
    Builder b("f");
    b.output("y", b.constant(splat({DType::f32, {100}}, value)));
    return Program({b.finish()}).hash();
  };
  EXPECT_EQ(with(1), with(1));
  EXPECT_NE(with(1), with(2));
}

TEST(ProgramText, cut_anywhere_is_an_error_or_whole) {
  const std::string whole = kLayer;
  for (std::size_t n = 0; n + 2 < whole.size(); ++n) {
    EXPECT_THROW(parse(whole.substr(0, n), "cut.heddle"), ParseError) << n;
  }
}

TEST(ProgramText, errors_say_where) {
  EXPECT_EQ(parse_error("func @f(x: f33[2]) -> (y: f32[2]) {\n return x\n}"),
            "test.heddle:1:12: unknown element type 'f33'");
  EXPECT_EQ(
      parse_error("func @f(x: f32[2]) -> (y: f32[2]) {\n  %0 = flip(x) : f32[2]\n  return %0\n}"),
      "test.heddle:2:8: unknown operation flip@1");
  EXPECT_EQ(
      parse_error("func @f(x: f32[2]) -> (y: f32[2]) {\n  %0 = neg(z) : f32[2]\n  return %0\n}"),
      "test.heddle:2:12: no value 'z' before this line");
  EXPECT_EQ(
      parse_error("func @f(x: f32[2]) -> (y: f32[2]) {\n  %0 = neg(x) : f32[3]\n  return %0\n}"),
      "test.heddle:2:17: the result is f32[2], not f32[3]");
  EXPECT_EQ(
      parse_error("func @f(x: f32[-1]) -> (y: f32[2]) {\n  return x\n}"),
      "test.heddle:1:12: @f: input 'x': a negative extent: found f32[-1], needed extents of 0 "
      "and more");
  EXPECT_EQ(parse_error("func @f(x: f32[2]) -> (y: f32[4294967296,4294967296]) {\n  return x\n}"),
            "test.heddle:1:27: @f: output 'y': a type larger than memory: found "
            "f32[4294967296,4294967296], needed at most 2^62 bytes");
  EXPECT_EQ(
      parse_error("func @f(x: f32[2]) -> (y: f32[2]) {\n  %0 = neg(x) : f32[2,-3]\n  return %0\n}"),
      "test.heddle:2:17: @f: value '%0': a negative extent: found f32[2,-3], needed extents of 0 "
      "and more");
  EXPECT_EQ(parse_error("func @f() -> (y: f32[2]) {\n  %0 = constant(0) : f32[-2]\n  return %0\n}"),
            "test.heddle:2:22: @f: a constant: a negative extent: found f32[-2], needed extents "
            "of 0 and more");
  EXPECT_EQ(parse_error(""), "test.heddle:1:1: expected 'func', found the end of the text");
}

// One node on x, which stands in line 2.
std::string node_error(const std::string& node) {
  return parse_error("func @f(x: f32[2]) -> (y: f32[2]) {\n  %0 = " + node +
                     " : f32[2]\n  return %0\n}");
}

TEST(ProgramText, attributes_are_those_of_the_operation) {
  EXPECT_EQ(
      node_error("add(x, x) {foo = 1}"),
      "test.heddle:2:8: [add] unknown attribute; attributes.foo: found 1, needed no attributes");
  EXPECT_EQ(
      node_error("reverse(x) {axis = [0]}"),
      "test.heddle:2:8: [reverse] unknown attribute; attributes.axis: found [0], needed one of "
      "axes");
  EXPECT_EQ(
      node_error("cumsum(x) {axis = 0, revrse = true, exclusive = false}"),
      "test.heddle:2:8: [cumsum] unknown attribute; attributes.revrse: found true, needed one "
      "of axis, exclusive, reverse");
  EXPECT_EQ(node_error("cumsum(x) {axis = 1.5, reverse = true, exclusive = false}"),
            "test.heddle:2:8: [cumsum] attribute of the wrong kind; attributes.axis: found float "
            "1.5, needed int");
  EXPECT_EQ(
      node_error("reverse(x)"),
      "test.heddle:2:8: [reverse] missing attribute; attributes.axes: found none, needed ints");
}

TEST(ProgramText, the_place_stands_once) {
  const std::string text =
      node_error("mul(x, x) {axes = [0]}") + node_error("reverse(x) {axes = [1]}");
  EXPECT_EQ(text.find("test.heddle:2: "), std::string::npos) << text;
}

TEST(ProgramText, numbers_must_fit) {
  const auto constant = [](const std::string& value, const std::string& dtype) {
    return parse_error("func @f() -> (y: " + dtype + "[]) {\n  %0 = constant " + value + " : " +
                       dtype + "[]\n  return %0\n}");
  };
  EXPECT_EQ(constant("1e50", "f32"),
            "test.heddle:2:17: expected a number of at most 3.4028235e+38, found '1e50'");
  EXPECT_EQ(constant("70000", "f16"),
            "test.heddle:2:17: expected a number of at most 65504, found '70000'");
  EXPECT_EQ(constant("1e400", "f64"),
            "test.heddle:2:17: expected a number that f64 holds, found '1e400'");
  EXPECT_EQ(constant("300", "u8"), "test.heddle:2:17: expected an integer that u8 holds");
  EXPECT_EQ(constant("1e-400", "f64"), "no error");
  EXPECT_EQ(constant("inf", "f32"), "no error");
  const Program tiny = parse(
      "func @f() -> (y: f64[]) {\n  %0 = constant -1e-400 : f64[]\n  return %0\n}", "test.heddle");
  EXPECT_EQ(element_as_double(*tiny.entry().nodes[0].literal, 0), 0);
}

// Every operation, not only those whose inference reads attributes.
TEST(Builder, unknown_attributes_are_refused_of_every_operation) {
  std::size_t count = 0;
  for (const Operation* op : built_in_operations()) {
    for (const Workload& row : op->strict.workloads()) {
      if (op == &op_constant) continue;
      Builder b("f");
      Values operands;
      for (std::size_t i = 0; i < row.operands.size(); ++i) {
        operands.push_back(b.input("x" + std::to_string(i), row.operands[i]));
      }
      std::vector<Attributes::Entry> entries = row.attributes.entries();
      entries.emplace_back("no_such", std::int64_t{1});
      try {
        b.add(*op, operands, Attributes(entries));
        ADD_FAILURE() << op->name;
      } catch (const TypeError& e) {
        EXPECT_EQ(e.detail().field, "attributes.no_such") << e.what();
      }
      ++count;
    }
  }
  EXPECT_GT(count, 100u);
}

TEST(Builder, names_must_be_printable) {
  Builder b("f");
  EXPECT_THROW(b.input("two words", {DType::f32, {}}), ValueError);
  b.input("params.layer1.w", {DType::f32, {}});
  EXPECT_THROW(b.input("params.layer1.w", {DType::f32, {}}), ValueError);
}

}  // namespace
}  // namespace heddle
