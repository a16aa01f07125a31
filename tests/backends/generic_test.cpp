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

TEST(Generic, NarrowElementsBackwards) {
  for (DType dtype : {DType::i8, DType::u8, DType::i16}) {
    for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{0}, {1}, {0, 1}}) {
      check(
          "reverse",
          [&](Builder& b, std::int64_t m, std::int64_t n, std::int64_t) {
            b.output("y", emit::reverse(b, b.input("x", {dtype, {m, n}}), axes));
          },
          1);
    }
  }
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

// Right each time, and the first one's kernels serve all.
void share(const std::string& name, const std::vector<Program>& programs, double tolerance = 1e-4) {
  std::mt19937_64 random(20250105);
  std::set<std::string> texts;
  for (const Program& p : programs) {
    const std::unique_ptr<Executable> e = compile(p, {.generic = true});
    for (const Kernel& k : e->plan().kernels) {
      const bool fresh = texts.insert(to_text(k)).second;
      EXPECT_TRUE(!fresh || &p == &programs[0]) << name << "\n" << to_text(p) << to_text(k);
    }
    const std::vector<Literal> in = random_arguments(p.entry(), random);
    const auto got = e->run(p.entry().name, in), want = interpret(p, p.entry().name, in);
    for (std::size_t o = 0; o < want.size(); ++o) {
      expect_close(got[o], want[o], 1e-5, tolerance, name + "\n" + to_text(p));
    }
  }
}

template <class F>
Program program_of(F&& make) {
  Builder b("f");
  b.output("y", make(b));
  return Program({b.finish()});
}
std::vector<Program> gradients(const std::vector<Program>& programs,
                               const std::vector<std::string>& of) {
  std::vector<Program> result;
  for (const Program& p : programs) result.push_back(vjp(p, of));
  return result;
}

TEST(Generic, PaddingInsideAKernel) {
  std::vector<Program> programs;
  for (std::int64_t n : {10, 3, 1000}) {
    programs.push_back(program_of([&](Builder& b) {
      const ValueId x = b.input("x", f32({n})), zero = emit::scalar(b, DType::f32, 0);
      return emit::exp(b, emit::pad(b, x, zero, {1}, {n % 2 + 1}, {0}));
    }));
  }
  share("pad", programs);
}

TEST(Generic, SlicesInsideAKernel) {
  std::vector<Program> programs;
  for (std::int64_t n : {10, 5, 1000}) {
    programs.push_back(program_of([&](Builder& b) {
      const ValueId x = b.input("x", f32({n, 6}));
      return emit::sub(b, emit::slice(b, x, {1, 0}, {n, 6}, {1, 2}),
                       emit::slice(b, x, {0, 1}, {n - 1, 6}, {1, 2}));
    }));
  }
  share("differences", programs);
}

// Nothing but the result has these extents.
TEST(Generic, ExtentsOfNoInput) {
  std::vector<Program> programs;
  for (const auto& [m, n] : {std::pair{4, 5}, {30, 7}, {2, 900}}) {
    programs.push_back(program_of([&, m = m, n = n](Builder& b) {
      return emit::iota(b, DType::f32, {m, n}, 1);
    }));
  }
  share("iota", programs);
}

TEST(Generic, Windows) {
  const std::vector<WindowAttributes> kinds = {
      {{1, 2, 2}, {1, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}},
      {{1, 3, 3}, {1, 2, 1}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {{1, 2, 3}, {1, 1, 2}, {0, -1, 0}, {0, 0, 2}, {1, 2, 1}, {1, 1, 3}},
      {{1, 1, 40}, {1, 1, 3}, {0, 0, 20}, {0, 0, 19}, {1, 1, 1}, {1, 1, 1}}};
  for (const WindowAttributes& w : kinds) {
    for (const Operation* op : {&op_reduce_window_max, &op_reduce_window_sum}) {
      std::vector<Program> programs;
      for (const Dims& dims : {Dims{4, 12, 13}, Dims{2, 9, 40}, Dims{7, 30, 60}, Dims{3, 8, 41}}) {
        programs.push_back(program_of(
            [&](Builder& b) { return b.emit(*op, {b.input("x", f32(dims))}, Attributes::of(w)); }));
      }
      share(std::string(op->name), programs);
      share(std::string(op->name), gradients(programs, {"x"}));
    }
  }
}

TEST(Generic, Convolutions) {
  const std::vector<ConvAttributes> kinds = {{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
                                             {{2, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}},
                                             {{1, 1}, {0, 1}, {1, 0}, {2, 1}, {1, 1}}};
  struct Size {
    std::int64_t images, channels, height, width, outputs;
  };
  constexpr Size kSizes[] = {{2, 4, 12, 9, 8}, {5, 8, 8, 24, 5}, {3, 17, 16, 60, 33}};
  for (const ConvAttributes& c : kinds) {
    std::vector<Program> programs;
    for (const Size& s : kSizes) {
      programs.push_back(program_of([&](Builder& b) {
        const ValueId x = b.input("x", f32({s.images, s.channels, s.height, s.width}));
        const ValueId w = b.input("w", f32({s.outputs, s.channels, 3, 3}));
        return b.emit(op_conv_general, {x, w}, Attributes::of(c));
      }));
    }
    share("conv", programs);
    share("gradients of conv", gradients(programs, {"x", "w"}), 1e-2);
  }
}

TEST(Generic, FewColumnsOrOutputsOfConvolutions) {
  std::vector<Program> programs;
  for (const auto& [n, o, height] : {std::tuple{2, 2, 9}, {3, 3, 20}, {5, 2, 6}}) {
    programs.push_back(program_of([&, n = n, o = o, height = height](Builder& b) {
      const ValueId x = b.input("x", f32({n, 12, height, 5})), w = b.input("w", f32({o, 12, 3, 3}));
      return b.emit(op_conv_general, {x, w},
                    Attributes::of(ConvAttributes{{1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}}));
    }));
  }
  share("conv", programs);
}

TEST(Generic, GroupsOfConvolutions) {
  std::vector<Program> programs;
  for (std::int64_t width : {8, 50, 33}) {
    programs.push_back(program_of([&](Builder& b) {
      const ValueId x = b.input("x", f32({3, 6, width, width})),
                    w = b.input("w", f32({6, 2, 3, 3}));
      return b.emit(op_conv_general, {x, w},
                    Attributes::of(ConvAttributes{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 3}));
    }));
  }
  share("conv", programs);
  share("gradients of conv", gradients(programs, {"x", "w"}), 1e-2);
}

// On both sides of the length where the way of sorting changes.
TEST(Generic, Sorts) {
  for (std::int64_t axis : {0, 1}) {
    for (bool descending : {false, true}) {
      for (bool cut : {false, true}) {
        std::vector<Program> programs;
        for (const Dims& dims : {Dims{7, 9}, Dims{128, 129}, Dims{3, 1000}, Dims{500, 3}}) {
          programs.push_back(program_of([&](Builder& b) {
            const std::int64_t n = dims[static_cast<std::size_t>(axis)].constant();
            const ArgsortAttributes a{axis, cut ? n - 1 : n, descending, false};
            return b.emit(op_argsort, {b.input("x", f32(dims))}, Attributes::of(a));
          }));
        }
        share("argsort", programs);
      }
    }
  }
}

// Nothing is a symbol then: what the attributes say of it must still hold.
TEST(Generic, ExtentsOfOne) {
  share("argsort", {program_of([](Builder& b) {
          const ArgsortAttributes a{1, 1, false, false};
          return b.emit(op_argsort, {b.input("x", f32({1, 1}))}, Attributes::of(a));
        })});
  share("pad", {program_of([](Builder& b) {
          const ValueId x = emit::convert(b, b.input("x", {DType::i32, {1}}), DType::f32);
          const ValueId zero = b.input("zero", f32({}));
          return b.emit(op_pad, {x, zero}, Attributes::of(PadAttributes{{1}, {-1}, {0}}));
        })});
  share("conv", {program_of([](Builder& b) {
          const ValueId x = b.input("x", f32({1, 1, 1})), w = b.input("w", f32({1, 1, 1}));
          return b.emit(op_conv_general, {x, w},
                        Attributes::of(ConvAttributes{{1}, {1}, {-1}, {1}, {1}}));
        })});
}

TEST(Generic, SortedValues) {
  for (const Operation* op : {&op_sort, &op_top_k}) {
    std::vector<Program> programs;
    for (const Dims& dims : {Dims{7, 9}, Dims{40, 300}}) {
      programs.push_back(program_of([&](Builder& b) {
        const Attributes a = op == &op_sort ? Attributes::of(SortAttributes{1, false})
                                            : Attributes::of(TopKAttributes{5});
        return b.add(*op, {{b.input("x", f32(dims))}}, a)[0];
      }));
    }
    share(std::string(op->name), programs);
  }
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
