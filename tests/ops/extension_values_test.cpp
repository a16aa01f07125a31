// The values a definition is made of: kinds, specs, schemas and results.
#include <gtest/gtest.h>

#include <cmath>

#include "heddle/graph/call.h"
#include "heddle/graph/definition.h"
#include "support/expect_error.h"

namespace heddle::ops_test {
namespace {

using heddle::testing::expect_error;

constexpr OperandKind kWeak = OperandKind::weak_scalar, kTensor = OperandKind::tensor,
                      kStructural = OperandKind::structural;

TEST(extension_values, kinds_have_names) {  // A2.1
  EXPECT_EQ(name_of(OperandKind::tensor), "tensor");
  EXPECT_EQ(name_of(OperandKind::weak_scalar), "weak_scalar");
  EXPECT_EQ(name_of(OperandKind::structural), "structural");
}

TEST(extension_values, types_forbid_the_rest) {
  // A2.2 A2.7 A6.1 A6.6: nothing is assigned to.
  static_assert(!std::is_copy_assignable_v<OperandSpec>);
  static_assert(!std::is_copy_assignable_v<OptionSpec>);
  static_assert(!std::is_copy_assignable_v<OperationSchema>);
  static_assert(!std::is_copy_assignable_v<ResultSpec>);
  static_assert(!std::is_copy_assignable_v<Invocation>);
  static_assert(!std::is_copy_assignable_v<BoundOperationCall>);
  static_assert(!std::is_copy_constructible_v<OperationDefinition>);
  // A2.3 A2.4 A2.5: names are text, kinds are kinds, flags are bools.
  static_assert(!std::is_constructible_v<OperandSpec, int, OperandKind>);
  static_assert(!std::is_constructible_v<OperandSpec, const char*, const char*>);
  static_assert(!std::is_constructible_v<OperandSpec, const char*, OperandKind, int>);
  static_assert(std::is_constructible_v<OperandSpec, const char*, OperandKind, bool>);
  static_assert(!std::is_constructible_v<OptionSpec, int, OptionKind>);
  // A2.8: one marker each, which nobody makes, copies or changes.
  static_assert(!std::is_default_constructible_v<RequiredMarker>);
  static_assert(!std::is_copy_constructible_v<RequiredMarker>);
  static_assert(!std::is_assignable_v<decltype(kRequired), const RequiredMarker&>);
  static_assert(!std::is_copy_constructible_v<NonDifferentiableMarker>);
  // A2.10: a list holds specs of its kind.
  static_assert(!std::is_constructible_v<SpecList<OperandSpec>, std::vector<OptionSpec>>);
  // A3.5: only the framework binds.
  static_assert(!std::is_default_constructible_v<BoundOperationCall>);
  static_assert(!std::is_default_constructible_v<BoundOperationCall::Key>);
  // A6.2: a type is a type, an alias an int, never a bool.
  static_assert(!std::is_constructible_v<ResultSpec, int>);
  static_assert(!std::is_constructible_v<ResultSpec, Type, bool>);
  static_assert(!std::is_constructible_v<ResultSpec, Type, std::string>);
  // A6.7: the call is a bound one, the plan a plan.
  static_assert(!std::is_constructible_v<Invocation, int, DtypePlan, std::vector<ResultSpec>>);
  static_assert(
      !std::is_constructible_v<Invocation, BoundOperationCall, int, std::vector<ResultSpec>>);
  // A5.3 A5.8: callbacks have the declared types.
  static_assert(!std::is_constructible_v<ResolveFunction, int (*)(const BoundOperationCall&)>);
  static_assert(!std::is_constructible_v<Derivative, int>);
}

TEST(extension_values, names_are_identifiers) {  // A2.3 A2.7
  for (const char* bad : {"", "1x", "a b", "a.b", "é"}) {
    SCOPED_TRACE(bad);
    const std::string found = "; name: found '" + std::string(bad) + "'";
    expect_error<ValueError>([&] { OperandSpec(bad, kTensor); }, found);
    expect_error<ValueError>([&] { OptionSpec(bad, OptionKind::flag); }, found);
    expect_error<ValueError>([&] { OptionSpec(bad, 1.0); }, found);
  }
  std::string name = "alpha";
  const OperandSpec spec(name, kTensor, true);
  name = "other";
  EXPECT_EQ(spec.name, "alpha") << "a spec keeps its name";
  EXPECT_TRUE(spec.differentiable);
  EXPECT_FALSE(OperandSpec("x").differentiable);
}

TEST(extension_values, only_tensors_are_differentiable) {  // A2.6
  expect_error<ValueError>([] { OperandSpec("x", kWeak, true); },
                           "only a tensor operand is differentiable; schema: found 'x'");
  expect_error<ValueError>([] { OperandSpec("x", kStructural, true); },
                           "only a tensor operand is differentiable; schema: found 'x'");
}

TEST(extension_values, options_with_and_without_default) {  // A2.7 A2.8
  EXPECT_TRUE(OptionSpec("a", OptionKind::integer).required());
  EXPECT_TRUE(OptionSpec("a", OptionKind::integer, kRequired).required());
  const OptionSpec given("a", std::vector<std::int64_t>{1, 2});
  EXPECT_FALSE(given.required());
  EXPECT_EQ(given.kind, OptionKind::integers);
  EXPECT_EQ(to_text(given.default_value()), "[1, 2]");
  EXPECT_EQ(&kRequired, &RequiredMarkerHolder::kMarker);
}

// A range that counts how often it is begun.
struct CountedRange {
  const std::vector<OperandSpec>& specs;
  int& begun;
  auto begin() const {
    ++begun;
    return specs.begin();
  }
  auto end() const { return specs.end(); }
};

TEST(extension_values, schemas_read_a_range_once_and_keep_it) {  // A2.9
  int begun = 0;
  auto specs =
      std::make_unique<std::vector<OperandSpec>>(std::vector<OperandSpec>{{"x"}, {"beta", kWeak}});
  const OperationSchema schema{.operands = CountedRange{*specs, begun}};
  EXPECT_EQ(begun, 1);
  specs = nullptr;
  ASSERT_EQ(schema.operands.size(), 2u);
  EXPECT_EQ(schema.operands[1].name, "beta");
  EXPECT_EQ(schema.operands[1].kind, kWeak);
}

TEST(extension_values, schemas_refuse_nothing_and_twice) {  // A2.11 A2.12
  expect_error<ValueError>([] { OperationSchema{.operands = std::vector<OperandSpec>{}}; },
                           "at least one operand; schema");
  expect_error<ValueError>(
      [] {
        OperationSchema{.operands = {{"x"}, {"x"}}};
      },
      "stands twice in a schema; schema: found 'x'");
  expect_error<ValueError>(
      [] {
        OperationSchema{.operands = {{"x"}}, .options = {{"a", 1.0}, {"a", 2.0}}};
      },
      "stands twice in a schema; schema: found 'a'");
  const std::string both = expect_error<ValueError>([] {
    OperationSchema{.operands = {{"x"}}, .options = {{"x", 1.0}}};
  });
  EXPECT_NE(both.find("'x'"), std::string::npos) << both;
  const std::string empty_first = expect_error<ValueError>([] {
    OperationSchema{.operands = std::vector<OperandSpec>{}, .options = {{"a", 1.0}, {"a", 1.0}}};
  });
  EXPECT_NE(empty_first.find("at least one operand"), std::string::npos) << empty_first;
}

TEST(extension_values, result_specs) {  // A6.3
  const Type x{DType::f32, {2}};
  EXPECT_EQ(ResultSpec(x).alias_of, std::nullopt);
  EXPECT_EQ(ResultSpec(x, 1).alias_of, 1);
  EXPECT_EQ(ResultSpec(x, std::nullopt, {.atol = 1e-3}).atol, 1e-3);
  expect_error<ValueError>([&] { ResultSpec(x, -1); },
                           "alias_of: found -1, needed the number of an operand");
  expect_error<ValueError>([&] { ResultSpec(x, std::nullopt, {.atol = -1}); },
                           "tolerance: found -1");
  expect_error<ValueError>([&] { ResultSpec(x, std::nullopt, {.rtol = std::nan("")}); },
                           "tolerance: found nan");
  expect_error<ValueError>([&] { ResultSpec(x, std::nullopt, {.rtol = INFINITY}); },
                           "tolerance: found inf");
}

}  // namespace
}  // namespace heddle::ops_test
