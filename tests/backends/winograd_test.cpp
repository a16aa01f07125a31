// Convolutions in Winograd's form: kernels on ragged sizes, programs with constant and with given
// weights, their gradients, and how exact they are.
#include "heddle/schedule/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "backends/cases.h"
#include "heddle/backends/compile.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/schedule/prepare.h"
#include "support/expect_error.h"

namespace heddle::testing {
namespace {

struct Sizes {
  std::int64_t images, channels, outputs, height, width;
  std::vector<std::int64_t> low = {1, 1}, high = {1, 1};

  Dims x() const { return {images, channels, height, width}; }
  Dims w() const { return {outputs, channels, 3, 3}; }
  ConvAttributes attributes() const { return {{1, 1}, low, high, {1, 1}, {1, 1}}; }
  std::string name() const {
    return to_text(x()) + " " + to_text(w()) + to_text(Dims(low.begin(), low.end()));
  }
};

const Sizes kSizes[] = {{1, 16, 32, 12, 16},
                        {2, 17, 33, 13, 15},
                        {3, 20, 16, 7, 9, {0, 2}, {1, 0}},
                        {1, 16, 18, 22, 57, {0, 0}, {0, 0}},
                        {1, 33, 17, 57, 15, {2, 2}, {2, 2}},
                        {1, 16, 16, 40, 12, {-1, 1}, {-2, -3}}};

// relu(conv + bias + residual), and what went into relu.
Function block(const Sizes& s, DType dtype = DType::f32, const Literal* weights = nullptr) {
  Builder b("block");
  const ValueId x = b.input("x", {dtype, s.x()});
  const ValueId w = weights ? b.constant(*weights) : b.input("w", {dtype, s.w()});
  const ValueId y = b.emit(op_conv_general, {x, w}, Attributes::of(s.attributes()));
  const Dims d = b.type(y).dims;
  const ValueId bias = b.input("bias", {dtype, {s.outputs}});
  const ValueId r = b.input("r", {dtype, d});
  const ValueId z = emit::add(b, emit::add(b, y, emit::broadcast_in_dim(b, bias, d, {1})), r);
  b.output("y", emit::max(b, z, emit::zeros_like(b, z)));
  b.output("z", z);
  return b.finish();
}

std::vector<KernelCase> kernel_cases() {
  std::vector<KernelCase> cases;
  for (const Sizes& s : kSizes) {
    cases.push_back({s.name(), block(s), RecipeKind::winograd, {-1, 3}, 1e-4});
  }
  return cases;
}

TEST(WinogradKernels, AreMade) {
  for (const KernelCase& c : kernel_cases()) {
    const Kernel k = kernel_of(c.body, c.kind, c.shares);
    EXPECT_TRUE(std::holds_alternative<Winograd>(k.recipe)) << c.name;
    EXPECT_EQ(to_text(parse_kernel(to_text(k))), to_text(k));
  }
}
TEST(WinogradKernels, AgreeWithTheInterpreter) { check_cases(kernel_cases(), false); }
TEST(WinogradKernels, StayInsideTheirBuffers) { check_cases(kernel_cases(), true); }

// Vectors end where the buffers do.
TEST(WinogradKernels, ReadNothingBesideTheirBuffers) {
  const std::vector<KernelCase> cases = kernel_cases();
  std::vector<Kernel> kernels;
  for (const KernelCase& c : cases) kernels.push_back(kernel_of(c.body, c.kind));
  KernelRunner runner(kernels);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::vector<Literal> inputs = inputs_of(cases[i]);
    const auto want = runner.run(i, inputs);
    for (Guard guard : {Guard::before, Guard::behind}) {
      const auto guarded = runner.run_guarded(i, inputs, guard);
      for (std::size_t o = 0; o < want.size(); ++o) {
        EXPECT_EQ(*guarded[o].bytes, *want[o].bytes) << cases[i].name << " output " << o;
      }
    }
  }
}

// ---- programs ----

class WinogradPrograms : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("HEDDLE_WINOGRAD"); }
};

std::size_t winograd_kernels(const Plan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.kernels.begin(), plan.kernels.end(),
                    [](const Kernel& k) { return std::holds_alternative<Winograd>(k.recipe); }));
}

std::vector<Literal> inputs_for(const Function& f) {
  std::vector<Literal> inputs;
  for (const Input& in : f.inputs) {
    inputs.push_back(
        random_literal(f.type(in.value), static_cast<unsigned>(11 + inputs.size()), -1, 1));
  }
  return inputs;
}

void expect_results(const Program& program, std::size_t kernels) {
  const auto compiled = compile(program);
  EXPECT_EQ(winograd_kernels(compiled->plan()), kernels);
  verify(compiled->plan());
  const std::string& name = program.functions()[0].name;
  const std::vector<Literal> inputs = inputs_for(program.functions()[0]);
  const auto got = compiled->run(name, inputs), want = interpret(program, name, inputs);
  for (std::size_t o = 0; o < want.size(); ++o) {
    expect_close(got[o], want[o], 1e-4, 1e-4, name + " output " + std::to_string(o));
  }
}

// Constant weights are transformed when an instance is made.
TEST_F(WinogradPrograms, ConstantWeights) {
  for (const Sizes& s : kSizes) {
    SCOPED_TRACE(s.name());
    const Literal w = random_literal({DType::f32, s.w()}, 3, -1, 1);
    const Program program({block(s, DType::f32, &w)});
    expect_results(program, 1);
    const auto compiled = compile(program);
    EXPECT_EQ(compiled->plan().functions.back().name, kPrepare);
  }
}

TEST_F(WinogradPrograms, GivenWeights) {
  for (const Sizes& s : kSizes) {
    SCOPED_TRACE(s.name());
    expect_results(Program({block(s)}), 1);
  }
}

// The gradient of the image is such a convolution, too.
TEST_F(WinogradPrograms, Gradients) {
  const Sizes s{1, 16, 17, 14, 15};
  expect_results(vjp(Program({block(s)}), {"x", "w"}), 2);
}

// The largest error of each way to sum, against f64: of results of up to 30 or so.
TEST_F(WinogradPrograms, AreAsExactAsTheDirectForm) {
  const Sizes s{1, 64, 32, 24, 24};
  const Function f = block(s), g = block(s, DType::f64);
  const std::vector<Literal> inputs = inputs_for(f);
  std::vector<Literal> wide;
  for (const Literal& l : inputs) wide.push_back(convert(l, DType::f64));
  const auto want = to_doubles(interpret(Program({g}), g.name, wide)[1]);
  const auto error = [&](const char* winograd) {
    setenv("HEDDLE_WINOGRAD", winograd, 1);
    const auto compiled = compile(Program({f}));
    EXPECT_EQ(winograd_kernels(compiled->plan()), *winograd == '1' ? 1u : 0u);
    const auto got = to_doubles(compiled->run(f.name, inputs)[1]);
    double most = 0;
    for (std::size_t i = 0; i < want.size(); ++i)
      most = std::max(most, std::fabs(got[i] - want[i]));
    return most;
  };
  const double direct = error("0"), winograd = error("1");
  RecordProperty("direct", std::to_string(direct * 1e6));
  RecordProperty("winograd", std::to_string(winograd * 1e6));
  EXPECT_LE(winograd, direct);
  EXPECT_LT(winograd, 2e-5);
}

// An infinity reaches the results of the tiles that read it, and no others.
TEST_F(WinogradPrograms, InfinitiesStayInTheirTiles) {
  const Sizes s{1, 16, 16, 16, 16};
  const Function f = block(s);
  std::vector<Literal> inputs = inputs_for(f);
  std::vector<double> x = to_doubles(inputs[0]);
  x[5 * 16 + 6] = std::numeric_limits<double>::infinity();  // row 5, column 6 of channel 0
  inputs[0] = make_literal<float>(s.x(), std::vector<float>(x.begin(), x.end()));
  const auto got = to_doubles(compile(Program({f}))->run(f.name, inputs)[1]);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 16; ++column) {
      const bool in_window = row >= 4 && row <= 6 && column >= 5 && column <= 7;
      const bool in_tile = row >= 4 && row < 8 && column >= 4 && column < 8;
      const double value = got[row * 16 + column];
      if (in_window || !in_tile) {
        EXPECT_EQ(std::isfinite(value), !in_window) << row << " " << column;
      }
    }
  }
}

TEST_F(WinogradPrograms, TheSwitchIsAZeroOrAOne) {
  setenv("HEDDLE_WINOGRAD", "fast", 1);
  expect_error<ValueError>(
      [] {
        compile(Program({block({1, 16, 16, 16, 16})}));
      },
      "HEDDLE_WINOGRAD is a switch");
}

// Strides, holes, groups, few channels, few tiles, other floats.
TEST(WinogradSuits, NothingElse) {
  const Type x{DType::f32, {1, 16, 16, 16}}, w{DType::f32, {16, 16, 3, 3}};
  const ConvAttributes same = Sizes{1, 16, 16, 16, 16}.attributes();
  EXPECT_TRUE(suits_winograd(x, w, same));
  ConvAttributes other = same;
  other.strides = {1, 2};
  EXPECT_FALSE(suits_winograd(x, w, other));
  other = same, other.lhs_dilation = {2, 1};
  EXPECT_FALSE(suits_winograd(x, w, other));
  other = same, other.rhs_dilation = {1, 2};
  EXPECT_FALSE(suits_winograd(x, w, other));
  other = same, other.groups = 16;
  EXPECT_FALSE(suits_winograd(x, {DType::f32, {16, 1, 3, 3}}, other));
  EXPECT_FALSE(suits_winograd({DType::f32, {1, 3, 16, 16}}, {DType::f32, {16, 3, 3, 3}}, same));
  EXPECT_FALSE(suits_winograd({DType::f32, {1, 16, 7, 7}}, w, same));
  EXPECT_FALSE(suits_winograd({DType::f64, {1, 16, 16, 16}}, {DType::f64, w.dims}, same));
  EXPECT_FALSE(suits_winograd(x, {DType::f32, {16, 16, 5, 5}}, same));
}

}  // namespace
}  // namespace heddle::testing
