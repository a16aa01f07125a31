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

std::string parse_error(std::string_view text) {
  try {
    parse(text, "test.heddle");
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

TEST(Builder, names_must_be_printable) {
  Builder b("f");
  EXPECT_THROW(b.input("two words", {DType::f32, {}}), ValueError);
  b.input("params.layer1.w", {DType::f32, {}});
  EXPECT_THROW(b.input("params.layer1.w", {DType::f32, {}}), ValueError);
}

}  // namespace
}  // namespace heddle
