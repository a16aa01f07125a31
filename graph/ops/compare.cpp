// Comparison, choice and conversion: element by element.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/cotangent.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/unary.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

// compare ----------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 6> kDirections = {"eq", "ne", "lt", "le", "gt", "ge"};

template <class T>
bool holds(std::string_view direction, T x, T y) {
  if (direction == "eq") return x == y;
  if (direction == "ne") return x != y;
  if (direction == "lt") return x < y;
  if (direction == "le") return x <= y;
  if (direction == "gt") return x > y;
  return x >= y;
}

Types infer_compare(At at) {
  const std::string direction = at.attributes.as<CompareAttributes>().direction;
  const Types same = infer_same<2, kAny>(at);
  if (std::find(kDirections.begin(), kDirections.end(), direction) == kDirections.end()) {
    operation_error<ValueError>(at, "unknown direction", "attributes.direction", direction,
                                "eq, ne, lt, le, gt or ge");
  }
  return {{DType::boolean, same[0].dims}};
}
Literals evaluate_compare(At at, Inputs in) {
  const std::string direction = at.attributes.as<CompareAttributes>().direction;
  return {dispatch_kinds<kAny>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]), y = view<T>(in[1]);
    return generate<bool>({DType::boolean, in[0].type.dims}, [&](std::size_t i) {
      return holds(direction, computed(x[i]), computed(y[i]));
    });
  })};
}
std::vector<Workload> compare_rows() {
  std::vector<Workload> result;
  for (std::string_view direction : kDirections) {
    for (Workload row : elementwise_rows(2, kAny, -2, 2, 0)) {
      row.attributes = Attributes::of(CompareAttributes{std::string(direction)});
      result.push_back(std::move(row));
    }
  }
  return result;
}

constexpr OptionSpec kDirection[] = {{"direction", OptionKind::text}};
constexpr OperationSchema kCompareSchemas[] = {{.operands = kXY, .options = kDirection},
                                               {.operands = kXWeakY, .options = kDirection},
                                               {.operands = kWeakXY, .options = kDirection}};

// select -----------------------------------------------------------------------------------------

Types infer_select(At at) {
  check_operand_count(at, 3);
  check_dtype(at, 0, DType::boolean);
  check_same_dtype(at, 2, 1);
  check_same_dims(at, 1);
  check_same_dims(at, 2);
  return {at.operands[1]};
}
Literals evaluate_select(At, Inputs in) {
  const std::span<const bool> predicate = view<bool>(in[0]);
  return {dispatch_kinds<kAny>(in[1].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> yes = view<T>(in[1]), no = view<T>(in[2]);
    return generate<T>(in[1].type, [&](std::size_t i) { return predicate[i] ? yes[i] : no[i]; });
  })};
}
MaybeValues select_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  MaybeValues result(3);
  const ValueId predicate = c.residual(0);
  const ValueId zero = emit::zeros_like(c.build, *ct[0]);
  if (c.is_linear(1)) result[1] = emit::select(c.build, predicate, *ct[0], zero);
  if (c.is_linear(2)) result[2] = emit::select(c.build, predicate, zero, *ct[0]);
  return result;
}
std::vector<Workload> select_rows() {
  std::vector<Workload> result = elementwise_rows(3, kAny, -4, 4, 2);
  for (Workload& row : result) {
    row.operands[0].dtype = DType::boolean;
    row.ranges = {{0, 1}, {-4, 4}, {-4, 4}};
  }
  return result;
}

constexpr Role kSelectRoles[] = {Role::no_grad, Role::linear, Role::linear};
constexpr OperandSpec kChoose[] = {{"predicate"}, {"x"}, {"y"}};
constexpr OperandSpec kChooseWeakY[] = {{"predicate"}, {"x"}, {"y", kWeak}};
constexpr OperandSpec kChooseWeakX[] = {{"predicate"}, {"x", kWeak}, {"y"}};
constexpr OperandSpec kChooseWeak[] = {{"predicate"}, {"x", kWeak}, {"y", kWeak}};
constexpr OperationSchema kSelectSchemas[] = {{.operands = kChoose},
                                              {.operands = kChooseWeakY},
                                              {.operands = kChooseWeakX},
                                              {.operands = kChooseWeak}};

// clamp ------------------------------------------------------------------------------------------

template <class T>
T clamped(T x, T low, T high) {
  if (is_nan(x) || is_nan(low) || is_nan(high)) return is_nan(x) ? x : is_nan(low) ? low : high;
  const T raised = x < low ? low : x;
  return high < raised ? high : raised;
}
Literals evaluate_clamp(At, Inputs in) {
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]), low = view<T>(in[1]), high = view<T>(in[2]);
    return generate<T>(in[0].type, [&](std::size_t i) {
      return T(clamped(computed(x[i]), computed(low[i]), computed(high[i])));
    });
  })};
}

// Strict masks: x's tangent passes for low < x < high, low's for x < low < high, high's where it is
// below x or low.
MaybeValues clamp_linearize(RuleContext& c, Tangents t) {
  Builder& b = c.build;
  const ValueId x = c.primal_in[0], low = c.primal_in[1], high = c.primal_in[2];
  MaybeValue sum;
  const auto pass = [&](MaybeValue tangent, ValueId mask) {
    const ValueId part = emit::select(b, mask, *tangent, emit::zeros_like(b, x));
    sum = sum ? emit::add(b, *sum, part) : part;
  };
  if (t[0]) {
    const ValueId above = emit::compare(b, "lt", low, x), below = emit::compare(b, "lt", x, high);
    pass(t[0], emit::logical_and(b, above, below));
  }
  if (t[1]) {
    const ValueId cut = emit::compare(b, "lt", x, low), order = emit::compare(b, "lt", low, high);
    pass(t[1], emit::logical_and(b, cut, order));
  }
  if (t[2]) pass(t[2], emit::compare(b, "lt", high, emit::max(b, x, low)));
  return {sum};
}
std::vector<Workload> clamp_rows() {
  std::vector<Workload> result = elementwise_rows(3, kNumber, -4, 4, 2);
  for (Workload& row : result) row.ranges = {{-4, 4}, {-2, -1}, {1, 2}};
  for (Workload& row : result) {  // bounds of unsigned ones: no negative numbers
    if (!is_signed(row.operands[0].dtype)) row.ranges = {{0, 9}, {2, 3}, {5, 6}};
  }
  return result;
}

constexpr OperandSpec kBounded[] = {{"x"}, {"low"}, {"high"}};
constexpr OperandSpec kBoundedHigh[] = {{"x"}, {"low"}, {"high", kWeak}};
constexpr OperandSpec kBoundedLow[] = {{"x"}, {"low", kWeak}, {"high"}};
constexpr OperandSpec kBoundedWeak[] = {{"x"}, {"low", kWeak}, {"high", kWeak}};
constexpr OperationSchema kClampSchemas[] = {{.operands = kBoundedWeak},
                                             {.operands = kBounded},
                                             {.operands = kBoundedHigh},
                                             {.operands = kBoundedLow}};

// convert ----------------------------------------------------------------------------------------

Types infer_convert(At at) {
  check_operand_count(at, 1);
  return {{at.attributes.as<ConvertAttributes>().to, at.operands[0].dims}};
}
Literals evaluate_convert(At at, Inputs in) {
  return {convert(in[0], at.attributes.as<ConvertAttributes>().to)};
}
MaybeValues convert_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const DType back = c.type(0).dtype;
  return {through_masks(c.build, *ct[0],
                        [&](ValueId inner) { return emit::convert(c.build, inner, back); })};
}
std::vector<Workload> convert_rows() {
  std::vector<Workload> result;
  for (DType from : kAllDTypes) {
    for (DType to : kAllDTypes) {
      const bool both = is_floating(from) && is_floating(to);
      result.push_back({.operands = {type_of(from, {3, 5})},
                        .attributes = Attributes::of(ConvertAttributes{to}),
                        .order = both ? 2 : 0});
    }
  }
  result.push_back({.operands = {type_of(DType::f32)},
                    .attributes = Attributes::of(ConvertAttributes{DType::i32}),
                    .order = 0});
  result.push_back({.operands = {type_of(DType::i32, {0, 3})},
                    .attributes = Attributes::of(ConvertAttributes{DType::f32}),
                    .order = 0});
  return result;
}

// bitcast ----------------------------------------------------------------------------------------

Types infer_bitcast(At at) {
  check_operand_count(at, 1);
  check_kind(at, 0, kNumber);
  const DType from = at.operands[0].dtype, to = at.attributes.as<ConvertAttributes>().to;
  if (to == DType::boolean) {
    operation_error<TypeError>(at, "unsupported dtype", "attributes.to", "bool",
                               std::string(words(kNumber)));
  }
  if (size_of(from) != size_of(to)) {
    operation_error<TypeError>(
        at, "bits of another width", "operands[0].dtype", std::string(name_of(from)),
        absl::StrCat(8 * size_of(to), " bits, as ", std::string(name_of(to))));
  }
  return {{to, at.operands[0].dims}};
}
Literals evaluate_bitcast(At at, Inputs in) {
  return {literal_from_bytes(infer_bitcast(at)[0], *in[0].bytes)};
}
std::vector<Workload> bitcast_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType from, DType to, Dims dims) {
    result.push_back({.operands = {type_of(from, std::move(dims))},
                      .attributes = Attributes::of(ConvertAttributes{to}),
                      .order = 0});
  };
  row(DType::f32, DType::i32, {7, 13});
  row(DType::u32, DType::f32, {});
  row(DType::f64, DType::u64, {0, 3});
  for (DType from : kAllDTypes) {
    for (DType to : kAllDTypes) {
      const bool bits = from != DType::boolean && to != DType::boolean;
      if (bits && from != to && size_of(from) == size_of(to)) row(from, to, {3, 5});
    }
  }
  return result;
}

constexpr OptionSpec kTo[] = {{"to", OptionKind::dtype}};
constexpr OperationSchema kConvertSchemas[] = {{.operands = kX, .options = kTo}};

}  // namespace

constinit const Operation op_compare = define_op(
    {.name = "compare",
     .strict = {.roles = first<2>(kNoGrad),
                .traits = kCheap,
                .infer = infer_compare,
                .evaluate = evaluate_compare,
                .workloads = compare_rows,
                .text = "Whether x stands in `direction` (eq ne lt le gt ge) to y, as bool.\nC1 "
                        "both have one dtype.\nC2 both have one shape.\nC3 the direction is one "
                        "of the six.\nNaN differs from everything: only ne holds; -0 = 0. No "
                        "derivative: the result is no number."},
     .surface = {.overloads = kCompareSchemas, .plan = plan_compare, .body = body_elementwise}});

constinit const Operation op_select = define_op(
    {.name = "select",
     .strict = {.roles = kSelectRoles,
                .traits = kCheap,
                .infer = infer_select,
                .evaluate = evaluate_select,
                .transpose = select_transpose,
                .workloads = select_rows,
                .rtol = 0,
                .atol = 0,
                .text = "x where the predicate holds, else y.\nC1 the predicate is bool.\nC2 x and "
                        "y have one dtype.\nC3 all three have one shape.\nWhat is not chosen has "
                        "no effect, NaN and infinities included; its derivative is 0 even where "
                        "its own is infinite."},
     .surface = {.overloads = kSelectSchemas, .plan = plan_select, .body = body_elementwise}});

constinit const Operation op_clamp = define_op(
    {.name = "clamp",
     .strict =
         {.roles = first<3>(kSmooth),
          .traits = kCheap,
          .infer = infer_same<3, kNumber>,
          .evaluate = evaluate_clamp,
          .linearize = clamp_linearize,
          .workloads = clamp_rows,
          .rtol = 0,
          .atol = 0,
          .text = "low where x < low, then high where that is > high, else x as it is.\nC1 "
                  "all three have one integer or floating dtype.\nC2 all three have one "
                  "shape.\nNaN if any is NaN; high where low > high; clamp(-0, 0, 6) = -0. "
                  "Derivative of x: 1 for low < x < high, 0 at both edges; each bound has that of "
                  "what it replaces."},
     .surface = {.overloads = kClampSchemas, .plan = plan_number, .body = body_elementwise}});

constinit const Operation op_convert = define_op(
    {.name = "convert",
     .strict = {.roles = first<1>(kLinear),
                .traits = kCheap,
                .infer = infer_convert,
                .evaluate = evaluate_convert,
                .transpose = convert_transpose,
                .workloads = convert_rows,
                .rtol = 0,
                .atol = 0,
                .text = "x in dtype `to`. Float to integer truncates toward zero, saturates out "
                        "of range and gives 0 for NaN; integers wrap; to bool is x != 0 (NaN is "
                        "true); to a float rounds to nearest even, once. Only between floating "
                        "dtypes does a derivative flow."},
     .surface = {.overloads = kConvertSchemas, .plan = plan_convert, .body = body_direct}});

constinit const Operation op_bitcast = define_op(
    {.name = "bitcast",
     .strict = {.roles = first<1>(kNoGrad),
                .traits = kCheap,
                .infer = infer_bitcast,
                .evaluate = evaluate_bitcast,
                .workloads = bitcast_rows,
                .rtol = 0,
                .atol = 0,
                .text =
                    "The bits of x read as an element of dtype `to`.\nC1 x has an integer or "
                    "floating dtype.\nC2 `to` is an integer or floating dtype.\nC3 both have one "
                    "width: a change of width would be a change of shape, which StableHLO's "
                    "bitcast_convert has and this has not.\nA NaN that an operation made may have "
                    "any payload and sign. No derivative: bits."},
     .surface = {.overloads = kConvertSchemas, .plan = plan_convert, .body = body_direct}});

}  // namespace heddle
