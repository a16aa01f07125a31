// Whole programs on tiles: what is planned, and random ones against the interpreter.
#include <numeric>
#include <thread>

#include "eager/tiled_support.h"
#include "heddle/backends/tiled/run.h"
#include "heddle/graph/emit.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary
using emit::Axes;

std::vector<TiledStep::Kind> kinds(const TiledPlan& plan) {
  std::vector<TiledStep::Kind> all;
  for (const TiledStep& s : plan.steps) all.push_back(s.kind);
  return all;
}
using Kind = TiledStep::Kind;

TEST(TiledPlan, ElementwiseWorkAndViewsGoIntoWhatNeedsThem) {
  Builder b("f");
  const ValueId x = b.input("x", {DType::f32, {5, 7}}), row = b.input("row", {DType::f32, {7}});
  const ValueId wide = emit::broadcast_in_dim(b, row, {5, 7}, {1});
  const ValueId y = emit::tanh(b, emit::add(b, x, wide));
  b.output("sums", emit::reduce_sum(b, y, {0}));
  const TiledPlan plan = plan_tiles(b.finish());
  EXPECT_EQ(kinds(plan), std::vector<Kind>{Kind::reduce}) << "no temporary";
  EXPECT_EQ(plan.loops(plan.steps[0]).inner, std::vector<std::size_t>{0});
}

TEST(TiledPlan, WhatIsSeenOtherwiseIsATensorFirst) {
  Builder b("f");
  const ValueId x = b.input("x", {DType::f32, {5, 7}});
  const ValueId turned = emit::transpose(b, emit::neg(b, x), {1, 0});
  b.output("y", emit::reshape(b, emit::exp(b, turned), {35}));
  EXPECT_EQ(kinds(plan_tiles(b.finish())),
            (std::vector<Kind>{Kind::map, Kind::map, Kind::reshape}));
}

// Random programs of whole numbers ----------------------------------------------------------------

class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : bits_(seed), b_("random") {}

  Function make() {
    for (int i = 0; i < 3; ++i) {
      Dims dims;
      for (int a = 0, rank = below(4); a < rank; ++a) dims.push_back(extent());
      values_.push_back(b_.input("x" + std::to_string(i), {DType::i32, dims}));
    }
    for (int i = 0; i < 8; ++i) add_value();
    b_.output("y0", values_[values_.size() - 1]);
    b_.output("y1", values_[values_.size() - 2]);
    b_.output("y2", pick());
    return b_.finish();
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(bits_); }
  Dim extent() {
    constexpr int kExtents[] = {1, 2, 3, 7, 13};
    return Dim(kExtents[below(5)]);
  }
  ValueId pick() {
    return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))];
  }
  Axes some_axes(std::size_t rank) {
    Axes axes;
    for (std::size_t a = 0; a < rank; ++a) {
      if (below(2)) axes.push_back(static_cast<std::int64_t>(a));
    }
    return axes;
  }
  // `v` with the shape of `like`, where it broadcasts; else `like`.
  ValueId shaped(ValueId v, ValueId like) {
    const Dims from = b_.type(v).dims, to = b_.type(like).dims;
    if (from.size() > to.size()) return like;
    const std::size_t shift = to.size() - from.size();
    Axes axes(from.size());
    std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(shift));
    for (std::size_t a = 0; a < from.size(); ++a) {
      if (from[a] != to[a + shift] && from[a] != Dim(1)) return like;
    }
    return emit::broadcast_in_dim(b_, v, to, axes);
  }

  void add_value() {
    const ValueId x = pick();
    const Type type = b_.type(x);
    const std::size_t rank = type.rank();
    switch (below(8)) {
      case 0:
        values_.push_back(emit::add(b_, x, shaped(pick(), x)));
        break;
      case 1:
        values_.push_back(emit::mul(b_, x, shaped(pick(), x)));
        break;
      case 2:
        values_.push_back(emit::select(b_, emit::compare(b_, "lt", x, 0), emit::neg(b_, x), x));
        break;
      case 3: {
        Axes order(rank);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), bits_);
        values_.push_back(emit::transpose(b_, x, order));
        break;
      }
      case 4:
        values_.push_back(emit::reduce_sum(b_, x, some_axes(rank)));
        break;
      case 5:
        values_.push_back(emit::reduce_max(b_, x, some_axes(rank)));
        break;
      case 6:
        values_.push_back(emit::reshape(b_, x, {Dim(element_count(type))}));
        break;
      case 7:
        add_product(x);
        break;
    }
  }
  void add_product(ValueId x) {
    const auto rank = static_cast<std::int64_t>(b_.type(x).rank());
    const ValueId y = pick();
    const auto other = static_cast<std::int64_t>(b_.type(y).rank());
    if (rank + other > 4 || element_count(b_.type(x)) * element_count(b_.type(y)) > 20000) return;
    for (std::int64_t a = 0; a < rank; ++a) {
      for (std::int64_t c = 0; c < other; ++c) {
        const auto at = [&](ValueId v, std::int64_t i) {
          return b_.type(v).dims[static_cast<std::size_t>(i)];
        };
        if (at(x, a) == at(y, c)) {
          values_.push_back(emit::dot_general(b_, x, y, {{}, {}, {a}, {c}}));
          return;
        }
      }
    }
    values_.push_back(emit::dot_general(b_, x, y, {}));
  }

  std::mt19937 bits_;
  Builder b_;
  Values values_;
};

// A budget so small that a tile holds some dozen elements.
TEST(TiledProgram, RandomOnesAsTheInterpreter) {  // A10.4 A10.7
  for (unsigned seed = 1; seed <= 16; ++seed) {
    const Function f = RandomProgram(seed).make();
    std::vector<Tensor> inputs;
    std::vector<Literal> literals;
    for (const Input& in : f.inputs) {
      inputs.push_back(random_tensor(f.type(in.value), seed + 100, tiny_tiles().name));
      literals.push_back(to_literal(inputs.back()));
    }
    TiledProgram program(f, 400);
    const std::vector<Tensor> got = program.run(inputs, tiny_tiles());
    const std::vector<Literal> want = interpret(Program({f}), f.name, literals);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t o = 0; o < got.size(); ++o) {
      EXPECT_TRUE(to_literal(got[o]) == want[o]) << "seed " << seed << ", output " << o << "\n"
                                                 << to_text(Program({f}));
      EXPECT_EQ(got[o].storage()->carrier(), &tiny_tiles());
    }
  }
}

TEST(TiledProgram, AnyNumberOfThreads) {
  const Tensor x = random_tensor({DType::i32, {131, 257}}, 7, tiny_tiles().name);
  const std::vector<double> want = elements(sum(x * x, {0}));
  std::vector<std::thread> threads;
  std::vector<std::vector<double>> got(4);
  for (auto& g : got) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) g = elements(sum(x * x, {0}));
    });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& g : got) EXPECT_EQ(g, want);
}

}  // namespace
}  // namespace heddle
