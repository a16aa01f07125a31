// Scans, sorts, windows and convolutions on regular and ragged sizes, alone and among other
// operations: values, threads, regions.
#include <gtest/gtest.h>

#include "backends/cases.h"
#include "heddle/graph/op_attributes.h"
#include "ops/support.h"

namespace heddle::testing {
namespace {

std::string sizes(const Dims& d) { return " " + to_text(d); }

// ---- scans ----

// The operand is computed, and so is what is made of the result.
Function scan(const Operation& op, DType dtype, const Dims& d, CumulativeAttributes a) {
  Builder b("scan");
  const ValueId x = b.input("x", {dtype, d}), y = b.input("y", {dtype, d});
  const ValueId s = b.emit(op, {emit::add(b, x, y)}, Attributes::of(a));
  b.output("z", emit::mul(b, s, y));
  b.output("s", s);
  return b.finish();
}

std::vector<KernelCase> scan_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](const Operation& op, DType dtype, Dims d, CumulativeAttributes a) {
    cases.push_back(
        {std::string(op.name) + sizes(d), scan(op, dtype, d, a), RecipeKind::fibres, {}, 1e-4});
  };
  for (const Dims& d : {Dims{1}, Dims{7}, Dims{16}, Dims{77}, Dims{3, 33}, Dims{64, 1000}}) {
    const auto last = static_cast<std::int64_t>(d.size()) - 1;
    add(op_cumsum, DType::f32, d, {last});
    add(op_cummax, DType::f32, d, {last, true, true});
  }
  for (const Dims& d : {Dims{5, 8}, Dims{7, 3}, Dims{33, 77}, Dims{300, 520}, Dims{3, 9, 20}}) {
    add(op_cumsum, DType::f32, d, {0});
    add(op_cummin, DType::i32, d, {0, true});
    add(op_cumsum, DType::i32, d, {0, false, true});
  }
  add(op_cumsum, DType::f32, {3, 9, 20}, {1});
  add(op_cumprod, DType::i32, {3, 9, 4}, {1});
  add(op_cumsum, DType::i8, {5, 100}, {1});
  add(op_cummax, DType::f64, {5, 100}, {1});
  add(op_cumsum, DType::u16, {40, 50}, {0});
  return cases;
}

TEST(ScanKernels, AgreeWithTheInterpreter) { check_cases(scan_cases(), false); }
TEST(ScanKernels, StayInsideTheirBuffers) { check_cases(scan_cases(), true); }

// ---- sorts ----

Function order(DType dtype, const Dims& d, ArgsortAttributes a) {
  Builder b("order");
  const ValueId x = b.input("x", {dtype, d});
  b.output("y", b.emit(op_argsort, {x}, Attributes::of(a)));
  return b.finish();
}

std::vector<KernelCase> sort_cases() {
  std::vector<KernelCase> cases;
  for (std::int64_t n : {1, 2, 7, 8, 31, 33, 127, 128, 129, 1000, 5000}) {
    for (DType t : {DType::f32, DType::i32, DType::u8, DType::f64, DType::i16, DType::u64}) {
      const Dims d{3, n};
      cases.push_back({"sort" + sizes(d), order(t, d, {1, n, n % 2 == 0}), RecipeKind::fibres});
    }
  }
  for (std::int64_t n : {5, 40, 300}) {
    const Dims d{2, n, 6};
    cases.push_back({"sort" + sizes(d), order(DType::f32, d, {1, n}), RecipeKind::fibres});
    cases.push_back({"first" + sizes(d), order(DType::f32, d, {1, 3, true}), RecipeKind::fibres});
  }
  cases.push_back({"many", order(DType::f32, {600, 300}, {1, 300}), RecipeKind::fibres});
  return cases;
}

TEST(SortKernels, AgreeWithTheInterpreter) { check_cases(sort_cases(), false); }
TEST(SortKernels, StayInsideTheirBuffers) { check_cases(sort_cases(), true); }

// Ties, zeros of both signs, infinities, NaNs: on both sides of where the method changes.
TEST(SortKernels, SpecialValuesAreTheReferences) {
  const std::vector<double> specials = {
      2, ops_test::kNaN, -0.0,  0, ops_test::kInf, 1e-40, -1e-40, -ops_test::kInf,
      2, ops_test::kNaN, -3e38, 0};
  std::vector<Kernel> kernels;
  std::vector<Function> bodies;
  std::vector<Literal> inputs;
  for (std::int64_t n : {12, 100, 400}) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i)
      values.push_back(specials[static_cast<std::size_t>(i * 7 % 12)]);
    for (DType t : {DType::f32, DType::f64}) {
      for (bool descending : {false, true}) {
        for (bool first : {false, true}) {
          bodies.push_back(order(t, {n}, {0, n, descending, first}));
          kernels.push_back(kernel_of(bodies.back(), RecipeKind::fibres));
          inputs.push_back(ops_test::vector_of(t, values));
        }
      }
    }
  }
  KernelRunner runner(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::vector<Literal> one{inputs[i]};
    const auto want = ops_test::run(Program({bodies[i]}), one);
    EXPECT_EQ(to_doubles(runner.run(i, one)[0]), to_doubles(want[0])) << i;
  }
}

// ---- windows and convolutions ----

Function window(const Operation& op, DType dtype, const Dims& d, WindowAttributes a) {
  Builder b("window");
  const ValueId x = b.input("x", {dtype, d});
  const ValueId w = b.emit(op, {emit::add(b, x, x)}, Attributes::of(a));
  b.output("y", emit::mul(b, w, w));
  return b.finish();
}

std::vector<KernelCase> window_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](const Operation& op, DType dtype, Dims d, WindowAttributes a) {
    cases.push_back({std::string(op.name) + sizes(d),
                     window(op, dtype, d, std::move(a)),
                     RecipeKind::map,
                     {},
                     1e-5});
  };
  for (const Operation* op :
       {&op_reduce_window_sum, &op_reduce_window_max, &op_reduce_window_min}) {
    add(*op, DType::f32, {2, 3, 17, 33},
        {{1, 1, 3, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}, {0, 0, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}});
    add(*op, DType::i32, {40, 50}, {{9, 7}, {1, 1}, {4, 3}, {4, 3}, {1, 1}, {1, 1}});
    add(*op, DType::f32, {100}, {{50}, {3}, {10}, {7}, {1}, {1}});
    add(*op, DType::f32, {31}, {{3}, {2}, {4}, {3}, {3}, {2}});
    add(*op, DType::i8, {5, 90}, {{1, 4}, {1, 1}, {0, 0}, {0, 2}, {1, 1}, {1, 1}});
  }
  for (DType t : {DType::i8, DType::u8}) {  // F14
    for (std::int64_t n : {16, 17, 18}) {
      add(op_reduce_window_min, t, {n}, {{n}, {1}, {0}, {0}, {1}, {1}});
      add(op_reduce_window_min, t, {n}, {{n / 2}, {n / 2}, {1}, {0}, {1}, {1}});
    }
  }
  return cases;
}

TEST(WindowKernels, AgreeWithTheInterpreter) { check_cases(window_cases(), false); }
TEST(WindowKernels, StayInsideTheirBuffers) { check_cases(window_cases(), true); }

// conv, bias of each output channel, relu.
Function conv(DType dtype, const Dims& xd, const Dims& wd, ConvAttributes a) {
  Builder b("conv");
  const ValueId x = b.input("x", {dtype, xd}), w = b.input("w", {dtype, wd});
  const ValueId bias = b.input("bias", {dtype, {wd[0]}});
  const ValueId y = b.emit(op_conv_general, {x, w}, Attributes::of(a));
  const Dims d = b.type(y).dims;
  const ValueId z = emit::add(b, y, emit::broadcast_in_dim(b, bias, d, {1}));
  b.output("z", emit::max(b, z, emit::zeros_like(b, z)));
  return b.finish();
}

std::vector<KernelCase> conv_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](DType dtype, Dims x, Dims w, ConvAttributes a) {
    cases.push_back({"conv" + sizes(x) + sizes(w),
                     conv(dtype, x, w, std::move(a)),
                     RecipeKind::contract,
                     {},
                     1e-4});
  };
  const ConvAttributes same{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  add(DType::f32, {2, 3, 14, 15}, {16, 3, 3, 3}, same);
  add(DType::f32, {1, 16, 56, 56}, {32, 16, 3, 3}, same);
  add(DType::f32, {1, 3, 33, 31}, {8, 3, 5, 5}, {{2, 2}, {2, 2}, {2, 2}, {1, 1}, {1, 1}});
  add(DType::f32, {1, 12, 9, 17}, {18, 4, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 3});
  add(DType::f32, {2, 6, 9, 17}, {6, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 6});
  // Written out, with rows that are padded: blocks of rows, strides, holes between taps.
  add(DType::f32, {1, 2, 300, 100}, {2, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2});
  add(DType::f32, {2, 6, 57, 40}, {6, 1, 3, 3}, {{2, 2}, {1, 2}, {0, 1}, {1, 1}, {1, 2}, 6});
  add(DType::f64, {1, 3, 9, 33}, {6, 1, 5, 3}, {{1, 1}, {2, 0}, {2, 3}, {1, 1}, {1, 1}, 3});
  add(DType::f32, {1, 1, 20, 24}, {3, 1, 3, 3}, {{1, 1}, {0, 1}, {-2, -3}, {1, 1}, {1, 1}, 1});
  add(DType::f32, {1, 5, 6, 9}, {7, 5, 3, 3}, {{1, 1}, {2, 3}, {3, 2}, {2, 3}, {1, 2}});
  add(DType::f32, {3, 4, 20, 24}, {5, 4, 18, 22}, {{1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  add(DType::f32, {1, 40, 9, 17}, {2, 40, 3, 3}, same);
  add(DType::f32, {2, 8, 9, 17}, {6, 8, 1, 1}, {{1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  add(DType::f32, {2, 40}, {9, 40}, {});
  add(DType::f32, {1, 2, 50}, {5, 2, 3}, {{1}, {1}, {1}, {1}, {1}});
  add(DType::i32, {1, 2, 3, 8, 9}, {4, 2, 2, 3, 3},
      {{1, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  return cases;
}

TEST(ConvKernels, AgreeWithTheInterpreter) { check_cases(conv_cases(), false); }
TEST(ConvKernels, StayInsideTheirBuffers) { check_cases(conv_cases(), true); }

}  // namespace
}  // namespace heddle::testing
