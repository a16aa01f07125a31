// Cumulative sums, products and extremes along one axis.
#include "heddle/graph/ops/dual.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

CumulativeAttributes attributes_of(const Node& node) {
  return node.attributes.as<CumulativeAttributes>();
}

Types infer_cumulative(At at) {
  check_operand_count(at, 1);
  check_kind(at, 0, kNumber);
  check_axis(at, "axis", at.attributes.as<CumulativeAttributes>().axis, at.operands[0].rank());
  return {at.operands[0]};
}

/// Along each fibre: kStep(accumulator, element) from `start`; each result is rounded once.
template <class T, class Accumulator, class Step>
Literal scan(At at, const Literal& x, Accumulator start, Step step) {
  const auto a = at.attributes.as<CumulativeAttributes>();
  const Axes extents = extents_of(x);
  std::size_t outer = 1, inner = 1;
  const auto axis = static_cast<std::size_t>(a.axis), n = static_cast<std::size_t>(extents[axis]);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i != axis) (i < axis ? outer : inner) *= static_cast<std::size_t>(extents[i]);
  }
  const std::span<const T> from = view<T>(x);
  std::vector<std::byte> bytes(from.size_bytes());
  T* out = reinterpret_cast<T*>(bytes.data());
  for (std::size_t fibre = 0; fibre < outer * inner; ++fibre) {
    Accumulator sum = start;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t k = a.reverse ? n - 1 - i : i;
      const std::size_t at_k = (fibre / inner * n + k) * inner + fibre % inner;
      const Accumulator next = step(sum, static_cast<Accumulator>(computed(from[at_k])));
      out[at_k] = convert_element<T>(a.exclusive ? sum : next);
      sum = next;
    }
  }
  return literal_from_bytes(x.type, std::move(bytes));
}

template <bool kProduct>
Literals evaluate_total(At at, Inputs in) {
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using S = Total<typename decltype(t)::type>;
    return scan<typename decltype(t)::type>(
        at, in[0], S(kProduct), [](S sum, S x) { return kProduct ? sum * x : sum + x; });
  })};
}
template <auto kPick, bool kOfMax>
Literals evaluate_extremum(At at, Inputs in) {
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using C = Computed<typename decltype(t)::type>;
    return scan<typename decltype(t)::type>(at, in[0], worst<C>(kOfMax),
                                            [](C best, C x) { return C(kPick(best, x)); });
  })};
}

MaybeValues cumsum_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  auto a = attributes_of(c.node);
  a.reverse = !a.reverse;
  return {c.build.emit(op_cumsum, {*ct[0]}, Attributes::of(a))};
}

// The tangent is scanned along with its value; an exclusive result is the one before it.
template <Combine kCombine>
MaybeValues cumulative_linearize(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  Builder& b = c.build;
  const auto a = attributes_of(c.node);
  const std::size_t rank = b.type(*t[0]).rank();
  Dual d{c.primal_in[0], *t[0]};
  if (element_count(b.type(d.x)) == 0) return {std::nullopt};
  const Axes turned = a.reverse ? Axes{a.axis} : Axes{};
  d = {emit::reverse(b, d.x, turned), emit::reverse(b, d.t, turned)};
  d = prefixes(b, d, a.axis, kCombine);
  if (a.exclusive) {
    Axes low(rank, 0), high(rank, 0);
    low[static_cast<std::size_t>(a.axis)] = 1, high[static_cast<std::size_t>(a.axis)] = -1;
    d.t = emit::pad(b, d.t, emit::scalar(b, b.type(d.t).dtype, 0), low, high, Axes(rank, 0));
  }
  return {emit::reverse(b, d.t, turned)};
}

std::vector<Workload> cumulative_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, CumulativeAttributes a) {
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(a),
                      .low = is_signed(dtype) ? -1.5 : 0,
                      .high = is_floating(dtype) ? 1.5 : 3,
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, {1});
  row(DType::f32, {7, 13}, {0});
  row(DType::f32, {13}, {0, true});
  row(DType::f32, {2, 3, 5}, {1, false, true});
  row(DType::f32, {3, 2, 5, 3}, {2, true, true});
  row(DType::f32, {1, 33}, {1});
  row(DType::f32, {3, 1}, {1, false, true});
  row(DType::f32, {3, 0}, {1});
  row(DType::f32, {0, 3}, {1});
  for (DType d : kAllDTypes) {
    if (d != DType::boolean && d != DType::f32) row(d, {3, 5}, {1});
  }
  return result;
}

Attribute axis_last() { return std::int64_t{-1}; }
constexpr OptionSpec kOptions[] = {{"axis", OptionKind::integer, axis_last},
                                   {"reverse", OptionKind::flag, false_option},
                                   {"exclusive", OptionKind::flag, false_option}};
constexpr OperationSchema kSchemas[] = {{.operands = kX, .options = kOptions}};

struct Cumulative {
  std::string_view name;
  std::span<const Role> roles = first<1>(kSmooth);
  Evaluate evaluate;
  Linearize linearize = nullptr;
  Transpose transpose = nullptr;
  DtypePlan (*plan)(Bound);
  double rtol = 1e-5, atol = 1e-6;
  std::string_view text;
};
consteval Operation cumulative(Cumulative c) {
  return define_op({.name = c.name,
                    .strict = {.roles = c.roles,
                               .pattern = Pattern::scan,
                               .infer = infer_cumulative,
                               .evaluate = c.evaluate,
                               .linearize = c.linearize,
                               .transpose = c.transpose,
                               .workloads = cumulative_rows,
                               .rtol = c.rtol,
                               .atol = c.atol,
                               .roofline = per_element<1>,
                               .text = c.text},
                    .surface = {.overloads = kSchemas, .plan = c.plan, .body = body_axis}});
}

}  // namespace

constinit const Operation op_cumsum = cumulative(
    {.name = "cumsum",
     .roles = first<1>(kLinear),
     .evaluate = evaluate_total<false>,
     .transpose = cumsum_transpose,
     .plan = plan_sum,
     .text = "result[i] = the sum of x[j], j <= i, along one axis; reverse: j >= i; exclusive: "
             "without i itself. Integers wrap; floats are added in a fixed order in their own "
             "precision or a wider one (the reference: in double, rounded once).\nC1 x has an "
             "integer or floating dtype.\nC2 0 <= axis < rank.\nThe sum of nothing is 0."});

constinit const Operation op_cumprod = cumulative(
    {.name = "cumprod",
     .evaluate = evaluate_total<true>,
     .linearize = cumulative_linearize<product_of>,
     .plan = plan_sum,
     .text = "result[i] = the product of x[j], j <= i, along one axis; reverse: j >= i; exclusive: "
             "without i itself. Integers wrap.\nC1 x has an integer or floating dtype.\nC2 0 <= "
             "axis < rank.\nThe product of nothing is 1. The derivative multiplies in pairs and "
             "never divides by x: right at zeros."});

constinit const Operation op_cummax = cumulative(
    {.name = "cummax",
     .evaluate = evaluate_extremum<kMaximum, true>,
     .linearize = cumulative_linearize<best_of<true>>,
     .plan = plan_extremum,
     .rtol = 0,
     .atol = 0,
     .text = "result[i] = the greatest x[j], j <= i, along one axis; reverse: j >= i; exclusive: "
             "without i itself.\nC1 x has an integer or floating dtype.\nC2 0 <= axis < rank.\nNaN "
             "from the first NaN on; of zeros of both signs either. Of nothing: -inf, or the least "
             "integer. The derivative goes to the first of equal ones."});

constinit const Operation op_cummin = cumulative(
    {.name = "cummin",
     .evaluate = evaluate_extremum<kMinimum, false>,
     .linearize = cumulative_linearize<best_of<false>>,
     .plan = plan_extremum,
     .rtol = 0,
     .atol = 0,
     .text = "result[i] = the least x[j], j <= i, along one axis; reverse: j >= i; exclusive: "
             "without i itself.\nC1 x has an integer or floating dtype.\nC2 0 <= axis < rank.\nNaN "
             "from the first NaN on; of zeros of both signs either. Of nothing: inf, or the "
             "greatest integer. The derivative goes to the first of equal ones."});

}  // namespace heddle
