// Every primitive on the device, by its own workload rows and by special values, against the
// reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "backends/operation_rows.h"
#include "gpu/device_runner.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/loops.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

// Buffers of one launch: kMostBuffers less its numbers.
constexpr std::size_t kMostBuffers = 28;

Function function_of(const Row& r) {
  return ops_test::program_of(*r.op, r.workload.operands, r.workload.attributes).entry();
}

bool has(const Row& row, DType dtype) {
  const Function f = function_of(row);
  return std::any_of(f.types.begin(), f.types.end(),
                     [&](const Type& t) { return t.dtype == dtype; });
}
bool has_any(const Row& row, std::span<const DType> dtypes) {
  return std::any_of(dtypes.begin(), dtypes.end(), [&](DType d) { return has(row, d); });
}

// The operation and its element types: of the result, of the first operand.
using Kind = std::pair<const Operation*, std::string>;
Kind kind_of(const Row& r) {
  const Function f = function_of(r);
  std::string dtypes(name_of(f.type(f.outputs[0].value).dtype));
  if (!f.inputs.empty()) dtypes += name_of(f.type(f.inputs[0].value).dtype);
  return {r.op, dtypes};
}

// Metal: rows of f32, i32 and bool, all; of each operation one row of f16, and one of another type
// in turn; conversions between all. Left out are types of 64 bits, which it has not.
std::vector<Row> metal_rows() {
  constexpr DType kWide[] = {DType::f64, DType::i64, DType::u64}, kHalf[] = {DType::f16},
                  kOther[] = {DType::bf16, DType::i8,  DType::u8,
                              DType::i16,  DType::u16, DType::u32};
  std::vector<Row> rows;
  std::set<Kind> seen;
  std::map<const Operation*, std::vector<Row>> others;
  for (const Row& r : compiled_rows()) {
    if (has_any(r, kWide)) continue;
    const bool other = has_any(r, kOther);
    if ((other || has_any(r, kHalf)) && !seen.insert(kind_of(r)).second) continue;
    const bool converts = r.op == &op_convert || r.op == &op_bitcast;
    (other && !converts ? others[r.op] : rows).push_back(r);
  }
  std::size_t turn = 0;
  for (const Operation* op : built_in_operations()) {
    const std::vector<Row>& own = others[op];
    if (!own.empty()) rows.push_back(own[turn++ % own.size()]);
  }
  return rows;
}

// OpenCL: kernels are the same schedules in another language, and PoCL takes a second for each. So
// of f32, i32 and bool the first and the last row, and one of f64 and i64, which Metal has not.
// Left out are the other types, which differ from Metal's kernels by names of types alone
// (Shaders.OpenClKernelsAreC has them).
std::vector<Row> opencl_rows() {
  constexpr DType kWide[] = {DType::f64, DType::i64},
                  kOther[] = {DType::f16, DType::bf16, DType::i8,  DType::u8,
                              DType::i16, DType::u16,  DType::u32, DType::u64};
  std::map<Kind, std::vector<Row>> of;
  for (const Row& r : compiled_rows()) {
    if (!has_any(r, kOther)) of[kind_of(r)].push_back(r);
  }
  std::vector<Row> rows;
  for (const Row& r : compiled_rows()) {
    std::vector<Row>& own = of[kind_of(r)];
    if (own.empty()) continue;
    rows.push_back(own.front());
    if (own.size() > 1 && !has_any(r, kWide)) rows.push_back(own.back());
    own.clear();
  }
  return rows;
}

std::vector<Row> device_rows() {
  return device::target().carrier == "metal" ? metal_rows() : opencl_rows();
}

// Of operations that have a recipe of their own, the first rows.
std::vector<Row> first_rows(std::vector<Row> rows, std::size_t count) {
  constexpr Pattern kOwn[] = {Pattern::reduce,  Pattern::contract, Pattern::window,
                              Pattern::scatter, Pattern::scan,     Pattern::sort};
  std::map<const Operation*, std::size_t> seen;
  std::erase_if(rows, [&](const Row& r) {
    const bool own =
        std::find(std::begin(kOwn), std::end(kOwn), r.op->strict.pattern) != std::end(kOwn);
    return own && seen[r.op]++ >= count;
  });
  return rows;
}

// Rows side by side: those with results of equal extents share a launch.
std::vector<std::vector<Row>> batches_of(std::vector<Row> rows) {
  const auto extents = [](const Row& r) {
    const Function f = function_of(r);
    return to_text(f.type(f.outputs[0].value).dims);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return extents(a) < extents(b); });
  std::vector<std::vector<Row>> batches;
  std::size_t buffers = 0;
  for (const Row& r : rows) {
    const std::size_t own = r.workload.operands.size() + 1;
    const bool fits = !batches.empty() && extents(batches.back().front()) == extents(r) &&
                      buffers + own <= kMostBuffers;
    if (!fits) batches.emplace_back(), buffers = 0;
    batches.back().push_back(r);
    buffers += own;
  }
  return batches;
}

struct Part {
  std::vector<Row> rows;
  RecipeKind kind;
};

void check_rows(const std::vector<Part>& parts) {
  std::vector<Function> bodies;
  std::vector<Kernel> kernels;
  for (const Part& p : parts) {
    bodies.push_back(side_by_side(p.rows));
    kernels.push_back(kernel_of(bodies.back(), p.kind, {}, device::target().carrier));
  }
  DeviceRunner runner(kernels);
  std::mt19937_64 random(20240607);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    std::vector<Literal> inputs;
    for (const Row& r : parts[k].rows) {
      const Workload& w = r.workload;
      for (Literal& l : ops_test::random_operands(w, w.operands, random)) inputs.push_back(l);
    }
    const auto want = ops_test::run(Program({bodies[k]}), inputs);
    const auto got = runner.run(k, inputs);
    for (std::size_t o = 0; o < want.size(); ++o) {
      const double tolerance = tolerance_of(*parts[k].rows[o].op, want[o].type.dtype);
      expect_close(got[o], want[o], tolerance, tolerance,
                   to_text(bodies[k]) + "output " + std::to_string(o));
    }
  }
}

TEST(DeviceOperations, TheirRowsAgreeWithTheReference) {
  const std::vector<Row> rows = first_rows(device_rows(), 1);
  ASSERT_GT(rows.size(), 200u);
  std::vector<Part> parts;
  for (std::vector<Row>& batch : batches_of(rows)) {
    parts.push_back({std::move(batch), RecipeKind::map});
  }
  check_rows(parts);
}

bool reduces_last_axis(const Row& r) {
  const Function f = function_of(r);
  const auto axes = reduced_axes(f.nodes[0]);
  const auto last = static_cast<std::int64_t>(r.workload.operands[0].rank()) - 1;
  return std::find(axes.begin(), axes.end(), last) != axes.end();
}
RecipeKind recipe_of(const Row& r) {
  switch (r.op->strict.pattern) {
    case Pattern::reduce:
      return reduces_last_axis(r) ? RecipeKind::rows : RecipeKind::columns;
    case Pattern::contract:
      return RecipeKind::contract;
    case Pattern::scatter:
      return RecipeKind::scatter;
    case Pattern::scan:
    case Pattern::sort:
      return RecipeKind::fibres;
    default:
      return RecipeKind::map;
  }
}

TEST(DeviceOperations, TheirRowsAgreeByTheirOwnRecipes) {
  const std::size_t most = device::target().carrier == "metal" ? 6 : 2;
  std::vector<Part> parts;
  for (const Row& r : first_rows(device_rows(), most)) {
    if (recipe_of(r) != RecipeKind::map) parts.push_back({{r}, recipe_of(r)});
  }
  check_rows(parts);
}

// Those of elements of one dtype.
std::vector<const Operation*> elementwise_operations(const Type& type) {
  std::vector<const Operation*> ops;
  for (const Operation* op : built_in_operations()) {
    if (op->strict.pattern != Pattern::elementwise || op->strict.decompose != nullptr) continue;
    const std::size_t count = op->strict.roles.size();
    if (count > 2 || op == &op_compare || op == &op_convert || op == &op_bitcast) continue;
    try {
      ops_test::program_of(*op, std::vector<Type>(count, type));
      ops.push_back(op);
    } catch (const TypeError&) {
      // not an operation of floats
    }
  }
  return ops;
}

// All of them on x, or on x and y.
Function all_of(std::span<const Operation* const> ops, const Type& type) {
  Builder b("all");
  const ValueId x = b.input("x", type), y = b.input("y", type);
  for (const Operation* op : ops) {
    const Values operands = op->strict.roles.size() == 1 ? Values{x} : Values{x, y};
    b.output(std::string(op->name), b.add(*op, operands, {})[0]);
  }
  return b.finish();
}

// Fast maths is off, and max and min keep NaN: F2, F3, F16-F18.
TEST(DeviceOperations, SpecialValuesAreTheReferences) {
  std::vector<double> first, second;
  for (double a : kSpecials) {
    for (double b : kSpecials) first.push_back(a), second.push_back(b);
  }
  constexpr std::size_t kTogether = 20;
  for (std::size_t p : {0u, 2u, 3u}) {  // f64 not every carrier has
    const Precision& precision = kPrecisions[p];
    const std::vector<Literal> inputs{ops_test::vector_of(precision.dtype, first),
                                      ops_test::vector_of(precision.dtype, second)};
    std::vector<const Operation*> ops = elementwise_operations(inputs[0].type);
    if (p != 0) ops.resize(12);  // the same operations on other storage
    std::vector<Function> bodies;
    std::vector<Kernel> kernels;
    for (std::size_t i = 0; i < ops.size(); i += kTogether) {
      const std::span some = std::span(ops).subspan(i, std::min(kTogether, ops.size() - i));
      bodies.push_back(all_of(some, inputs[0].type));
      kernels.push_back(kernel_of(bodies.back(), RecipeKind::map, {}, device::target().carrier));
    }
    DeviceRunner runner(kernels);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const auto want = ops_test::run(Program({bodies[k]}), inputs);
      const auto got = runner.run(k, inputs);
      for (std::size_t o = 0; o < got.size(); ++o) {
        const Operation* op = ops[k * kTogether + o];
        Precision own = precision;
        if (op == &op_erfc || op == &op_atan2) own.rtol *= 1.5;
        expect_special(got[o], want[o], own,
                       std::string(op->name) + " " + std::string(name_of(precision.dtype)));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::testing
