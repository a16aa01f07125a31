// What tests of operations as kernels share: the rows of their records, special values, and how
// near a carrier's results must come.
#ifndef HEDDLE_TESTS_BACKENDS_OPERATION_ROWS_H_
#define HEDDLE_TESTS_BACKENDS_OPERATION_ROWS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "backends/kernel_runner.h"
#include "heddle/graph/emit.h"
#include "ops/support.h"

namespace heddle::testing {

inline bool compiles(const Function& f) {
  return std::all_of(f.types.begin(), f.types.end(),
                     [](const Type& t) { return element_count(t) > 0; });
}

// What is exact in the reference is exact here; else a few units of the dtype's last place: the
// reference computes 16-bit and 32-bit floats in double.
inline double tolerance_of(const Operation& op, DType dtype) {
  const bool movement = op.strict.pattern == Pattern::movement;
  const bool exact = op.strict.rtol == 0 && (movement || op.strict.pattern == Pattern::elementwise);
  if (exact || !is_floating(dtype)) return 0;
  return dtype == DType::f64   ? 1e-14
         : dtype == DType::f32 ? 5e-6
         : dtype == DType::f16 ? 1e-3
                               : 8e-3;
}

struct Row {
  const Operation* op;
  Workload workload;
};

inline std::vector<Row> compiled_rows() {
  std::vector<Row> rows;
  for (const Operation* op : built_in_operations()) {
    if (op->strict.decompose != nullptr || op == &op_constant) continue;
    for (const Workload& w : op->strict.workloads()) {
      if (compiles(ops_test::program_of(*op, w.operands, w.attributes).entry())) {
        rows.push_back({op, w});
      }
    }
  }
  return rows;
}

// Several rows side by side in one body: fewer kernels to compile.
inline Function side_by_side(std::span<const Row> rows) {
  Builder b("rows");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Values operands;
    for (const Type& t : rows[r].workload.operands) {
      operands.push_back(
          b.input("x" + std::to_string(r) + "_" + std::to_string(operands.size()), t));
    }
    for (ValueId v : b.add(*rows[r].op, operands, rows[r].workload.attributes)) {
      b.output("y" + std::to_string(v.index), v);
    }
  }
  return b.finish();
}

// F2, F3, F6, F16-F18 and their kinds: every pair of special values.
inline const std::vector<double> kSpecials = {ops_test::kNaN,
                                              ops_test::kInf,
                                              -ops_test::kInf,
                                              0.0,
                                              -0.0,
                                              1.0,
                                              -1.0,
                                              0.5,
                                              1.5,
                                              2.5,
                                              -0.5,
                                              -1.5,
                                              -2.5,
                                              2.0,
                                              -2.0,
                                              3.0,
                                              -3.0,
                                              7.0,
                                              -7.5,
                                              1e-40,
                                              -1e-40,
                                              1e-30,
                                              3e38,
                                              -3e38,
                                              89.0,
                                              88.7,
                                              -87.5,
                                              -103.5,
                                              -105.0,
                                              8388609.0,
                                              16777216.0,
                                              -16777217.0,
                                              1e10,
                                              4294967296.0,
                                              0.99999994,
                                              0.7,
                                              1e-3,
                                              3.1415927,
                                              1.5707964,
                                              1e22,
                                              10.0,
                                              -9.5,
                                              65504};

struct Precision {
  DType dtype;
  double rtol, least;  ///< of a subnormal result
};
inline const Precision kPrecisions[] = {{DType::f32, 5e-7, 1.5e-45},
                                        {DType::f64, 4e-15, 5e-324},
                                        {DType::f16, 0x1p-10, 0x1p-24},
                                        {DType::bf16, 0x1p-7, 0x1p-133}};

inline void expect_special(const Literal& got, const Literal& want, const Precision& p,
                           const std::string& what) {
  const std::vector<double> g = to_doubles(got), w = to_doubles(want);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::string place = what + " element " + std::to_string(i);
    if (std::isnan(w[i])) {
      EXPECT_TRUE(std::isnan(g[i])) << place << " is " << g[i] << ", should be NaN";
    } else if (std::isinf(w[i]) || w[i] == 0) {
      EXPECT_EQ(g[i], w[i]) << place;
      EXPECT_EQ(std::signbit(g[i]), std::signbit(w[i])) << place << ": sign";
    } else {
      EXPECT_NEAR(g[i], w[i], p.rtol * std::fabs(w[i]) + p.least) << place << " of " << w[i];
    }
  }
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_BACKENDS_OPERATION_ROWS_H_
