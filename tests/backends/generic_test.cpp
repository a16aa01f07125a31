// Kernels whose extents are symbols: one compiled kernel, right for every extent.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "backends/kernel_runner.h"
#include "heddle/backends/compile.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/text.h"
#include "ops/support.h"

namespace heddle::testing {
namespace {

Type f32(Dims dims) { return {DType::f32, std::move(dims)}; }

using Make = std::function<void(Builder&, std::int64_t m, std::int64_t n, std::int64_t k)>;

std::vector<Literal> random_arguments(const Function& f, std::mt19937_64& random) {
  std::vector<Literal> arguments;
  for (const Input& in : f.inputs) {
    std::uniform_real_distribution<double> range(-2, 2);
    std::vector<double> values;
    const Type& type = f.type(in.value);
    for (std::int64_t i = 0; i < element_count(type); ++i) values.push_back(range(random));
    const Literal wide = make_literal<double>(type.dims, std::span<const double>(values));
    arguments.push_back(convert(wide, type.dtype));
  }
  return arguments;
}

// Right at every size, and the sizes share their kernels: at most `kernels` texts.
void check(const std::string& name, const Make& make, std::size_t kernels) {
  constexpr std::int64_t kSizes[][3] = {{1, 1, 1},  {2, 3, 5},    {7, 8, 9},    {16, 16, 16},
                                        {33, 5, 1}, {64, 100, 3}, {1, 1000, 7}, {257, 130, 65}};
  std::mt19937_64 random(20241130);
  std::set<std::string> large;
  for (const auto& [m, n, k] : kSizes) {
    Builder b("f");
    make(b, m, n, k);
    const Program program({b.finish()});
    const std::unique_ptr<Executable> e = compile(program, {.generic = true});
    const std::vector<Literal> arguments = random_arguments(program.entry(), random);
    const auto got = e->run("f", arguments), want = interpret(program, "f", arguments);
    for (std::size_t o = 0; o < want.size(); ++o) {
      // Rounding errors of a sum grow as the root of its length.
      const double atol = 1e-5 * std::sqrt(static_cast<double>(m * n * k));
      expect_close(
          got[o], want[o], 1e-5, atol,
          name + " " + std::to_string(m) + "," + std::to_string(n) + "," + std::to_string(k));
    }
    if (m < 16 || n < 16) continue;
    for (const Kernel& kernel : e->plan().kernels) large.insert(to_text(kernel));
  }
  EXPECT_LE(large.size(), kernels) << name;
}

TEST(Generic, ElementwiseAndBroadcasts) {
  check(
      "add",
      [](Builder& b, std::int64_t m, std::int64_t n, std::int64_t) {
        b.output("y", emit::add(b, b.input("x", f32({m, n})), b.input("z", f32({m, n}))));
      },
      1);
  check(
      "chain",
      [](Builder& b, std::int64_t m, std::int64_t n, std::int64_t) {
        const ValueId x = b.input("x", f32({m, n})), u = b.input("u", f32({n}));
        const ValueId v = b.input("v", f32({m}));
        const ValueId y = emit::add(b, emit::mul(b, x, emit::broadcast_in_dim(b, u, {m, n}, {1})),
                                    emit::broadcast_in_dim(b, v, {m, n}, {0}));
        b.output("y", emit::exp(b, emit::mul(b, y, 0.5)));
      },
      1);
}

TEST(Generic, Reductions) {
  for (const std::vector<std::int64_t>& axes :
       {std::vector<std::int64_t>{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}}) {
    check(
        "reduce_sum",
        [&](Builder& b, std::int64_t m, std::int64_t n, std::int64_t k) {
          b.output("y", emit::reduce_sum(b, b.input("x", f32({m, n, k})), axes));
        },
        3);
  }
  check(
      "argmax",
      [](Builder& b, std::int64_t m, std::int64_t n, std::int64_t) {
        const ValueId x = b.input("x", f32({m, n}));
        b.output("y", b.add(op_argmax, {{x}}, Attributes({{"axis", std::int64_t{1}}}))[0]);
      },
      1);
}

TEST(Generic, RowsOfSeveralLoops) {
  for (const Operation* op : {&op_softmax, &op_log_softmax, &op_logsumexp}) {
    check(
        std::string(op->name),
        [&](Builder& b, std::int64_t m, std::int64_t n, std::int64_t) {
          const ValueId x = b.input("x", f32({m, n}));
          const Workload row = op->strict.workloads()[0];
          std::vector<Attributes::Entry> entries;
          for (const auto& [name, value] : row.attributes.entries()) {
            entries.push_back({name, name == "axis"   ? Attribute(std::int64_t{1})
                                     : name == "axes" ? Attribute(std::vector<std::int64_t>{1})
                                                      : value});
          }
          b.output("y", b.add(*op, {{x}}, Attributes(entries))[0]);
        },
        2);
  }
}

TEST(Generic, Contractions) {
  for (const bool lhs_transposed : {false, true}) {
    for (const bool rhs_transposed : {false, true}) {
      check(
          "dot",
          [&](Builder& b, std::int64_t m, std::int64_t n, std::int64_t k) {
            const ValueId x = b.input("x", f32(lhs_transposed ? Dims{k, m} : Dims{m, k}));
            const ValueId y = b.input("y", f32(rhs_transposed ? Dims{n, k} : Dims{k, n}));
            b.output("z",
                     b.add(op_dot_general, {{x, y}},
                           Attributes::of(DotAttributes{
                               {}, {}, {lhs_transposed ? 0 : 1}, {rhs_transposed ? 1 : 0}}))[0]);
          },
          3);
    }
  }
}

TEST(Generic, BatchesOfContractions) {
  check(
      "dot",
      [&](Builder& b, std::int64_t m, std::int64_t n, std::int64_t k) {
        const ValueId x = b.input("x", f32({3, m, k})), y = b.input("y", f32({3, k, n}));
        b.output("z", b.add(op_dot_general, {{x, y}},
                            Attributes::of(DotAttributes{{0}, {0}, {2}, {1}}))[0]);
      },
      3);
}

TEST(Generic, GatherAndScatter) {
  check(
      "gather",
      [](Builder& b, std::int64_t m, std::int64_t n, std::int64_t k) {
        const ValueId x = b.input("x", f32({m, n})), i = b.input("i", {DType::i32, {k}});
        b.output("y", b.add(op_gather, {{x, i}}, Attributes::of(GatherAttributes{0, "drop"}))[0]);
      },
      2);
  check(
      "scatter",
      [](Builder& b, std::int64_t m, std::int64_t n, std::int64_t k) {
        const ValueId x = b.input("x", f32({m, n})), i = b.input("i", {DType::i32, {k}});
        const ValueId u = b.input("u", f32({k, n}));
        b.output("y",
                 b.add(op_scatter, {{x, i, u}}, Attributes::of(GatherAttributes{0, "drop"}))[0]);
      },
      2);
}

TEST(Generic, Scans) {
  for (std::int64_t axis : {0, 1, 2}) {
    for (const Operation* op : {&op_cumsum, &op_cummax}) {
      for (bool reverse : {false, true}) {
        const CumulativeAttributes a{axis, reverse, axis == 1};
        check(
            std::string(op->name) + " " + std::to_string(axis),
            [&](Builder& b, std::int64_t m, std::int64_t n, std::int64_t k) {
              const ValueId x = b.input("x", f32({m, k, n}));
              b.output("y", b.emit(*op, {x}, Attributes::of(a)));
            },
            2);
      }
    }
  }
}

TEST(Generic, WhatFollowsFromNumbersStaysConcrete) {
  Builder b("f");
  const ValueId x = b.input("x", f32({10}));
  b.output("y", emit::exp(b, emit::pad(b, x, emit::scalar(b, DType::f32, 0), {1}, {2}, {0})));
  const std::unique_ptr<Executable> e = compile(Program({b.finish()}), {.generic = true});
  const std::vector<Literal> ones{splat(f32({10}), 0)};
  for (double v : to_doubles(e->run("f", ones)[0])) EXPECT_EQ(v, 1);
}

// The way back of a sum and of a product, as concrete calls take it: one set of kernels, whatever
// the extents.
TEST(Generic, GradientsOfSumsAndProducts) {
  std::set<std::string> kernels;
  std::mt19937_64 random(20241231);
  for (std::int64_t n : {37, 50, 129}) {
    Builder sum("sum"), product("product");
    const ValueId v = sum.input("x", f32({n, 3}));
    sum.output("y", emit::reduce_sum(sum, v, {0}));
    const ValueId x = product.input("x", f32({n, 3})), w = product.input("w", f32({3, n + 1}));
    product.output("y", emit::dot_general(product, x, w, DotAttributes{{}, {}, {1}, {0}}));
    const Program derived[] = {
        vjp(Program({sum.finish()}), std::vector<std::string>{"x"}),
        vjp(Program({product.finish()}), std::vector<std::string>{"x", "w"})};
    for (const Program& p : derived) {
      const std::unique_ptr<Executable> e = compile(p, {.generic = true});
      for (const Kernel& k : e->plan().kernels) kernels.insert(to_text(k));
      const std::vector<Literal> in = random_arguments(p.entry(), random);
      const auto got = e->run(p.entry().name, in), want = interpret(p, p.entry().name, in);
      for (std::size_t o = 0; o < want.size(); ++o) expect_close(got[o], want[o], 1e-5, 1e-4, "");
    }
  }
  EXPECT_LE(kernels.size(), 6u);
}

// Slices, paddings and concatenations by themselves are copies.
TEST(Generic, MovementAloneIsCopied) {
  std::mt19937_64 random(20240915);
  const auto check = [&](const Function& f) {
    std::vector<Literal> in;
    for (const Input& i : f.inputs) {
      in.push_back(ops_test::random_literal(f.type(i.value), -9, 9, random));
    }
    const Program p({f});
    const std::unique_ptr<Executable> e = compile(p, {.generic = true});
    EXPECT_TRUE(e->plan().kernels.empty()) << to_text(f);
    EXPECT_EQ(e->run(f.name, in)[0], interpret(p, f.name, in)[0]) << to_text(f);
  };
  for (DType t : {DType::f32, DType::i8, DType::f64, DType::boolean}) {
    Builder b("slice");
    const ValueId x = b.input("x", {t, {7, 9, 2}});
    b.output("y", emit::slice(b, x, {1, 0, 1}, {6, 9, 2}, {2, 3, 1}));
    check(b.finish());
    Builder r("broadcast");
    const ValueId z = r.input("z", {t, {5, 1}});
    r.output("y", r.emit(op_broadcast_in_dim, {z},
                         Attributes::of(BroadcastAttributes{{2, 5, 3}, {1, 2}})));
    check(r.finish());
    Builder c("concatenate");
    const ValueId u = c.input("u", {t, {3, 2, 4}}), v = c.input("v", {t, {3, 5, 4}});
    c.output("y", c.emit(op_concatenate, {u, v, u}, Attributes::of(AxisAttributes{1})));
    check(c.finish());
  }
  const std::vector<std::int64_t> pads[][3] = {{{1, 0}, {2, 3}, {0, 0}},
                                               {{-1, -2}, {0, 1}, {0, 2}},
                                               {{2, -1}, {-3, -1}, {1, 0}},
                                               {{-4, 0}, {-3, 0}, {0, 0}},
                                               {{-9, 12}, {12, 0}, {0, 0}}};
  for (const auto& [low, high, interior] : pads) {
    for (bool constant : {false, true}) {
      Builder b("pad");
      const ValueId x = b.input("x", f32({7, 5}));
      const ValueId value = constant ? emit::scalar(b, DType::f32, 0.5) : b.input("v", f32({}));
      b.output("y", emit::pad(b, x, value, low, high, interior));
      check(b.finish());
    }
  }
}

}  // namespace
}  // namespace heddle::testing
