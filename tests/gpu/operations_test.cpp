// Every primitive on the device, by its own workload rows and by special values, against the
// reference.
#include <gtest/gtest.h>

#include "backends/operation_rows.h"
#include "gpu/device_runner.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/carrier_types.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

// What is left out, and why: nothing but dtypes that the carrier has not.
std::vector<Row> device_rows() {
  std::vector<Row> rows = compiled_rows();
  std::erase_if(rows, [](const Row& r) {
    const Function f =
        ops_test::program_of(*r.op, r.workload.operands, r.workload.attributes).entry();
    return std::any_of(f.types.begin(), f.types.end(),
                       [](const Type& t) { return !carrier_has(t.dtype, device::target()); });
  });
  return rows;
}

void check_rows(const std::vector<Row>& rows, std::size_t batch, RecipeKind kind) {
  std::vector<Function> bodies;
  std::vector<Kernel> kernels;
  for (std::size_t r = 0; r < rows.size(); r += batch) {
    bodies.push_back(side_by_side(std::span(rows).subspan(r, std::min(batch, rows.size() - r))));
    kernels.push_back(kernel_of(bodies.back(), kind, {}, device::target().carrier));
  }
  DeviceRunner runner(kernels);
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
  }
}

TEST(DeviceOperations, TheirRowsAgreeWithTheReference) {
  const std::vector<Row> rows = device_rows();
  ASSERT_GT(rows.size(), 80u);
  check_rows(rows, 6, RecipeKind::map);  // more would be too many buffers
}

TEST(DeviceOperations, TheirRowsAgreeByEveryRecipe) {
  const std::vector<Row> rows = device_rows();
  const auto check = [&](Pattern pattern, RecipeKind kind) {
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

// Fast maths is off, and max and min keep NaN: F2, F3, F16-F18.
TEST(DeviceOperations, SpecialValuesAreTheReferences) {
  std::vector<double> first, second;
  for (double a : kSpecials) {
    for (double b : kSpecials) first.push_back(a), second.push_back(b);
  }
  for (std::size_t p : {0u, 2u, 3u}) {  // f64 the carrier has not
    const Precision& precision = kPrecisions[p];
    const Literal x = ops_test::vector_of(precision.dtype, first),
                  y = ops_test::vector_of(precision.dtype, second);
    std::vector<const Operation*> ops;
    std::vector<Kernel> kernels;
    std::vector<Function> bodies;
    for (const Operation* op : built_in_operations()) {
      if (op->strict.pattern != Pattern::elementwise || op->strict.decompose != nullptr) continue;
      const std::size_t count = op->strict.roles.size();
      if (count > 2 || op == &op_compare || op == &op_convert || op == &op_bitcast) continue;
      if (p != 0 && ops.size() == 12) break;  // the same operations on other storage
      try {
        const Program program = ops_test::program_of(*op, std::vector<Type>(count, x.type));
        bodies.push_back(program.entry());
        kernels.push_back(
            kernel_of(program.entry(), RecipeKind::map, {}, device::target().carrier));
        ops.push_back(op);
      } catch (const TypeError&) {
        // not an operation of floats
      }
    }
    DeviceRunner runner(kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      std::vector<Literal> inputs{x, y};
      inputs.resize(bodies[i].inputs.size());
      const auto want = ops_test::run(Program({bodies[i]}), inputs);
      Precision own = precision;
      if (ops[i] == &op_erfc || ops[i] == &op_atan2) own.rtol *= 1.5;
      expect_special(runner.run(i, inputs)[0], want[0], own,
                     std::string(ops[i]->name) + " " + std::string(name_of(precision.dtype)));
    }
  }
}

}  // namespace
}  // namespace heddle::testing
