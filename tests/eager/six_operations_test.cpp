// The six checked operations: every dtype plan that they offer, by its fields and by its values,
// which are computed here once more; what they save for a gradient; their errors in their order.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "heddle/backends/eager/pack.h"
#include "heddle/backends/eager/record.h"
#include "heddle/frontend/heddle.h"
#include "heddle/graph/dtype_plan.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;
using Doubles = std::vector<double>;

constexpr DType kI32 = DType::i32, kF32 = DType::f32, kF64 = DType::f64;
constexpr DType kBoth[] = {kI32, kF32};

// One call that stands for a plan: the operands, and what the plan must be.
struct Case {
  const Operation* op;
  std::vector<Operand> operands;  // tensors have types only
  Attributes options;
  DtypePlan plan;
};

Operand typed(DType dtype, Dims dims) { return Tensor(Type{dtype, std::move(dims)}, nullptr); }
bool is_tensor(const Operand& o) { return std::holds_alternative<Tensor>(o); }

DtypePlan expected(const Operation& op, const std::vector<Operand>& operands, DType compute) {
  DtypePlan p{.operation = std::string(op.name), .operands = {}, .compute = compute};
  p.output = compute;
  p.arithmetic = compute == kI32 ? Arithmetic::checked : Arithmetic::ieee;
  for (const Operand& o : operands) {
    p.operands.push_back(
        {is_tensor(o) ? OperandKind::tensor : OperandKind::weak_scalar,
         is_tensor(o) ? std::optional(std::get<Tensor>(o).type().dtype) : std::nullopt, compute});
  }
  return p;
}
DType meeting(const std::vector<Operand>& operands) {
  for (const Operand& o : operands) {
    const auto* t = std::get_if<Tensor>(&o);
    if (t != nullptr ? t->type().dtype == kF32 : !std::holds_alternative<std::int64_t>(o)) {
      return kF32;
    }
  }
  return kI32;
}

void add_pair(std::vector<Case>& cases, const Operation& op, std::vector<Operand> operands) {
  const DtypePlan plan = expected(op, operands, meeting(operands));
  cases.push_back({&op, std::move(operands), {}, plan});
}
// A summing operation, with each accumulator that its dtypes allow.
void add_sums(std::vector<Case>& cases, const Operation& op, const std::vector<Operand>& operands,
              const std::vector<Attributes::Entry>& options) {
  DtypePlan plan = expected(op, operands, meeting(operands));
  const bool floats = plan.compute == kF32;
  plan.accumulation = floats ? Accumulation::floating : Accumulation::exact_integer;
  if (floats) plan.accumulator = kF32;
  cases.push_back({&op, operands, Attributes(options), plan});
  if (!floats) return;
  for (const DType accumulator : {kF32, kF64}) {
    std::vector<Attributes::Entry> with = options;
    with.push_back({"accumulator", accumulator});
    plan.accumulator = accumulator;
    cases.push_back({&op, operands, Attributes(with), plan});
  }
}

// Every plan of the six: each dtype of each tensor operand, the weak scalars 3, -1 and 0.5 (and
// true), each accumulator. Extents of 1 stretch in one of the pairs.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const Dims dims{3, 4};
  const Operand weak[] = {std::int64_t{3}, std::int64_t{-1}, 0.5, true};
  for (const DType x : kBoth) {
    for (const DType y : kBoth) {
      for (const Operation* op : {&op_checked_add, &op_checked_elementwise_mul, &op_checked_mul}) {
        add_pair(cases, *op, {typed(x, dims), typed(y, {3, 1})});
      }
      add_sums(cases, op_checked_matmul, {typed(x, {3, 5}), typed(y, {5, 2})}, {});
      add_sums(cases, op_checked_matmul, {typed(x, {3, 5}), typed(y, {2, 5})},
               {{"rhs_transposed", true}});
    }
    for (const Operand& w : weak) {
      add_pair(cases, op_checked_mul, {typed(x, dims), w});
      add_pair(cases, op_checked_mul, {w, typed(x, dims)});
    }
    Case relu{&op_relu, {typed(x, dims)}, {}, {}};
    relu.plan = expected(op_relu, relu.operands, x);
    if (x == kI32) relu.plan.arithmetic = Arithmetic::wrapping;  // exact: nothing can leave i32
    cases.push_back(relu);
    add_sums(cases, op_checked_reduce_sum, {typed(x, {3, 4})},
             {{"axes", std::vector<std::int64_t>{1}}});
  }
  return cases;
}

std::string name_of_case(const Case& c) {
  std::string text(c.op->name);
  for (const Operand& o : c.operands) {
    text += is_tensor(o) ? " " + to_text(std::get<Tensor>(o).type()) : " weak";
  }
  return text + (c.plan.accumulator ? " in " + std::string(name_of(*c.plan.accumulator)) : "");
}

DtypePlan plan_of(const Operation& op, const std::vector<Operand>& operands,
                  const Attributes& options) {
  return plan(bind_types(op, operands, options, {}));
}

// A4.1 A4.2 A4.3, 2A.1, 2A.3
TEST(SixOperations, PlansAreThoseOfTheTable) {
  const std::vector<Case> cases = all_cases();
  EXPECT_EQ(cases.size(), 3u * 4 + 2 * (1 + 3 * 3) + 2 * 8 + 2 + 1 + 3);
  for (const Case& c : cases) {
    SCOPED_TRACE(name_of_case(c));
    EXPECT_EQ(plan_of(*c.op, c.operands, c.options), c.plan);
  }
}

// A4.1 A4.2: one record each, never another; `mul` has three overloads, elementwise_mul one.
TEST(SixOperations, AreOneRecordEach) {
  const std::pair<const char*, const Operation*> six[] = {
      {"checked_add", &op_checked_add},
      {"checked_elementwise_mul", &op_checked_elementwise_mul},
      {"checked_mul", &op_checked_mul},
      {"relu", &op_relu},
      {"checked_reduce_sum", &op_checked_reduce_sum},
      {"checked_matmul", &op_checked_matmul}};
  for (const auto& [name, op] : six) EXPECT_EQ(find_operation(name), op);
  int checked_ones = 0;
  for (const Operation* op : built_in_operations()) checked_ones += op->name.starts_with("checked");
  EXPECT_EQ(checked_ones, 5) << "and relu: there is no seventh";
  static_assert(std::is_const_v<std::remove_reference_t<decltype(op_checked_add)>>);
  std::string kinds;
  for (const OperationSchema& s : op_checked_mul.surface.overloads) {
    for (const OperandSpec& o : s.operands) kinds += std::string(name_of(o.kind)) + " ";
  }
  EXPECT_EQ(kinds, "tensor tensor tensor weak_scalar weak_scalar tensor ");
  EXPECT_EQ(op_checked_elementwise_mul.surface.overloads.size(), 1u);
  const std::string text = expect_error<TypeError>([] {
    checked::elementwise_mul(tensor({1, 2}, {2}), 3);
  });
  EXPECT_NE(text.find("[checked_elementwise_mul]"), std::string::npos) << text;
  EXPECT_NE(text.find("operands[1]: found a number, needed a tensor"), std::string::npos) << text;
}

// 2A.3: the accumulator is all that differs; only the two summing operations have one.
TEST(SixOperations, AccumulatorVariants) {
  int configurable = 0;
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(name_of_case(c));
    const std::vector<DtypePlan> variants = accumulator_variants(c.plan);
    EXPECT_EQ(variants[0], c.plan) << "the plan itself is first";
    const bool sums = c.plan.accumulation == Accumulation::floating;
    ASSERT_EQ(variants.size(), sums ? 2u : 1u);
    configurable += sums;
    if (!sums) continue;
    DtypePlan other = c.plan;
    other.accumulator = c.plan.accumulator == kF32 ? kF64 : kF32;
    EXPECT_EQ(variants[1], other);
  }
  EXPECT_EQ(configurable, 2 * 9 + 3);
  DtypePlan everyday = plan_of(op_matmul, {typed(kF32, {2, 2}), typed(kF32, {2, 2})}, {});
  EXPECT_EQ(accumulator_variants(everyday).size(), 1u);
}

// The values, computed here -------------------------------------------------------------------

// Elements of a test operand: small numbers, some negative; for floats with fractions.
double element(std::size_t operand, std::size_t i, DType dtype) {
  const double whole = static_cast<double>((7 * i + 3 * operand) % 11) - 4;
  return dtype == kI32 ? whole : whole + 0.25 * static_cast<double>(i % 3);
}
struct Values {
  std::vector<std::int64_t> extents;
  Doubles elements;  // a weak scalar: one

  double at(std::int64_t row, std::int64_t column) const {
    if (extents.empty()) return elements[0];
    const std::int64_t r = extents[0] == 1 ? 0 : row, c = extents[1] == 1 ? 0 : column;
    return elements[static_cast<std::size_t>(r * extents[1] + c)];
  }
};
Values values_of(const Operand& o, std::size_t operand) {
  if (const auto* w = std::get_if<std::int64_t>(&o)) return {{}, {static_cast<double>(*w)}};
  if (const auto* w = std::get_if<double>(&o)) return {{}, {*w}};
  if (const auto* w = std::get_if<bool>(&o)) return {{}, {*w ? 1.0 : 0.0}};
  const Type& type = std::get<Tensor>(o).type();
  Values v{constant_extents(type.dims), {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(type)); ++i) {
    v.elements.push_back(element(operand, i, type.dtype));
  }
  return v;
}

// In the plan's arithmetic: i32 exactly, f32 with one rounding, sums in the accumulator's dtype.
double product(double x, double y, DType in) {
  return in == kF32 ? static_cast<float>(x) * static_cast<float>(y) : x * y;
}
double sum(double x, double y, DType in) {
  return in == kF32 ? static_cast<float>(x) + static_cast<float>(y) : x + y;
}
Doubles independently(const Case& c, const std::vector<Values>& in) {
  const DType compute = c.plan.compute, sums = c.plan.accumulator.value_or(compute);
  const auto rounded = [&](double x) { return compute == kF32 ? static_cast<float>(x) : x; };
  Doubles out;
  const Values& x = in[0];
  if (c.op == &op_checked_reduce_sum) {
    for (std::int64_t i = 0; i < x.extents[0]; ++i) {
      double total = 0;
      for (std::int64_t j = 0; j < x.extents[1]; ++j) total = sum(total, x.at(i, j), sums);
      out.push_back(rounded(total));
    }
    return out;
  }
  if (c.op == &op_checked_matmul) {
    const Values& y = in[1];
    const bool transposed = c.options.find("rhs_transposed") != nullptr;
    for (std::int64_t i = 0; i < x.extents[0]; ++i) {
      for (std::int64_t j = 0; j < y.extents[transposed ? 0 : 1]; ++j) {
        double total = 0;
        for (std::int64_t k = 0; k < x.extents[1]; ++k) {
          const double factor = transposed ? y.at(j, k) : y.at(k, j);
          total = sum(total, product(x.at(i, k), factor, sums), sums);
        }
        out.push_back(rounded(total));
      }
    }
    return out;
  }
  const Values& shaped = x.extents.empty() ? in[1] : x;
  for (std::int64_t i = 0; i < shaped.extents[0]; ++i) {
    for (std::int64_t j = 0; j < shaped.extents[1]; ++j) {
      const double a = x.at(i, j);
      if (c.op == &op_relu) {
        out.push_back(a > 0 ? a : 0);
      } else {
        const double b = in[1].at(i, j);
        out.push_back(c.op == &op_checked_add ? sum(a, b, compute) : product(a, b, compute));
      }
    }
  }
  return out;
}

Tensor run(const Case& c, const std::vector<Values>& in, std::string_view carrier) {
  std::vector<Operand> operands = c.operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!is_tensor(operands[i])) continue;
    const DType dtype = std::get<Tensor>(operands[i]).type().dtype;
    operands[i] = tensor(std::span<const double>(in[i].elements), in[i].extents,
                         {.dtype = dtype, .carrier = carrier});
  }
  return call(*c.op, operands, c.options, {}).at(0);
}

// A7.1 A7.4, 2A.1: every plan has a reference, and a carrier agrees with it.
TEST(SixOperations, ReferencesAndCarriersAgreeForEveryPlan) {
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(name_of_case(c));
    std::vector<Values> in;
    for (std::size_t i = 0; i < c.operands.size(); ++i) in.push_back(values_of(c.operands[i], i));
    const Doubles wanted = independently(c, in);
    const Tensor reference = run(c, in, "reference"), cpu = run(c, in, "cpu");
    EXPECT_EQ(reference.type(), cpu.type());
    EXPECT_EQ(reference.type().dtype, c.plan.output);
    const Doubles found = elements(reference), compiled = elements(cpu);
    ASSERT_EQ(found.size(), wanted.size());
    ASSERT_EQ(compiled.size(), wanted.size());
    const bool ordered = c.plan.accumulation != Accumulation::floating;
    const ResultTolerance near = ordered ? ResultTolerance{} : tolerance_of(c.plan.output);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(found[i], wanted[i], near.atol + near.rtol * std::abs(wanted[i])) << i;
      EXPECT_NEAR(compiled[i], found[i], near.atol + near.rtol * std::abs(found[i])) << i;
    }
  }
}

// 2A.3: an f64 accumulator keeps what f32 loses, and so does the gradient's program.
TEST(SixOperations, TheAccumulatorIsWhatTheSumIsTakenIn) {
  constexpr std::int64_t kCount = 4096;
  Doubles big(kCount, 0.125);
  big[0] = 1 << 24;  // beside it f32 has no eighths
  const double exact = (1 << 24) + 0.125 * (kCount - 1);
  for (const std::string_view c : {"cpu", "reference"}) {
    const Tensor x = tensor(std::span<const double>(big), {1, kCount}, {.carrier = c});
    const Tensor ones = full({1, kCount}, 1, {.carrier = c});
    const double wanted = static_cast<float>(exact);
    EXPECT_EQ(item(checked::reduce_sum(x, {0, 1}, kF64)), wanted) << c;
    EXPECT_EQ(item(checked::matmul(x, ones, {.rhs_transposed = true, .accumulator = kF64})), wanted)
        << c;
  }
  // 2^-30 (2^30 + 1) - 1 in f32 factors: the product needs f64.
  const double a = 1 + std::ldexp(1, -12);
  const double square_minus_one = a * a - 1 * 1;
  for (const std::string_view c : {"cpu", "reference"}) {
    const Tensor x = tensor({a, 1}, {1, 2}, {.carrier = c}),
                 y = tensor({a, -1}, {1, 2}, {.carrier = c});
    const Tensor found = checked::matmul(x, y, {.rhs_transposed = true, .accumulator = kF64});
    EXPECT_EQ(item(found), static_cast<float>(square_minus_one)) << c;
  }
  const Program p = trace([](const Tensor& x) { return checked::reduce_sum(x, {0}, kF64); },
                          {f32({kCount})}, {.name = "f", .inputs = {"x"}});
  const Literal x = make_literal<float>({kCount}, std::vector<float>(big.begin(), big.end()));
  EXPECT_EQ(to_doubles(compile(p)->run("f", std::vector{x})[0])[0], static_cast<float>(exact));
}

// 2A.2 ----------------------------------------------------------------------------------------

TEST(SixOperations, WeakScalarsSelectABranch) {
  const Tensor whole = tensor({2, 3}, {2}, {.dtype = kI32});
  EXPECT_EQ(checked::mul(whole, 3).type().dtype, kI32);
  EXPECT_EQ(checked::mul(whole, true).type().dtype, kF32) << "bool is a number like 0.5";
  EXPECT_EQ(elements(checked::mul(0.5, whole)), (Doubles{1, 1.5}));
  const std::int64_t above = std::int64_t{1} << 31;
  const std::string text = expect_error<OverflowError>([&] { checked::mul(whole, above); });
  EXPECT_NE(text.find("operands[1]: found 2147483648, needed a number of i32"), std::string::npos)
      << text;
  const std::string swapped = expect_error<OverflowError>([&] { checked::mul(-above - 1, whole); });
  EXPECT_NE(swapped.find("operands[0]: found -2147483649"), std::string::npos) << swapped;
  EXPECT_EQ(elements(checked::mul(tensor({2}, {1}), above)), (Doubles{4294967296})) << "floats";
}

// The errors of 2A.3 that C++ leaves, in its order. (Others: both forms of options, options of
// another operation, an operation that is not registered, dtypes that are no DType or compound, a
// weak scalar that is no number: they do not compile; wrong count and kinds are steps 1 and 4.)
TEST(SixOperations, ErrorsOfThePlanComeInOrder) {
  const auto fails = [](const Operation& op, std::vector<Operand> operands, Attributes options) {
    try {
      plan_of(op, operands, options);
    } catch (const Error& e) {
      const char* type = dynamic_cast<const TypeError*>(&e) != nullptr             ? "TE"
                         : dynamic_cast<const NotImplementedError*>(&e) != nullptr ? "NIE"
                         : dynamic_cast<const OverflowError*>(&e) != nullptr       ? "OE"
                                                                                   : "?";
      return std::string(type) + " " + std::to_string(e.detail().step) + " " + e.detail().field +
             " " + e.detail().found + " " + e.detail().needed;
    }
    return std::string("none");
  };
  const Attributes::Entry axes{"axes", std::vector<std::int64_t>{0}};
  const auto in = [&](DType d) { return Attributes({axes, {"accumulator", d}}); };
  const Operand f = typed(kF32, {2}), i = typed(kI32, {2});
  // A dtype that is no number, then one that these have not: both before the accumulator.
  EXPECT_EQ(fails(op_checked_add, {f, typed(DType::boolean, {2})}, {}),
            "TE 14 operands[1].dtype bool[2] i32 or f32");
  EXPECT_EQ(fails(op_checked_reduce_sum, {typed(kF64, {2})}, in(DType::f16)),
            "NIE 14 operands[0].dtype f64[2] i32 or f32");
  // No accumulator where none is configurable.
  EXPECT_EQ(fails(op_checked_add, {f, f}, Attributes({{"accumulator", kF32}})),
            "TE 2 options.accumulator  no options");
  EXPECT_EQ(fails(op_checked_reduce_sum, {f}, Attributes({axes, {"accumulator", 1.0}})),
            "TE 4 options.accumulator 1 a dtype");
  EXPECT_EQ(fails(op_checked_reduce_sum, {i}, in(DType::f16)),
            "NIE 14 options.accumulator f16 f32 or f64");
  EXPECT_EQ(fails(op_checked_reduce_sum, {i}, in(kF32)), "TE 14 options.accumulator f32 ");
  EXPECT_EQ(fails(op_checked_mul, {i, std::int64_t{1} << 40}, {}),
            "OE 14 operands[1] 1099511627776 a number of i32");
}

// 2A.4, ruling 8: no rank is extended; extents are equal or 1, and the words name axis and types.
TEST(SixOperations, ShapesAreCongruent) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(checked::add(x, zeros({2, 1})).type(), f32({2, 3}));
  EXPECT_EQ(checked::mul(zeros({1, 3}), x).type(), f32({2, 3}));
  const std::string ranks = expect_error<ValueError>([&] { checked::add(x, zeros({3})); });
  EXPECT_NE(ranks.find("ranks differ: x is f32[2,3], y is f32[3]"), std::string::npos) << ranks;
  const std::string extents = expect_error<ValueError>([&] {
    checked::elementwise_mul(x, zeros({2, 4}));
  });
  EXPECT_NE(extents.find("extents of axis 1 differ: x is f32[2,3], y is f32[2,4]"),
            std::string::npos)
      << extents;
  EXPECT_NE(extents.find("found 4, needed 1 or 3"), std::string::npos) << extents;
  EXPECT_EQ(checked::reduce_sum(x, {-1}).type(), f32({2}));
  expect_error<ValueError>([&] { checked::reduce_sum(x, {2}); },
                           "axis out of range; options.axes: found 2, needed -2 <= axis < 2", 15);
  // Over nothing a sum is 0 (ruling 10).
  EXPECT_EQ(elements(checked::reduce_sum(zeros({2, 0}), {1})), (Doubles{0, 0}));
  const std::string inner = expect_error<ValueError>([&] {
    checked::matmul(x, zeros({3, 4}), {.rhs_transposed = true});
  });
  EXPECT_NE(inner.find("K is 3 from x and 4 from y"), std::string::npos) << inner;
  EXPECT_EQ(checked::matmul(x, zeros({4, 3}), {.rhs_transposed = true}).type(), f32({2, 4}));
  expect_error<ValueError>([&] { checked::matmul(x, zeros({3})); },
                           "matrices are needed; operands[1].dims: found f32[3], needed rank 2",
                           15);
}

// Effects and gradients -------------------------------------------------------------------------

std::vector<std::size_t> saved_by(const std::function<Tensor(const Tensor&, const Tensor&)>& f,
                                  bool second = true) {
  Tensor x = tensor({1, 2, 3, 4}, {2, 2}), y = tensor({5, 6, 7, 8}, {2, 2});
  require_gradient(x);
  if (second) require_gradient(y);
  const Tensor result = f(x, y);
  std::vector<std::size_t> operands;
  for (const SavedTensor& s : result.gradient_link()->call->saved) operands.push_back(s.operand);
  std::sort(operands.begin(), operands.end());
  return operands;
}

// A4.3, 2A.4
TEST(SixOperations, SaveWhatTheirGradientsRead) {
  using Saved = std::vector<std::size_t>;
  EXPECT_EQ(saved_by([](auto& x, auto& y) { return checked::add(x, y); }), Saved{});
  EXPECT_EQ(saved_by([](auto& x, auto& y) { return checked::elementwise_mul(x, y); }),
            (Saved{0, 1}));
  EXPECT_EQ(saved_by([](auto& x, auto& y) { return checked::mul(x, y); }), (Saved{0, 1}));
  EXPECT_EQ(saved_by([](auto& x, auto& y) { return checked::mul(x, y); }, false), (Saved{1}))
      << "no gradient of y is asked for: x is not read";
  EXPECT_EQ(saved_by([](auto& x, auto&) { return checked::mul(x, 3); }), Saved{});
  EXPECT_EQ(saved_by([](auto& x, auto&) { return checked::mul(0.5, x); }), Saved{});
  EXPECT_EQ(saved_by([](auto& x, auto&) { return checked::relu(x); }), Saved{0});
  EXPECT_EQ(saved_by([](auto& x, auto&) { return checked::reduce_sum(x, {1}, kF64); }), Saved{});
  for (const bool transposed : {false, true}) {
    for (const DType accumulator : {kF32, kF64}) {
      EXPECT_EQ(saved_by([=](auto& x, auto& y) {
                  return checked::matmul(x, y, {transposed, accumulator});
                }),
                (Saved{0, 1}));
    }
  }
}

// A4.3: no aliases, no mutation, dense row-major results, gradients for float results only.
TEST(SixOperations, HaveNoEffects) {
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(name_of_case(c));
    const BoundOperationCall bound = bind_types(*c.op, c.operands, c.options, {});
    const Invocation inv = resolve(bound, c.plan);
    EXPECT_TRUE(inv.mutated.empty());
    EXPECT_EQ(inv.kernel_id, c.op->name);
    ASSERT_EQ(inv.results.size(), 1u);
    EXPECT_FALSE(inv.results[0].alias_of.has_value());
    EXPECT_EQ(inv.results[0].type.dtype, c.plan.output);
    const bool whole = c.plan.output == kI32;
    EXPECT_EQ(inv.results[0].rtol, whole ? 0 : 1e-5) << "ruling 27";
    EXPECT_EQ(inv.results[0].atol, whole ? 0 : 1e-6);
    for (std::size_t i = 0; i < c.op->strict.roles.size(); ++i) {
      EXPECT_NE(c.op->role(i), Role::no_grad);
    }
  }
}

struct Gradients {
  Doubles x, y;
};
Gradients gradients_of(const std::function<Tensor(const Tensor&, const Tensor&)>& f,
                       std::string_view carrier) {
  Tensor x = tensor({1, -2, 0, 4}, {2, 2}, {.carrier = carrier});
  Tensor y = tensor({5, 6, -7, 8}, {2, 2}, {.carrier = carrier});
  require_gradient(x);
  require_gradient(y);
  const Tensor weights = tensor({1, 10, 100, 1000}, {2, 2}, {.carrier = carrier});
  backward(sum(f(x, y) * weights));
  return {elements(*gradient(x)), gradient(y) ? elements(*gradient(y)) : Doubles{}};
}

// 2A.4: the VJPs, written out. The cotangent is 1 10 / 100 1000.
TEST(SixOperations, GradientsAreTheTables) {
  for (const std::string_view c : {"cpu", "reference"}) {
    SCOPED_TRACE(c);
    Gradients g = gradients_of([](auto& x, auto& y) { return checked::add(x, y); }, c);
    EXPECT_EQ(g.x, (Doubles{1, 10, 100, 1000}));
    EXPECT_EQ(g.y, g.x);
    g = gradients_of(
        [](auto& x, auto& y) {
          return checked::add(x, reshape(sum(y, {0}), {1, 2}));
        },
        c);
    EXPECT_EQ(g.y, (Doubles{101, 1010, 101, 1010})) << "summed to the operand's shape";
    for (const bool element : {false, true}) {
      g = gradients_of(
          [=](auto& x, auto& y) {
            return element ? checked::elementwise_mul(x, y) : checked::mul(x, y);
          },
          c);
      EXPECT_EQ(g.x, (Doubles{5, 60, -700, 8000}));
      EXPECT_EQ(g.y, (Doubles{1, -20, 0, 4000}));
    }
    g = gradients_of([](auto& x, auto&) { return checked::mul(x, 3); }, c);
    EXPECT_EQ(g.x, (Doubles{3, 30, 300, 3000}));
    EXPECT_TRUE(g.y.empty());
    g = gradients_of([](auto& x, auto&) { return checked::relu(x); }, c);
    EXPECT_EQ(g.x, (Doubles{1, 0, 0, 1000})) << "0 at 0";
    g = gradients_of(
        [](auto& x, auto&) {
          return broadcast_to(reshape(checked::reduce_sum(x, {1}, kF64), {2, 1}), {2, 2});
        },
        c);
    EXPECT_EQ(g.x, (Doubles{11, 11, 1100, 1100}));
    for (const DType accumulator : {kF32, kF64}) {
      g = gradients_of(
          [=](auto& x, auto& y) {
            return checked::matmul(x, y, {false, accumulator});
          },
          c);
      EXPECT_EQ(g.x, (Doubles{65, 73, 6500, 7300}));
      EXPECT_EQ(g.y, (Doubles{1, 10, 398, 3980}));
      // Both contract on their last axis: dx = w y, dy = w^T x.
      g = gradients_of(
          [=](auto& x, auto& y) {
            return checked::matmul(x, y, {true, accumulator});
          },
          c);
      EXPECT_EQ(g.x, (Doubles{-65, 86, -6500, 8600}));
      EXPECT_EQ(g.y, (Doubles{1, 398, 10, 3980}));
    }
  }
}

// A4.4: a carrier has what its kernels are for. One that knows these six alone refuses a seventh;
// cpu and reference have every operation, these among them; and what is moved from the one to the
// other has all that the other has.
TEST(SixOperations, OnACarrierThatHasThemAlone) {
  std::vector<KernelPattern> patterns;
  for (const Operation* op : {&op_checked_add, &op_checked_elementwise_mul, &op_checked_mul,
                              &op_relu, &op_checked_reduce_sum, &op_checked_matmul}) {
    patterns.push_back(
        {*op, kAnyPlan, "six." + std::string(op->name), [](const Invocation&) -> Prepared {
           return PreparedKernel{
               host_interface(), [](const Invocation& i, Operands operands) {
                 std::vector<Operand> moved(operands.begin(), operands.end());
                 const Carrier& own = host_storage(std::get<Tensor>(moved[0]))->carrier_object();
                 for (Operand& o : moved) {
                   if (is_tensor(o)) o = on(std::get<Tensor>(o), "reference");
                 }
                 const Tensor result = call(*i.call.op, moved, i.call.options, {}).at(0);
                 return ProviderResult({on(result, own.name)});
               }};
         }});
  }
  define_carrier("six", BuiltInKernels::none, {host_interface(), std::move(patterns)});
  const Tensor x = tensor({1, -2, 3, -4}, {2, 2}, {.carrier = "six"});
  EXPECT_EQ(elements(checked::add(x, x)), (Doubles{2, -4, 6, -8}));
  EXPECT_EQ(elements(checked::relu(x)), (Doubles{1, 0, 3, 0}));
  EXPECT_EQ(elements(checked::reduce_sum(x, {1})), (Doubles{-1, -1}));
  EXPECT_EQ(elements(checked::matmul(x, x)), (Doubles{-5, 6, -9, 10}));
  const std::string text = expect_error<UnsupportedOperationPlan>([&] { x - x; });
  EXPECT_NE(text.find("[sub]"), std::string::npos) << text;
  EXPECT_NE(text.find("no kernel for this operation"), std::string::npos) << text;
  EXPECT_EQ(elements(on(x, "cpu") - on(x, "cpu")), (Doubles{0, 0, 0, 0}));
}

}  // namespace
}  // namespace heddle
