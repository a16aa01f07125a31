// Slices that are views, parts computed where they belong, factors packed once: plans with them
// compute what their programs say, run by interpreting kernels on simulated memory.
#include <gtest/gtest.h>

#include <random>

#include "heddle/graph/builder.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/lower_picks.h"
#include "heddle/schedule/lower_sums.h"
#include "heddle/schedule/make_plan.h"
#include "support/run_plan.h"

namespace heddle {
namespace {

using emit::Axes;

Plan plan_of(const Program& program) {
  Program p = lower_sums(canonicalize(program));
  p = dead_node_elimination(common_subexpression_elimination(p));
  Plan plan = make_plan(p, Target::host(), nullptr, {.prepare = true, .slices = true});
  verify(plan);
  return plan;
}

// Whole numbers, whose sums and products are exact in any order.
std::vector<Literal> whole_inputs(const Function& f, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Literal> inputs;
  for (const Input& in : f.inputs) {
    std::vector<double> values(static_cast<std::size_t>(element_count(f.type(in.value))));
    for (double& v : values) v = static_cast<double>(random() % 7) - 3;
    inputs.push_back(convert(
        make_literal<double>(f.type(in.value).dims, std::span<const double>(values)), DType::f32));
  }
  return inputs;
}

void expect_same(const Program& program, const Plan& plan, std::uint32_t seed) {
  const std::vector<Literal> inputs = whole_inputs(program.entry(), seed);
  const std::vector<Literal> found = testing::run_plan(plan, inputs),
                             expected = interpret(program, program.entry().name, inputs);
  for (std::size_t o = 0; o < expected.size(); ++o) {
    ASSERT_EQ(to_doubles(found[o]), to_doubles(expected[o]))
        << program.entry().outputs[o].name << "\n"
        << to_text(program) << to_text(plan);
  }
}

Plan expect_steps(const std::string& text, std::size_t steps) {
  const Program program = parse(text, "slices.heddle");
  Plan plan = plan_of(program);
  EXPECT_EQ(plan.functions[0].steps.size(), steps) << to_text(plan);
  expect_same(program, plan, 1);
  return plan;
}

std::string dot(const std::string& x, const std::string& y, int left, int right) {
  const auto axis = [](int a) { return "[" + std::to_string(a) + "]"; };
  return "dot_general(" + x + ", " + y + ") {lhs_batch = [], lhs_contract = " + axis(left) +
         ", rhs_batch = [], rhs_contract = " + axis(right) + "}";
}

TEST(Slices, FactorsThatAreRangesOfAnInputAreNotCopied) {
  const Plan plan = expect_steps(
      "func @f(x: f32[2,8,16], w: f32[16,16]) -> (y: f32[8,16]) {\n"
      "  %0 = slice(x) {limits = [1, 8, 16], starts = [0, 0, 0], strides = [1, 1, 1]} : "
      "f32[1,8,16]\n  %1 = reshape(%0) {dims = dims[8,16]} : f32[8,16]\n"
      "  %2 = slice(x) {limits = [2, 8, 16], starts = [1, 0, 0], strides = [1, 1, 1]} : "
      "f32[1,8,16]\n  %3 = reshape(%2) {dims = dims[8,16]} : f32[8,16]\n  %4 = " +
          dot("%1", "w", 1, 0) + " : f32[8,16]\n  %5 = " + dot("%3", "w", 1, 0) +
          " : f32[8,16]\n  %6 = add(%4, %5) : f32[8,16]\n  return %6\n}\n",
      2);
  EXPECT_EQ(plan.kernels.size(), 2u) << "equal but for where they read";
}

TEST(Slices, PartsOfAnOutputAreComputedInIt) {
  const Plan plan = expect_steps(
      "func @f(x: f32[64,16], w: f32[16,16]) -> (y: f32[128,16]) {\n  %0 = " + dot("x", "w", 1, 0) +
          " : f32[64,16]\n  %1 = " + dot("%0", "w", 1, 0) +
          " : f32[64,16]\n  %2 = concatenate(%0, %1) {axis = 0} : f32[128,16]\n  return %2\n}\n",
      2);
  EXPECT_EQ(plan.functions[0].arena_bytes, Dim(0));
}

TEST(Slices, PartsThatAreGivenOrOutputsThemselvesAreCopied) {
  expect_steps(
      "func @f(x: f32[64,16], w: f32[16,16]) -> (y: f32[256,16], z: f32[64,16]) {\n"
      "  %0 = " +
          dot("x", "w", 1, 0) + " : f32[64,16]\n  %1 = " + dot("%0", "w", 1, 0) +
          " : f32[64,16]\n  %2 = " + dot("%1", "w", 1, 0) +
          " : f32[64,16]\n  %3 = concatenate(x, %0, %1, %2) {axis = 0} : f32[256,16]\n"
          "  return %3, %0\n}\n",
      6);  // the factor packed, three products, x and z copied into y
}

TEST(Slices, AnOutputOverADonatedInputIsNotWrittenInParts) {
  expect_steps(
      "func @f(y: f32[128,16] donate, w: f32[16,16]) -> (y: f32[128,16]) {\n"
      "  %0 = slice(y) {limits = [64, 16], starts = [0, 0], strides = [1, 1]} : "
      "f32[64,16]\n  %1 = slice(y) {limits = [128, 16], starts = [64, 0], strides = "
      "[1, 1]} : f32[64,16]\n  %2 = " +
          dot("%1", "w", 1, 0) + " : f32[64,16]\n  %3 = " + dot("%0", "w", 1, 0) +
          " : f32[64,16]\n  %4 = concatenate(%2, %3) {axis = 0} : f32[128,16]\n"
          "  return %4\n}\n",
      3);
}

TEST(Slices, AnInputUpdatedInPlaceIsReadInRangesBefore) {
  const Plan plan = expect_steps(
      "func @f(w: f32[32,16] donate, x: f32[8,16]) -> (w: f32[32,16], y: f32[8,16]) {\n"
      "  %0 = add(w, w) : f32[32,16]\n"
      "  %1 = slice(w) {limits = [24, 16], starts = [8, 0], strides = [1, 1]} : f32[16,16]\n  %2 "
      "= " +
          dot("x", "%1", 1, 0) + " : f32[8,16]\n  return %0, %2\n}\n",
      2);
  EXPECT_EQ(plan.functions[0].steps[0].label, "dot_general");
}

TEST(Slices, ARangeThatIsAnOutputIsCopied) {
  expect_steps("func @f(x: f32[64,16], w: f32[16,16]) -> (y: f32[8,16], z: f32[8,16]) {\n  %0 = " +
                   dot("x", "w", 1, 0) +
                   " : f32[64,16]\n  %1 = slice(%0) {limits = [16, 16], starts = [8, 0], strides "
                   "= [1, 1]} : f32[8,16]\n  %2 = " +
                   dot("%1", "w", 1, 0) + " : f32[8,16]\n  return %1, %2\n}\n",
               3);
}

TEST(Slices, AFactorOfSeveralProductsIsPackedOnce) {
  const Plan plan = expect_steps(
      "func @f(x: f32[8,16], w: f32[16,16]) -> (y: f32[8,16]) {\n  %0 = " + dot("x", "w", 1, 1) +
          " : f32[8,16]\n  %1 = " + dot("%0", "w", 1, 1) +
          " : f32[8,16]\n  %2 = " + dot("%1", "w", 1, 1) + " : f32[8,16]\n  return %2\n}\n",
      4);
  EXPECT_EQ(plan.functions[0].steps[0].label, "pack");
  EXPECT_EQ(plan.kernels.size(), 2u);
}

TEST(Slices, MapsThatReadEachOtherAreOneThoughOthersReadTheFirst) {
  expect_steps(
      "func @f(x: f32[8,16], w: f32[16,16]) -> (y: f32[8,16], z: f32[8,16]) {\n"
      "  %0 = exp(x) : f32[8,16]\n  %1 = tanh(%0) : f32[8,16]\n  %2 = " +
          dot("%0", "w", 1, 0) + " : f32[8,16]\n  return %1, %2\n}\n",
      2);
}

// A gradient of what normalizes rows: statistics of one array, and then of another with them.
TEST(Rows, StatisticsThatNeedOthersOfTheSameRowsAreReadWithThem) {
  expect_steps(
      "func @f(x: f32[8,16], d: f32[8,16], g: f32[16]) -> (s: f32[8], z: f32[8,16]) {\n"
      "  %0 = reduce_sum(x) {axes = [1]} : f32[8]\n"
      "  %1 = broadcast_in_dim(%0) {axes = [0], dims = dims[8,16]} : f32[8,16]\n"
      "  %2 = broadcast_in_dim(g) {axes = [1], dims = dims[8,16]} : f32[8,16]\n"
      "  %3 = mul(d, %2) : f32[8,16]\n  %4 = reduce_sum(%3) {axes = [1]} : f32[8]\n"
      "  %5 = broadcast_in_dim(%4) {axes = [0], dims = dims[8,16]} : f32[8,16]\n"
      "  %6 = sub(%3, %5) : f32[8,16]\n  %7 = sub(%6, %1) : f32[8,16]\n  return %0, %7\n}\n",
      1);
}

std::size_t count(const Function& f, const Operation& op) {
  return static_cast<std::size_t>(std::count_if(f.nodes.begin(), f.nodes.end(),
                                                [&](const Node& node) { return node.op == &op; }));
}

Function summed(const std::string& text) {
  const Program p = parse(text, "sums.heddle");
  return dead_node_elimination(common_subexpression_elimination(lower_sums(p))).entry();
}

TEST(LowerSums, PaddedTermsThatLieSideBySideAreOneConcatenation) {
  const Function f = summed(
      "func @f(x: f32[2,3], y: f32[1,3], z: f32[5,3]) -> (s: f32[5,3]) {\n"
      "  %0 = constant 0x0p+0 : f32[]\n"
      "  %1 = pad(x, %0) {high = [0, 0], interior = [0, 0], low = [3, 0]} : f32[5,3]\n"
      "  %2 = pad(y, %0) {high = [3, 0], interior = [0, 0], low = [1, 0]} : f32[5,3]\n"
      "  %3 = add(%1, z) : f32[5,3]\n  %4 = add(%3, %2) : f32[5,3]\n  return %4\n}\n");
  ASSERT_EQ(count(f, op_concatenate), 1u);
  EXPECT_EQ(count(f, op_pad), 0u);
  EXPECT_EQ(count(f, op_add), 1u);
  const Node& joined = *std::find_if(f.nodes.begin(), f.nodes.end(),
                                     [](const Node& node) { return node.op == &op_concatenate; });
  EXPECT_EQ(joined.operands.size(), 4u) << "zeros, y, zeros, x";
}

TEST(LowerSums, TermsThatOverlapOrAreFilledWithOthersStay) {
  const Function f = summed(
      "func @f(x: f32[3], y: f32[3]) -> (s: f32[5]) {\n"
      "  %0 = constant 0x0p+0 : f32[]\n  %1 = constant 0x1p+0 : f32[]\n"
      "  %2 = pad(x, %0) {high = [2], interior = [0], low = [0]} : f32[5]\n"
      "  %3 = pad(y, %0) {high = [1], interior = [0], low = [1]} : f32[5]\n"
      "  %4 = pad(x, %1) {high = [0], interior = [0], low = [2]} : f32[5]\n"
      "  %5 = add(%2, %3) : f32[5]\n  %6 = add(%5, %4) : f32[5]\n  return %6\n}\n");
  EXPECT_EQ(count(f, op_pad), 3u);
  EXPECT_EQ(count(f, op_concatenate), 0u);
}

TEST(LowerSums, ProductsOverFirstAxesAreOne) {
  const Function f = summed(
      "func @f(a: f32[2,3], b: f32[2,4], c: f32[3,3], d: f32[3,4], e: f32[3,4]) -> (s: f32[3,4]) "
      "{\n  %0 = " +
      dot("a", "b", 0, 0) + " : f32[3,4]\n  %1 = " + dot("c", "d", 0, 0) +
      " : f32[3,4]\n  %2 = " + dot("c", "e", 1, 0) +
      " : f32[3,4]\n  %3 = add(%0, %2) : f32[3,4]\n  %4 = add(%1, %3) : f32[3,4]\n"
      "  return %4\n}\n");
  EXPECT_EQ(count(f, op_dot_general), 2u) << "one is over another axis";
  EXPECT_EQ(count(f, op_concatenate), 2u);
}

// A label outside its row picks nothing.
TEST(LowerPicks, TheElementAtALabelIsReadThere) {
  const Program p = parse(
      "func @f(x: f32[5,70], y: i32[5]) -> (s: f32[5]) {\n"
      "  %0 = reduce_max(x) {axes = [1]} : f32[5]\n"
      "  %1 = broadcast_in_dim(%0) {axes = [0], dims = dims[5,70]} : f32[5,70]\n"
      "  %2 = sub(x, %1) : f32[5,70]\n"
      "  %3 = iota() {axis = 1, dims = dims[5,70], dtype = i32} : i32[5,70]\n"
      "  %4 = broadcast_in_dim(y) {axes = [0], dims = dims[5,70]} : i32[5,70]\n"
      "  %5 = compare(%3, %4) {direction = \"eq\"} : bool[5,70]\n"
      "  %6 = constant 0x0p+0 : f32[]\n"
      "  %7 = broadcast_in_dim(%6) {axes = [], dims = dims[5,70]} : f32[5,70]\n"
      "  %8 = select(%5, %2, %7) : f32[5,70]\n"
      "  %9 = reduce_sum(%8) {axes = [1]} : f32[5]\n  return %9\n}\n",
      "pick.heddle");
  const Program picked = dead_node_elimination(lower_picks(p));
  EXPECT_EQ(count(picked.entry(), op_gather), 1u);
  EXPECT_EQ(count(picked.entry(), op_reduce_sum), 0u);
  std::vector<float> x(350);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101);
  const std::vector<Literal> inputs{make_literal<float>({5, 70}, x),
                                    make_literal<std::int32_t>({5}, {3, 69, -1, 70, 0})};
  EXPECT_EQ(to_doubles(interpret(picked, "f", inputs)[0]),
            to_doubles(interpret(p, "f", inputs)[0]));
}

// One label that is stretched over all rows has another shape than what is read at it.
TEST(LowerPicks, ALabelOfAllRowsIsNoRowsOwn) {
  const Program p = parse(
      "func @f(x: f32[5,70], y: i32[1]) -> (s: f32[5]) {\n"
      "  %0 = iota() {axis = 1, dims = dims[5,70], dtype = i32} : i32[5,70]\n"
      "  %1 = broadcast_in_dim(y) {axes = [0], dims = dims[5,70]} : i32[5,70]\n"
      "  %2 = compare(%0, %1) {direction = \"eq\"} : bool[5,70]\n"
      "  %3 = constant 0x0p+0 : f32[]\n"
      "  %4 = broadcast_in_dim(%3) {axes = [], dims = dims[5,70]} : f32[5,70]\n"
      "  %5 = select(%2, x, %4) : f32[5,70]\n"
      "  %6 = reduce_sum(%5) {axes = [1]} : f32[5]\n  return %6\n}\n",
      "pick.heddle");
  std::vector<float> x(350);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const std::vector<Literal> inputs{make_literal<float>({5, 70}, x),
                                    make_literal<std::int32_t>({1}, {69})};
  EXPECT_EQ(to_doubles(interpret(lower_picks(p), "f", inputs)[0]),
            (std::vector<double>{69, 139, 209, 279, 349}));
}

// ---- random programs ----

class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed) : random_(seed) {
    for (std::int64_t rows : {64, 8, 16}) add(build_.input("x" + std::to_string(rows), f32(rows)));
    weight_ = build_.input("w", f32(kColumns), true);
    big_ = build_.input("big", f32(64), true);
    add(weight_);
    add(big_);
  }

  Program make() {
    for (int n = 0; n < 24; ++n) add(node());
    for (int o = 0; o < 3; ++o) build_.output("y" + std::to_string(o), any());
    if (const auto w = of_rows(kColumns)) build_.output("w", *w);
    if (const auto b = of_rows(64)) build_.output("big", *b);
    return Program({build_.finish()});
  }

 private:
  static constexpr std::int64_t kColumns = 16;
  static Type f32(std::int64_t rows) { return {DType::f32, {rows, kColumns}}; }

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % n); }
  std::int64_t rows(ValueId v) const { return build_.type(v).dims[0].constant(); }
  void add(ValueId v) { all_.push_back(v); }
  ValueId any() { return all_[static_cast<std::size_t>(below(std::ssize(all_)))]; }
  // One of the last that have so many rows.
  std::optional<ValueId> of_rows(std::int64_t n) {
    for (std::size_t i = all_.size(); i-- > 0;) {
      if (rows(all_[i]) == n && below(3) != 0) return all_[i];
    }
    return std::nullopt;
  }
  ValueId small(ValueId v) {  // whole numbers that stay exact
    const auto bound = [&](double b) { return build_.filled(build_.type(v), b); };
    return emit::min(build_, emit::max(build_, v, bound(-3)), bound(3));
  }

  ValueId range() {
    const ValueId v = any();
    const std::int64_t n = 1 + below(rows(v)), first = below(rows(v) - n + 1);
    return emit::slice_axis(build_, v, 0, first, first + n);
  }
  // Cut in time steps, one of them taken.
  ValueId step() {
    const ValueId v = any();
    if (rows(v) % 8 != 0) return range();
    const ValueId steps = emit::reshape(build_, v, {rows(v) / 8, 8, kColumns});
    const std::int64_t t = below(rows(v) / 8);
    return emit::reshape(build_, emit::slice_axis(build_, steps, 0, t, t + 1), {8, kColumns});
  }
  ValueId joined() {
    Values parts;
    std::int64_t n = 0;
    for (int p = 0; p < 4; ++p) {
      const ValueId v = any();
      if (n + rows(v) > 128) continue;
      n += rows(v);
      parts.push_back(v);
    }
    return parts.empty() ? any() : emit::concatenate(build_, parts, 0);
  }
  ValueId product() {
    const DotAttributes d{
        .lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {1}, .rhs_contract = {below(2)}};
    const ValueId factor = below(3) ? weight_ : of_rows(kColumns).value_or(weight_);
    return small(emit::dot_general(build_, any(), factor, d));
  }
  ValueId gradient() {
    const DotAttributes d{
        .lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {0}, .rhs_contract = {0}};
    std::optional<ValueId> sum;
    for (int t = 0; t < 3; ++t) {
      const ValueId v = any();
      const ValueId term = emit::dot_general(build_, v, of_rows(rows(v)).value_or(v), d);
      sum = sum ? emit::add(build_, *sum, term) : term;
    }
    return small(*sum);
  }
  ValueId scattered() {
    std::optional<ValueId> sum;
    for (int t = 0; t < 3; ++t) {
      const ValueId v = any();
      if (rows(v) > 64) continue;
      const std::int64_t low = below(64 - rows(v) + 1);
      const ValueId zero = emit::scalar(build_, DType::f32, 0);
      const ValueId term = emit::pad(build_, v, zero, {low, 0}, {64 - rows(v) - low, 0}, {0, 0});
      sum = sum ? emit::add(build_, *sum, term) : term;
    }
    return sum.value_or(any());
  }
  ValueId elementwise() {
    const ValueId x = any(), y = of_rows(rows(x)).value_or(x);
    return below(2) ? small(emit::add(build_, x, y)) : emit::neg(build_, emit::max(build_, x, y));
  }
  ValueId node() {
    switch (below(8)) {
      case 0:
        return range();
      case 1:
        return step();
      case 2:
      case 3:
        return product();
      case 4:
        return joined();
      case 5:
        return gradient();
      case 6:
        return scattered();
      default:
        return elementwise();
    }
  }

  std::mt19937 random_;
  Builder build_{"f"};
  ValueId weight_, big_;
  Values all_;
};

TEST(Slices, RandomProgramsWithViewsPartsAndUpdatesInPlace) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program program = RandomProgram(seed).make();
    expect_same(program, plan_of(program), seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace heddle
