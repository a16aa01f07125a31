// What the tests of operations share: programs of one node, random operands, comparisons.
#ifndef HEDDLE_TESTS_OPS_SUPPORT_H_
#define HEDDLE_TESTS_OPS_SUPPORT_H_

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/scalar_convert.h"

namespace heddle::ops_test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// @f(x0, x1 ...) -> (y0 ...): one node.
inline Program program_of(const Operation& op, const std::vector<Type>& operands,
                          const Attributes& attributes = {}) {
  Builder b("f");
  Values inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    inputs.push_back(b.input("x" + std::to_string(i), operands[i]));
  }
  const Values results = b.add(op, inputs, attributes);
  for (std::size_t r = 0; r < results.size(); ++r) b.output("y" + std::to_string(r), results[r]);
  return Program({b.finish()});
}

inline std::vector<Literal> run(const Program& program, const std::vector<Literal>& arguments) {
  return interpret(program, program.entry().name, arguments);
}

/// One operation on literals; its one result.
inline Literal apply(const Operation& op, const std::vector<Literal>& operands,
                     const Attributes& attributes = {}) {
  std::vector<Type> types;
  for (const Literal& o : operands) types.push_back(o.type);
  return run(program_of(op, types, attributes), operands).at(0);
}

/// Vectors and matrices of a dtype from doubles.
inline Literal tensor(DType dtype, Dims dims, const std::vector<double>& values) {
  return convert(make_literal<double>(std::move(dims), std::span<const double>(values)), dtype);
}
inline Literal vector_of(DType dtype, const std::vector<double>& values) {
  return tensor(dtype, {static_cast<std::int64_t>(values.size())}, values);
}
inline Literal floats(const std::vector<double>& values) { return vector_of(DType::f32, values); }
inline Literal doubles(const std::vector<double>& values) { return vector_of(DType::f64, values); }
inline Literal ints(const std::vector<double>& values) { return vector_of(DType::i32, values); }

/// Uniform in [low, high]; whole numbers for integers.
inline Literal random_literal(const Type& type, double low, double high, std::mt19937_64& random) {
  const bool whole = !is_floating(type.dtype);
  if (whole && !is_signed(type.dtype)) low = std::max(low, 0.0);
  std::vector<double> values(static_cast<std::size_t>(element_count(type)));
  for (double& v : values) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    v = whole ? std::floor(low + unit * (high - low + 1)) : low + unit * (high - low);
  }
  return tensor(type.dtype, type.dims, values);
}

/// The same function with its floating outputs, where there are several, one after another in one.
inline Program one_output(const Program& p) {
  const Function& f = p.entry();
  const auto is_float = [&](const Output& o) { return is_floating(f.type(o.value).dtype); };
  if (std::count_if(f.outputs.begin(), f.outputs.end(), is_float) < 2) return p;
  Builder b(f.name, &p);
  Values inputs, parts;
  for (const Input& in : f.inputs) inputs.push_back(b.input(in.name, f.type(in.value)));
  const Values results = b.splice(f, inputs);
  for (std::size_t o = 0; o < results.size(); ++o) {
    if (!is_float(f.outputs[o])) continue;
    parts.push_back(emit::reshape(b, results[o], {element_count(b.type(results[o]))}));
  }
  b.output("y0", emit::concatenate(b, parts, 0));
  return Program({b.finish()});
}

/// The row's operands, as types says (the row's own, or widened ones).
inline std::vector<Literal> random_operands(const Workload& row, const std::vector<Type>& types,
                                            std::mt19937_64& random) {
  std::vector<Literal> result;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto [low, high] = i < row.ranges.size() ? row.ranges[i] : std::pair(row.low, row.high);
    result.push_back(random_literal(types[i], low, high, random));
  }
  return result;
}

/// Values equal, NaN with NaN and zeros by sign.
inline void expect_same(const Literal& found, const std::vector<double>& wanted,
                        const std::string& what = "") {
  const std::vector<double> values = to_doubles(found);
  ASSERT_EQ(values.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string place = what + " element " + std::to_string(i);
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << place << " is " << values[i];
      continue;
    }
    EXPECT_EQ(values[i], wanted[i]) << place;
    if (wanted[i] != 0) continue;
    EXPECT_EQ(std::signbit(values[i]), std::signbit(wanted[i])) << place << ": sign of zero";
  }
}

inline void expect_near(const Literal& found, const std::vector<double>& wanted, double rtol,
                        double atol, const std::string& what = "") {
  const std::vector<double> values = to_doubles(found);
  ASSERT_EQ(values.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string place = what + " element " + std::to_string(i);
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << place << " is " << values[i];
      continue;
    }
    if (std::isinf(wanted[i])) {
      EXPECT_EQ(values[i], wanted[i]) << place;
      continue;
    }
    EXPECT_NEAR(values[i], wanted[i], atol + rtol * std::fabs(wanted[i])) << place;
  }
}

}  // namespace heddle::ops_test

#endif  // HEDDLE_TESTS_OPS_SUPPORT_H_
