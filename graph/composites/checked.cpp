// Arithmetic whose i32 results are exact or an error; floats as ever. Intermediate results may
// leave i32, and i64 too. Floats are summed in f32 or, where a call asks for it, in f64.
#include "absl/strings/str_cat.h"
#include "heddle/graph/call.h"
#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

void check_i32_or_float(At at) {
  const DType d = at.operands[0].dtype;
  if (d == DType::i32 || is_floating(d)) return;
  operation_error<TypeError>(at, "checked arithmetic is for i32 and floats", "operands[0].dtype",
                             std::string(name_of(d)), "i32 or a floating dtype");
}

Types infer_pair(At at) {
  check_operand_count(at, 2);
  check_i32_or_float(at);
  check_same_dtype(at, 1);
  check_same_dims(at, 1);
  return {at.operands[0]};
}
/// In which dtype floats are summed: f32 or f64, or their own when it is wider. (Sums of i32 are
/// exact.)
void check_accumulator(At at, DType accumulator) {
  if (accumulator == DType::f32 || accumulator == DType::f64) return;
  operation_error<TypeError>(at, "sums are not taken in this dtype", "attributes.accumulator",
                             std::string(name_of(accumulator)), "f32 or f64");
}

struct SumAttributes {
  Axes axes;
  DType accumulator = DType::f32;
  static constexpr auto fields() {
    return std::tuple{field("axes", &SumAttributes::axes),
                      field("accumulator", &SumAttributes::accumulator)};
  }
};
Types infer_sum(At at) {
  check_operand_count(at, 1);
  check_i32_or_float(at);
  const auto [axes, accumulator] = at.attributes.as<SumAttributes>();
  check_axes(at, "axes", axes, at.operands[0].rank());
  check_accumulator(at, accumulator);
  return {{at.operands[0].dtype, emit::without(at.operands[0].dims, axes)}};
}
struct MatmulAttributes {
  bool rhs_transposed = false;
  DType accumulator = DType::f32;
  static constexpr auto fields() {
    return std::tuple{field("rhs_transposed", &MatmulAttributes::rhs_transposed),
                      field("accumulator", &MatmulAttributes::accumulator)};
  }
};
Types infer_product(At at) {
  check_operand_count(at, 2);
  check_i32_or_float(at);
  check_same_dtype(at, 1);
  const auto [transposed, accumulator] = at.attributes.as<MatmulAttributes>();
  const Type &x = at.operands[0], &y = at.operands[1];
  for (std::size_t i = 0; i < 2; ++i) {
    if (at.operands[i].rank() == 2) continue;
    operation_error<ValueError>(at, "matrices are needed", absl::StrCat("operands[", i, "].dims"),
                                to_text(at.operands[i]), "rank 2");
  }
  const Dim& inner = y.dims[transposed ? 1 : 0];
  if (x.dims[1] != inner) {
    operation_error<ValueError>(at,
                                absl::StrCat("inner extents differ: K is ", to_text(x.dims[1]),
                                             " from x and ", to_text(inner), " from y"),
                                "operands[1].dims", to_text(y));
  }
  check_accumulator(at, accumulator);
  return {{x.dtype, {x.dims[0], y.dims[transposed ? 0 : 1]}}};
}

bool is_float(Builder& b, ValueId v) { return is_floating(b.type(v).dtype); }
ValueId wide(Builder& b, ValueId v) { return emit::convert(b, v, DType::i64); }
ValueId narrow(Builder& b, ValueId v) { return b.add(op_narrow, {{v}})[0]; }
ValueId whole(Builder& b, ValueId like, std::int64_t value) {
  const Literal scalar = make_literal<std::int64_t>({}, std::span<const std::int64_t>(&value, 1));
  return emit::broadcast_scalar(b, b.constant(scalar), b.type(like).dims);
}
ValueId shift_right(Builder& b, ValueId x, std::int64_t bits) {
  return b.add(op_shr, {{x, whole(b, x, bits)}})[0];
}

ValueId checked_add(Builder& b, const Values& x, At) {
  if (is_float(b, x[0])) return emit::add(b, x[0], x[1]);
  return narrow(b, emit::add(b, wide(b, x[0]), wide(b, x[1])));
}
ValueId checked_mul(Builder& b, const Values& x, At) {
  if (is_float(b, x[0])) return emit::mul(b, x[0], x[1]);
  return narrow(b, emit::mul(b, wide(b, x[0]), wide(b, x[1])));
}
ValueId checked_sum(Builder& b, const Values& x, At at) {
  const auto [axes, accumulator] = at.attributes.as<SumAttributes>();
  const DType own = at.operands[0].dtype;
  if (!is_float(b, x[0])) return narrow(b, emit::reduce_sum(b, wide(b, x[0]), axes));
  const ValueId sum = emit::reduce_sum(b, emit::convert(b, x[0], promote(accumulator, own)), axes);
  return emit::convert(b, sum, own);
}

// An i64 in halves: 2^16 high + low, where low has 16 bits.
struct Halves {
  ValueId high, low;
};
Halves halves(Builder& b, ValueId v) {
  return {shift_right(b, v, 16), b.add(op_and_, {{v, whole(b, v, 0xffff)}})[0]};
}
// 2^16 high + low.
ValueId joined(Builder& b, ValueId high, ValueId low) {
  return emit::add(b, emit::mul(b, high, whole(b, high, 1 << 16)), low);
}

// Products of two i32 fit an i64, three of them need not. Those of halves do: the sums of these are
// exact for every K below 2^31, and are put together to an i64, held to its range.
ValueId checked_matmul(Builder& b, const Values& x, At at) {
  const auto attributes = at.attributes.as<MatmulAttributes>();
  auto product = [&](ValueId l, ValueId r) {
    return emit::dot_general(b, l, r, {{}, {}, {1}, {attributes.rhs_transposed ? 1 : 0}});
  };
  if (is_float(b, x[0])) {
    const DType own = at.operands[0].dtype, in = promote(attributes.accumulator, own);
    const ValueId sums = product(emit::convert(b, x[0], in), emit::convert(b, x[1], in));
    return emit::convert(b, sums, own);
  }
  const Halves l = halves(b, wide(b, x[0])), r = halves(b, wide(b, x[1]));
  const Halves low = halves(b, product(l.low, r.low));
  const ValueId high_low = product(l.high, r.low), low_high = product(l.low, r.high);
  const Halves middle = halves(b, emit::add(b, emit::add(b, high_low, low_high), low.high));
  const ValueId top = emit::add(b, product(l.high, r.high), middle.high);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const ValueId held =
      emit::max(b, emit::min(b, top, whole(b, top, kMost)), whole(b, top, -kMost - 1));
  return narrow(b, joined(b, joined(b, held, middle.low), low.low));
}

// i32 with i32 is exact or an error; with any f32 everything is f32.
DtypePlan checked(DtypePlan plan, Accumulation accumulation) {
  const bool whole_numbers = plan.compute == DType::i32;
  plan.arithmetic = whole_numbers ? Arithmetic::checked : Arithmetic::ieee;
  plan.accumulation =
      whole_numbers || accumulation == Accumulation::none ? accumulation : Accumulation::floating;
  plan.accumulator.reset();
  if (plan.accumulation == Accumulation::floating) plan.accumulator = DType::f32;
  return plan;
}
// bool is no number; the other dtypes are numbers that these operations do not have.
void check_call(Bound call) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&call.operands[i]);
    if (t == nullptr || t->type().dtype == DType::i32 || t->type().dtype == DType::f32) continue;
    ErrorDetail detail{.message = "checked arithmetic is for i32 and f32",
                       .field = absl::StrCat("operands[", i, "].dtype"),
                       .found = to_text(t->type()),
                       .needed = "i32 or f32"};
    if (t->type().dtype == DType::boolean) throw TypeError(std::move(detail));
    throw NotImplementedError(std::move(detail));
  }
}
DtypePlan plan_pair(Bound call) {
  check_call(call);
  return checked(plan_number(call), Accumulation::none);
}
DtypePlan plan_total(Bound call) {
  check_call(call);
  DtypePlan plan = checked(plan_number(call), Accumulation::exact_integer);
  const Attribute* given = call.options.find("accumulator");
  if (given == nullptr) return plan;
  const DType accumulator = std::get<DType>(*given);
  ErrorDetail detail{.field = "options.accumulator", .found = std::string(name_of(accumulator))};
  if (accumulator != DType::f32 && accumulator != DType::f64) {
    detail.message = "sums are not taken in this dtype";
    detail.needed = "f32 or f64";
    throw NotImplementedError(std::move(detail));
  }
  if (plan.accumulation == Accumulation::exact_integer) {
    detail.message = "sums of i32 are exact: no accumulator can be asked for";
    throw TypeError(std::move(detail));
  }
  plan.accumulator = accumulator;
  return plan;
}

// Extents are equal or 1, axis by axis; a rank is not extended.
void check_profiles(const Type& x, const Type& y) {
  const std::string types = absl::StrCat("x is ", to_text(x), ", y is ", to_text(y));
  if (x.rank() != y.rank()) {
    throw ValueError({.message = "ranks differ: " + types,
                      .field = "operands[1].dims",
                      .found = absl::StrCat("rank ", y.rank()),
                      .needed = absl::StrCat("rank ", x.rank())});
  }
  for (std::size_t a = 0; a < x.rank(); ++a) {
    const Dim &l = x.dims[a], &r = y.dims[a];
    if (l == r || l == Dim(1) || r == Dim(1)) continue;
    throw ValueError({.message = absl::StrCat("extents of axis ", a, " differ: ", types),
                      .field = absl::StrCat("operands[1].dims[", a, "]"),
                      .found = to_text(r),
                      .needed = absl::StrCat("1 or ", to_text(l))});
  }
}
Function body_pair(Bound call, const DtypePlan& plan) {
  const auto* x = std::get_if<Tensor>(&call.operands[0]);
  const auto* y = std::get_if<Tensor>(&call.operands[1]);
  if (x != nullptr && y != nullptr) check_profiles(x->type(), y->type());
  return body_elementwise(call, plan);
}

DType accumulator_of(const DtypePlan& plan) { return plan.accumulator.value_or(DType::f32); }
Function body_sum(Bound call, const DtypePlan& plan) {
  const std::size_t rank = call.tensor(0).type().rank();
  return body_direct(
      call, plan,
      Attributes::of(SumAttributes{axes_in(call, "axes", call.options.get<Axes>("axes"), rank),
                                   accumulator_of(plan)}));
}
Function body_product(Bound call, const DtypePlan& plan) {
  return body_direct(call, plan,
                     Attributes::of(MatmulAttributes{call.options.get<bool>("rhs_transposed"),
                                                     accumulator_of(plan)}));
}

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};

std::vector<Workload> pair_rows() {
  std::vector<Workload> rows;
  auto row = [&](DType d, const Dims& dims) {
    const Type type = type_of(d, dims);
    rows.push_back({.operands = {type, type}, .order = is_floating(d) ? 2 : 0});
  };
  row(DType::i32, {7, 13});
  row(DType::i32, {});
  for (DType d : kFloats) row(d, {7, 13});
  return rows;
}
std::vector<Workload> sum_rows() {
  std::vector<Workload> rows;
  auto row = [&](DType d, DType accumulator) {
    rows.push_back({.operands = {type_of(d, {7, 13})},
                    .attributes = Attributes::of(SumAttributes{{1}, accumulator}),
                    .order = is_floating(d) ? 2 : 0});
  };
  row(DType::i32, DType::f32);
  for (DType d : kFloats) row(d, DType::f32);
  row(DType::f32, DType::f64);
  return rows;
}
std::vector<Workload> product_rows() {
  std::vector<Workload> rows;
  auto row = [&](DType d, bool transposed, DType accumulator) {
    const Dims y = transposed ? Dims{4, 5} : Dims{5, 4};
    rows.push_back({.operands = {type_of(d, {3, 5}), type_of(d, y)},
                    .attributes = Attributes::of(MatmulAttributes{transposed, accumulator}),
                    .order = is_floating(d) ? 2 : 0});
  };
  for (const bool transposed : {false, true}) {
    row(DType::i32, transposed, DType::f32);
    row(DType::f32, transposed, DType::f32);
    row(DType::f32, transposed, DType::f64);
  }
  for (DType d : kFloats) {
    if (d != DType::f32) row(d, false, DType::f32);
  }
  return rows;
}

// With an accumulator of the call's own, or without.
constexpr OptionSpec kTransposed[] = {{"rhs_transposed", OptionKind::flag, false_option}};
constexpr OptionSpec kTransposedIn[] = {{"rhs_transposed", OptionKind::flag, false_option},
                                        {"accumulator", OptionKind::dtype}};
constexpr OperationSchema kProduct[] = {{.operands = kXY, .options = kTransposed},
                                        {.operands = kXY, .options = kTransposedIn}};
constexpr OperationSchema kPair[] = {{.operands = kXY}};
constexpr OptionSpec kAxes[] = {{"axes", OptionKind::integers}};
constexpr OptionSpec kAxesIn[] = {{"axes", OptionKind::integers},
                                  {"accumulator", OptionKind::dtype}};
constexpr OperationSchema kTotal[] = {{.operands = kX, .options = kAxes},
                                      {.operands = kX, .options = kAxesIn}};

constexpr Strict strict_pair(decltype(Strict::decompose) meaning, std::string_view text) {
  return {.roles = first<2>(kSmooth),
          .pattern = Pattern::composite,
          .traits = kFusable | kCommutative,
          .infer = infer_pair,
          .decompose = meaning,
          .workloads = pair_rows,
          .text = text};
}

}  // namespace

constinit const Operation op_checked_add = define_op(
    {.name = "checked_add",
     .strict = strict_pair(
         decompose<checked_add>,
         "x + y, exact in i32 or an OverflowError; floats as add.\nC1 both are i32 or of one "
         "floating dtype.\nC2 both have one shape."),
     .surface = {.overloads = kPair, .plan = plan_pair, .body = body_pair}});

constinit const Operation op_checked_elementwise_mul = define_op(
    {.name = "checked_elementwise_mul",
     .strict = strict_pair(
         decompose<checked_mul>,
         "x * y of two tensors, exact in i32 or an OverflowError; floats as mul.\nC1 both are i32 "
         "or of one floating dtype.\nC2 both have one shape."),
     .surface = {.overloads = kPair, .plan = plan_pair, .body = body_pair}});

constinit const Operation op_checked_mul = define_op(
    {.name = "checked_mul",
     .strict = strict_pair(
         decompose<checked_mul>,
         "x * y, exact in i32 or an OverflowError; floats as mul.\nC1 both are i32 or of one "
         "floating dtype.\nC2 both have one shape."),
     .surface = {.overloads = kBinary, .plan = plan_pair, .body = body_pair}});

constinit const Operation op_checked_reduce_sum = define_op(
    {.name = "checked_reduce_sum",
     .strict = {.roles = first<1>(kSmooth),
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_sum,
                .decompose = decompose<checked_sum>,
                .workloads = sum_rows,
                .rtol = 1e-5,
                .atol = 1e-5,
                .text =
                    "The sum along axes, exact in i32 or an OverflowError (partial sums may leave "
                    "i32); floats are summed in the accumulator's dtype, or their own when it is "
                    "wider, and rounded.\nC1 x is i32 or floating.\nC2 the axes are in range, "
                    "distinct and ascending.\nC3 the accumulator is f32 or f64."},
     .surface = {.overloads = kTotal, .plan = plan_total, .body = body_sum}});

constinit const Operation op_checked_matmul = define_op(
    {.name = "checked_matmul",
     .strict = {.roles = first<2>(kSmooth),
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_product,
                .decompose = decompose<checked_matmul>,
                .workloads = product_rows,
                .rtol = 1e-5,
                .atol = 1e-5,
                .text = "x[M,K] times y[K,N], or y[N,K] when rhs_transposed; exact in i32 or an "
                        "OverflowError, whatever the partial sums; floats are multiplied and "
                        "summed in the accumulator's dtype, or their own when it is wider, and "
                        "rounded.\nC1 both are i32 or of one floating dtype.\nC2 both have rank "
                        "2.\nC3 the inner extents are equal.\nC4 the accumulator is f32 or f64."},
     .surface = {.overloads = kProduct, .plan = plan_total, .body = body_product}});

}  // namespace heddle
