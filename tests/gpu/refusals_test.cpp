// What a carrier has not, and what a launch may not ask for: typed errors that say which.
#include <gtest/gtest.h>

#include "gpu/device_runner.h"
#include "heddle/backends/lower.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/carrier_types.h"

namespace heddle::testing {
namespace {

Target target_of(const std::string& carrier) {
  Target t = Target::host();
  t.carrier = carrier;
  return t;
}

Function doubled(DType dtype) {
  Builder b("doubled");
  const ValueId x = b.input("x", {dtype, {5}});
  b.output("y", emit::add(b, x, x));
  return b.finish();
}

Function narrowed() {
  Builder b("narrowed");
  const ValueId x = b.input("x", {DType::i32, {5}});
  b.output("y", emit::convert(b, emit::convert(b, x, DType::f64), DType::f32));
  return b.finish();
}

// An error names the function, the operation, the dtype and the carrier.
TEST(CarrierTypes, MetalHasNoNumbersOf64Bits) {
  for (DType d : kAllDTypes) {
    const bool wide = d == DType::f64 || d == DType::i64 || d == DType::u64;
    EXPECT_EQ(carrier_has(d, target_of("metal")), !wide) << name_of(d);
    EXPECT_TRUE(carrier_has(d, target_of("opencl")));
    EXPECT_TRUE(carrier_has(d, target_of("cpu")));
  }
  for (DType d : {DType::f64, DType::i64, DType::u64}) {
    try {
      lower(Program({doubled(d)}), target_of("metal"));
      ADD_FAILURE() << name_of(d);
    } catch (const CompileError& e) {
      EXPECT_EQ(e.detail().field, "inputs[0].dtype");
      EXPECT_NE(e.detail().message.find("'doubled'"), std::string::npos) << e.what();
      EXPECT_NE(e.detail().message.find("metal"), std::string::npos) << e.what();
      EXPECT_EQ(e.detail().found, std::string(name_of(d)) + "[5]");
    }
  }
  EXPECT_NO_THROW(lower(Program({doubled(DType::f64)}), target_of("opencl")));
}

TEST(CarrierTypes, TheOperationThatMakesOneIsNamed) {
  try {
    lower(Program({narrowed()}), target_of("metal"));
    ADD_FAILURE();
  } catch (const CompileError& e) {
    EXPECT_EQ(e.detail().operation, "convert");
    EXPECT_EQ(e.detail().found, "f64[5]");
  }
}

std::string refusal(const Function& body, RecipeKind kind) {
  try {
    compile_kernels(std::vector{kernel_of(body, kind, {}, "metal")}, Cache(), {});
  } catch (const CompileError& e) {
    return e.what();
  }
  return "";
}
void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(DeviceLimits, BuffersOfALaunch) {
  Builder b("many");
  for (int i = 0; i < 20; ++i) {
    const ValueId x = b.input("x" + std::to_string(i), {DType::f32, {5}});
    b.output("y" + std::to_string(i), emit::add(b, x, x));
  }
  const std::string text = refusal(b.finish(), RecipeKind::map);
  expect_in(text, "launch 'y0"), expect_in(text, "buffers: found 41, needed at most 30");
  expect_in(text, "metal");
}

// The worker looks at types too: a kernel need not come from a plan.
TEST(DeviceLimits, NumbersOf64Bits) {
  expect_in(refusal(doubled(DType::i64), RecipeKind::map), "carrier metal has no i64");
}

TEST(DeviceLimits, LengthOfASort) {
  Builder b("long");
  const ValueId x = b.input("x", {DType::f32, {2, 5000}});
  b.output("y",
           b.emit(op_argsort, {x}, Attributes::of(ArgsortAttributes{.axis = 1, .count = 5000})));
  const std::string text = refusal(b.finish(), RecipeKind::fibres);
  expect_in(text, "[argsort]"), expect_in(text, "found 5000 elements, needed at most 4096");
}

}  // namespace
}  // namespace heddle::testing
