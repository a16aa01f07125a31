// Every operation of ops.def by its own workload rows: inference against the reference, program
// text, and derivatives: tangents by finite differences on the f64 twin, cotangents by the dot
// product, second order by finite differences of the gradient.
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/binary.h"
#include "heddle/graph/text.h"
#include "heddle/graph/verify.h"
#include "ops/support.h"

namespace heddle::ops_test {
namespace {

constexpr std::uint64_t kSeed = 20240229;
constexpr double kStep = 1e-5;

using Vectors = std::vector<std::vector<double>>;

bool has_floats(const std::vector<Type>& types) {
  for (const Type& t : types) {
    if (is_floating(t.dtype)) return true;
  }
  return false;
}
/// Whether finite differences can be taken on the f64 twin: no 16-bit float in it.
bool is_wide(const Function& f) {
  for (const Type& t : f.types) {
    if (t.dtype == DType::f16 || t.dtype == DType::bf16) return false;
  }
  return true;
}

class Row {
 public:
  Row(const Operation& op, const Workload& row, std::uint64_t seed)
      : row_(row), random_(seed), program_(program_of(op, row.operands, row.attributes)) {}

  void check_reference_and_text() {
    verify(program_);
    const Function& f = program_.entry();
    const std::vector<Literal> results =
        run(program_, random_operands(row_, row_.operands, random_));
    for (std::size_t r = 0; r < results.size(); ++r) {
      EXPECT_EQ(results[r].type, f.type(f.outputs[r].value));
    }
    const std::string text = to_text(program_);
    EXPECT_EQ(to_text(parse(text, "row.heddle")), text);
    EXPECT_EQ(to_text(from_binary(to_binary(program_), "row.hdb")), text);
  }

  void check_derivatives() {
    const Program wide = one_output(widen(program_));
    const Function& f = wide.entry();
    for (const Input& in : f.inputs) {
      types_.push_back(f.type(in.value));
      if (is_floating(types_.back().dtype)) wrt_.push_back(in.name);
    }
    const bool flows = is_floating(f.type(f.outputs[0].value).dtype);
    if (row_.order == 0 || wrt_.empty() || !flows) return;
    operands_ = random_operands(row_, types_, random_);
    for (const Type& t : types_) {
      directions_.push_back(random_literal(t, -1, 1, random_));
    }
    check_tangent(wide);
    check_cotangent(wide);
    if (row_.order >= 2) check_second_order(wide);
  }

 private:
  std::vector<Literal> shifted(double step) const {
    std::vector<Literal> moved = operands_;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      if (!is_floating(types_[i].dtype)) continue;
      std::vector<double> x = to_doubles(moved[i]);
      const std::vector<double> v = to_doubles(directions_[i]);
      for (std::size_t e = 0; e < x.size(); ++e) x[e] += step * v[e];
      moved[i] = tensor(types_[i].dtype, types_[i].dims, x);
    }
    return moved;
  }
  std::vector<Literal> with_directions() const {
    std::vector<Literal> all = operands_;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (is_floating(types_[i].dtype)) all.push_back(directions_[i]);
    }
    return all;
  }
  static std::vector<double> difference(const Literal& plus, const Literal& minus) {
    std::vector<double> d = to_doubles(plus);
    const std::vector<double> m = to_doubles(minus);
    for (std::size_t e = 0; e < d.size(); ++e)
      d[e] = d[e] == m[e] ? 0 : (d[e] - m[e]) / (2 * kStep);
    return d;
  }

  void check_tangent(const Program& wide) {
    const Program forward = jvp(wide, wrt_);
    verify(forward);
    tangent_ = run(forward, with_directions()).at(wide.entry().outputs.size());
    if (!is_wide(wide.entry())) return;
    const Literal plus = run(wide, shifted(kStep))[0], minus = run(wide, shifted(-kStep))[0];
    expect_near(tangent_, difference(plus, minus), 1e-6, 1e-6, "tangent");
  }

  // <c, J v> = <J^T c, v>.
  void check_cotangent(const Program& wide) {
    const Program reverse = vjp(wide, wrt_);
    verify(reverse);
    const Literal c = random_literal(tangent_.type, -1, 1, random_);
    std::vector<Literal> arguments = operands_;
    arguments.push_back(c);
    const std::vector<Literal> results = run(reverse, arguments);
    double left = 0, right = 0, size = 0;
    const std::vector<double> t = to_doubles(tangent_), weights = to_doubles(c);
    for (std::size_t e = 0; e < t.size(); ++e) left += t[e] * weights[e];
    for (std::size_t i = 0, r = wide.entry().outputs.size(); i < types_.size(); ++i) {
      if (!is_floating(types_[i].dtype)) continue;
      const std::vector<double> v = to_doubles(directions_[i]), ct = to_doubles(results.at(r++));
      for (std::size_t e = 0; e < v.size(); ++e) {
        right += v[e] * ct[e];
        size += std::fabs(v[e] * ct[e]);
      }
    }
    const double tolerance = is_wide(wide.entry()) ? 1e-10 : 2e-2;
    EXPECT_NEAR(left, right, tolerance * (1 + size)) << "dot product test";
  }

  // The gradient of a random weighting of the squares of the results, so that linear operations
  // have a second derivative too.
  void check_second_order(const Program& wide) {
    const Program scalar = scalar_of(wide);
    const Program product = hvp(scalar, wrt_), gradient = grad(scalar, wrt_);
    verify(product);
    const std::vector<Literal> found = run(product, with_directions());
    if (!is_wide(wide.entry())) return;
    const auto plus = run(gradient, shifted(kStep)), minus = run(gradient, shifted(-kStep));
    for (std::size_t i = 0; i < found.size(); ++i) {
      expect_near(found[i], difference(plus[i], minus[i]), 1e-5, 1e-5, "hvp of " + wrt_[i]);
    }
  }
  Program scalar_of(const Program& wide) {
    const Function& f = wide.entry();
    Builder b("f", &wide);
    Values inputs;
    for (const Input& in : f.inputs) inputs.push_back(b.input(in.name, f.type(in.value)));
    const ValueId y = b.splice(f, inputs)[0];
    const ValueId weights = b.constant(random_literal(b.type(y), 0.5, 1, random_));
    const ValueId weighted = emit::mul(b, weights, emit::mul(b, y, y));
    b.output("loss", emit::reduce_sum(b, weighted, emit::all_axes(b.type(weighted).rank())));
    return Program({b.finish()});
  }

  const Workload& row_;
  std::mt19937_64 random_;
  Program program_;
  std::vector<Type> types_;
  std::vector<std::string> wrt_;
  std::vector<Literal> operands_, directions_;
  Literal tangent_;
};

class EveryOperation : public ::testing::TestWithParam<const Operation*> {};

TEST_P(EveryOperation, has_workload_rows) { EXPECT_FALSE(GetParam()->strict.workloads().empty()); }

TEST_P(EveryOperation, infers_what_the_reference_gives_and_round_trips_as_text) {
  if (GetParam() == &op_constant) return;  // a literal: the text tests have it
  const std::vector<Workload> rows = GetParam()->strict.workloads();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE("row " + std::to_string(i) + ", seed " + std::to_string(kSeed));
    Row(*GetParam(), rows[i], kSeed + i).check_reference_and_text();
  }
}

TEST_P(EveryOperation, has_right_derivatives) {
  const std::vector<Workload> rows = GetParam()->strict.workloads();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!has_floats(rows[i].operands)) continue;
    SCOPED_TRACE("row " + std::to_string(i) + ", seed " + std::to_string(kSeed));
    Row(*GetParam(), rows[i], kSeed + i).check_derivatives();
  }
}

std::string name_of_case(const ::testing::TestParamInfo<const Operation*>& info) {
  return std::string(info.param->name) + "_";
}
INSTANTIATE_TEST_SUITE_P(ops, EveryOperation,
                         ::testing::ValuesIn(built_in_operations().begin(),
                                             built_in_operations().end()),
                         name_of_case);

}  // namespace
}  // namespace heddle::ops_test
