// Every primitive as a kernel, by its own workload rows and by special values, against the
// reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/operation_rows.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/text.h"
#include "ops/support.h"

namespace heddle::testing {
namespace {

using ops_test::kInf;
using ops_test::kNaN;

// Each kernel runs with its buffers at either end of pages that end there, too: it reads and writes
// nothing beside them.
void check_rows(const std::vector<Row>& rows, std::size_t batch, RecipeKind kind) {
  std::vector<Function> bodies;
  std::vector<Kernel> kernels;
  for (std::size_t r = 0; r < rows.size(); r += batch) {
    bodies.push_back(side_by_side(std::span(rows).subspan(r, std::min(batch, rows.size() - r))));
    kernels.push_back(kernel_of(bodies.back(), kind));
  }
  KernelRunner runner(kernels);
  std::mt19937_64 random(20240607);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    std::vector<Literal> inputs;
    for (std::size_t r = k * batch; r < std::min(rows.size(), (k + 1) * batch); ++r) {
      const Workload& w = rows[r].workload;
      for (Literal& l : ops_test::random_operands(w, w.operands, random)) inputs.push_back(l);
    }
    const auto want = ops_test::run(Program({bodies[k]}), inputs);
    const auto got = runner.run(k, inputs);
    for (std::size_t o = 0; o < want.size(); ++o) {
      const double tolerance = tolerance_of(*rows[k * batch + o].op, want[o].type.dtype);
      expect_close(got[o], want[o], tolerance, tolerance,
                   to_text(bodies[k]) + "output " + std::to_string(o));
    }
    for (Guard guard : {Guard::before, Guard::behind}) {
      const auto guarded = runner.run_guarded(k, inputs, guard);
      for (std::size_t o = 0; o < want.size(); ++o) {
        EXPECT_EQ(*guarded[o].bytes, *got[o].bytes) << to_text(bodies[k]) << "output " << o;
      }
    }
  }
}

TEST(Operations, TheirRowsAgreeWithTheReferenceAndStayInsideTheirOperands) {
  const std::vector<Row> rows = compiled_rows();
  ASSERT_GT(rows.size(), 80u);
  check_rows(rows, 16, RecipeKind::map);
  auto check = [&](Pattern pattern, RecipeKind kind) {
    std::vector<Row> some;
    for (const Row& r : rows) {
      if (r.op->strict.pattern == pattern) some.push_back(r);
    }
    check_rows(some, 1, kind);
  };
  check(Pattern::reduce, RecipeKind::rows);
  check(Pattern::reduce, RecipeKind::columns);
  check(Pattern::contract, RecipeKind::contract);
  check(Pattern::scatter, RecipeKind::scatter);
  check(Pattern::scan, RecipeKind::fibres);
  check(Pattern::sort, RecipeKind::fibres);
}

// Every operation of floats of one or two operands, on every pair of special values.
void check_specials(const Precision& precision) {
  std::vector<double> first, second;
  for (double a : kSpecials) {
    for (double b : kSpecials) first.push_back(a), second.push_back(b);
  }
  const Literal x = ops_test::vector_of(precision.dtype, first),
                y = ops_test::vector_of(precision.dtype, second);
  std::vector<const Operation*> ops;
  std::vector<Kernel> kernels;
  std::vector<Function> bodies;
  for (const Operation* op : built_in_operations()) {
    if (op->strict.pattern != Pattern::elementwise || op->strict.decompose != nullptr) continue;
    const std::size_t count = op->strict.roles.size();
    if (count > 2 || op == &op_compare || op == &op_convert || op == &op_bitcast) continue;
    try {
      const Program p = ops_test::program_of(*op, std::vector<Type>(count, x.type));
      bodies.push_back(p.entry());
      kernels.push_back(kernel_of(p.entry(), RecipeKind::map));
      ops.push_back(op);
    } catch (const TypeError&) {
      // not an operation of floats
    }
  }
  ASSERT_GT(kernels.size(), 40u);
  KernelRunner runner(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<Literal> inputs{x, y};
    inputs.resize(bodies[i].inputs.size());
    const auto want = ops_test::run(Program({bodies[i]}), inputs);
    expect_special(runner.run(i, inputs)[0], want[0], precision,
                   std::string(ops[i]->name) + " " + std::string(name_of(precision.dtype)));
  }
}

TEST(Operations, SpecialValuesOfF32AreTheReferences) { check_specials(kPrecisions[0]); }
TEST(Operations, SpecialValuesOfF64AreTheReferences) { check_specials(kPrecisions[1]); }
TEST(Operations, SpecialValuesOf16BitFloatsAreTheReferences) {
  check_specials(kPrecisions[2]);
  check_specials(kPrecisions[3]);
}

// What an operation made of a NaN or an infinity is seen by those that ask for it: generated code
// may assume that arithmetic gives neither.
TEST(Operations, PredicatesSeeWhatOperationsMake) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Literal x = ops_test::vector_of(dtype, kSpecials);
    std::vector<Function> bodies;
    std::vector<Kernel> kernels;
    for (const Operation* op : built_in_operations()) {
      if (op->strict.pattern != Pattern::elementwise || op->strict.decompose != nullptr) continue;
      if (op->strict.roles.size() > 2) continue;
      Builder b("seen");
      const ValueId v = b.input("x", x.type);
      try {
        const DType other = dtype == DType::f32 ? DType::f64 : DType::f32;
        const ValueId y = op == &op_convert              ? emit::convert(b, v, other)
                          : op->strict.roles.size() == 1 ? b.emit(*op, {v})
                                                         : b.emit(*op, {v, v});
        if (!is_floating(b.type(y).dtype)) continue;
        b.output("nan", b.emit(op_is_nan, {y}));
        b.output("infinite", b.emit(op_is_inf, {y}));
        b.output("finite", b.emit(op_is_finite, {y}));
        b.output("itself", emit::compare(b, "eq", y, y));
        b.output("nothing", emit::mul(b, y, 0));
      } catch (const TypeError&) {
        continue;  // not an operation of floats, or one with attributes
      }
      bodies.push_back(b.finish());
      kernels.push_back(kernel_of(bodies.back(), RecipeKind::map));
    }
    ASSERT_GT(kernels.size(), 35u);
    KernelRunner runner(kernels);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const std::vector<Literal> in{x};
      const auto want = ops_test::run(Program({bodies[k]}), in), got = runner.run(k, in);
      for (std::size_t o = 0; o < want.size(); ++o) {
        ops_test::expect_same(got[o], to_doubles(want[o]),
                              to_text(bodies[k]) + bodies[k].outputs[o].name);
      }
    }
  }
}

Literal whole(DType dtype, const std::vector<std::int64_t>& values) {
  return dispatch_dtype(dtype, [&](auto t) -> Literal {
    using T = typename decltype(t)::type;
    std::vector<T> elements;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for (std::int64_t v : values) elements.push_back(static_cast<T>(v));
      return make_literal<T>({static_cast<std::int64_t>(values.size())}, elements);
    } else {
      throw InternalError({.message = "whole numbers of an integer dtype"});
    }
  });
}
// The ends of every width, and amounts around them.
const std::vector<std::int64_t> kWhole = {0,
                                          1,
                                          -1,
                                          2,
                                          -2,
                                          3,
                                          -3,
                                          7,
                                          -7,
                                          8,
                                          15,
                                          16,
                                          31,
                                          32,
                                          63,
                                          64,
                                          65,
                                          127,
                                          -128,
                                          255,
                                          256,
                                          32767,
                                          -32768,
                                          65535,
                                          2147483647,
                                          -2147483648,
                                          -2147483647,
                                          4294967295,
                                          9007199254740993,
                                          (std::int64_t{1} << 60) + (std::int64_t{1} << 52) + 1,
                                          (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1,
                                          std::numeric_limits<std::int64_t>::max(),
                                          std::numeric_limits<std::int64_t>::min(),
                                          std::numeric_limits<std::int64_t>::min() + 1};

TEST(Operations, IntegersWrapAndTruncateAsTheReference) {  // F5, F6
  std::vector<std::int64_t> first, second;
  for (std::int64_t a : kWhole) {
    for (std::int64_t b : kWhole) first.push_back(a), second.push_back(b);
  }
  std::vector<Function> bodies;
  std::vector<Kernel> kernels;
  std::vector<std::vector<Literal>> inputs;
  for (DType dtype : kAllDTypes) {
    if (!is_integer(dtype)) continue;
    inputs.push_back({whole(dtype, first), whole(dtype, second)});
    Builder b("integers");
    const ValueId x = b.input("x", inputs.back()[0].type), y = b.input("y", inputs.back()[1].type);
    for (const Operation* op :
         {&op_add, &op_sub, &op_mul, &op_div, &op_rem, &op_pow, &op_max, &op_min, &op_and_, &op_or_,
          &op_xor_, &op_shl, &op_shr, &op_neg, &op_abs, &op_sign, &op_not_}) {
      const bool two = op->strict.roles.size() == 2;
      b.output(std::string(op->name), two ? b.emit(*op, {x, y}) : b.emit(*op, {x}));
    }
    bodies.push_back(b.finish());
    kernels.push_back(kernel_of(bodies.back(), RecipeKind::map));
  }
  KernelRunner runner(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto want = ops_test::run(Program({bodies[k]}), inputs[k]),
               got = runner.run(k, inputs[k]);
    for (std::size_t o = 0; o < want.size(); ++o) {
      for (std::size_t i = 0; i < first.size(); ++i) {
        const std::size_t bytes = size_of(want[o].type.dtype);
        ASSERT_EQ(
            std::memcmp(want[o].bytes->data() + i * bytes, got[o].bytes->data() + i * bytes, bytes),
            0)
            << bodies[k].outputs[o].name << " of " << to_text(want[o].type) << ": " << first[i]
            << ", " << second[i];
      }
    }
  }
}

// Numbers between two floats of each width, at the middle and beside it: rounding twice would show.
const std::vector<double> kBetween = {0x1.002p0,
                                      0x1.002p0 + 0x1p-40,
                                      0x1.006p0 - 0x1p-45,
                                      0x1.01p0,
                                      0x1.01p0 + 0x1p-50,
                                      0x1.03p0 - 0x1p-50,
                                      65519.99999999,
                                      65520,
                                      0x1p-25,
                                      0x1p-25 + 0x1p-70,
                                      0x1p-134,
                                      0x1p-134 + 0x1p-180,
                                      0x1.ffp127,
                                      0x1.feffffffffp127,
                                      0x1.fffffep127,
                                      0x1.ffffffp127,
                                      1e300,
                                      9007199254740992.0,
                                      9223372036854774784.0,
                                      9223372036854775808.0,
                                      18446744073709549568.0,
                                      18446744073709551616.0,
                                      -0.9,
                                      127.9,
                                      255.9,
                                      -128.9,
                                      -129,
                                      0x1p-1074,
                                      0x1p-149,
                                      0x1p-150};

TEST(Operations, ConversionsAndComparisonsAreTheReferences) {  // F12 and casts out of range
  std::vector<Kernel> kernels;
  std::vector<Function> bodies;
  std::vector<std::vector<Literal>> inputs;
  std::vector<double> floats = kSpecials;
  for (double v : kBetween) floats.push_back(v), floats.push_back(-v);
  for (DType from : kAllDTypes) {
    const Literal x = is_floating(from)  ? ops_test::vector_of(from, floats)
                      : is_integer(from) ? whole(from, kWhole)
                                         : ops_test::vector_of(from, {0, 1, 1, 0});
    const std::size_t n = x.bytes->size() / size_of(from);
    std::vector<double> turned = to_doubles(x);
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(n / 3), turned.end());
    inputs.push_back({x, ops_test::vector_of(from, turned)});
    Builder b("conversions");
    const ValueId v = b.input("x", x.type), w = b.input("y", x.type);
    for (DType to : kAllDTypes) {
      b.output(std::string(name_of(to)),
               b.emit(op_convert, {v}, Attributes::of(ConvertAttributes{to})));
    }
    for (const char* direction : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      b.output(direction, emit::compare(b, direction, v, w));
    }
    bodies.push_back(b.finish());
    kernels.push_back(kernel_of(bodies.back(), RecipeKind::map));
  }
  KernelRunner runner(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto want = ops_test::run(Program({bodies[k]}), inputs[k]),
               got = runner.run(k, inputs[k]);
    for (std::size_t o = 0; o < want.size(); ++o) {
      const std::string what = to_text(inputs[k][0].type) + " to " + bodies[k].outputs[o].name;
      ops_test::expect_same(got[o], to_doubles(want[o]), what);
      if (is_floating(want[o].type.dtype)) continue;
      EXPECT_EQ(got[o], want[o]) << what;
    }
  }
}

// Every pattern of 16 bits: in, through, and out again; moved, they are in memory as f16 or bf16.
TEST(Operations, SixteenBitFloatsKeepTheirBits) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const Literal bits = make_literal<std::uint16_t>({65536}, all);
  for (DType dtype : {DType::f16, DType::bf16}) {
    Builder b("bits");
    const ValueId x = b.input("x", bits.type);
    const ValueId f = b.emit(op_bitcast, {x}, Attributes::of(ConvertAttributes{dtype}));
    b.output("same", b.emit(op_bitcast, {f}, Attributes::of(ConvertAttributes{DType::u16})));
    b.output("wide", emit::convert(b, f, DType::f32));
    b.output("twice", emit::add(b, f, f));
    b.output("third", emit::mul(b, f, 1.0 / 3));
    const Literal elements{{dtype, {65536}}, bits.bytes};
    b.output("moved", emit::reverse(b, b.input("y", elements.type), {0}));
    const Function body = b.finish();
    const std::vector<Literal> in{bits, elements};
    const auto want = ops_test::run(Program({body}), in);
    const auto got = KernelRunner({kernel_of(body, RecipeKind::map)}).run(0, in);
    EXPECT_EQ(got[0], bits);
    EXPECT_EQ(*got.back().bytes, *want.back().bytes);
    for (std::size_t o = 1; o + 1 < want.size(); ++o) {
      ops_test::expect_same(got[o], to_doubles(want[o]), body.outputs[o].name);
    }
  }
}

}  // namespace
}  // namespace heddle::testing
