// Reductions: sums, products, extremes, and where they are.
#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

Axes axes_of(const Attributes& attributes) { return attributes.as<AxesAttributes>().axes; }

template <int kKinds>
Types infer_reduce(At at) {
  check_operand_count(at, 1);
  check_kind(at, 0, kKinds);
  const Axes axes = axes_of(at.attributes);
  check_axes(at, "axes", axes, at.operands[0].rank());
  return {{at.operands[0].dtype, emit::without(at.operands[0].dims, axes)}};
}

/// Folds the elements along `axes` in row-major order: kStep(accumulator, element), from kStart.
/// The result is rounded once.
template <class T, class Accumulator, class Step>
Literal fold(const Literal& x, const Axes& axes, Accumulator start, Step step) {
  const Axes extents = extents_of(x), kept = emit::other_axes(extents.size(), axes);
  const Type type{x.type.dtype, emit::without(x.type.dims, axes)};
  const Axes strides = strides_of(constant_extents(type.dims));
  std::vector<Accumulator> sums(static_cast<std::size_t>(element_count(type)), start);
  const std::span<const T> from = view<T>(x);
  for_each_index(extents, [&](std::size_t i, const Axes& index) {
    std::int64_t place = 0;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      place += index[static_cast<std::size_t>(kept[k])] * strides[k];
    }
    Accumulator& sum = sums[static_cast<std::size_t>(place)];
    sum = step(sum, static_cast<Accumulator>(computed(from[i])));
  });
  return generate<T>(type, [&](std::size_t i) { return convert_element<T>(sums[i]); });
}

Literals evaluate_sum(At at, Inputs in) {
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    return fold<T>(in[0], axes_of(at.attributes), Total<T>(0),
                   [](Total<T> sum, Total<T> x) { return sum + x; });
  })};
}
Literals evaluate_prod(At at, Inputs in) {
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    return fold<T>(in[0], axes_of(at.attributes), Total<T>(1),
                   [](Total<T> product, Total<T> x) { return product * x; });
  })};
}

template <auto kPick, bool kOfMax>
Literals evaluate_extremum(At at, Inputs in) {
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    using C = Computed<T>;
    return fold<T>(in[0], axes_of(at.attributes), worst<C>(kOfMax),
                   [](C best, C x) { return C(kPick(best, x)); });
  })};
}
template <bool kAll>
Literals evaluate_truth(At at, Inputs in) {
  // unsigned char: vector<bool> has no references
  return {fold<bool>(in[0], axes_of(at.attributes), static_cast<unsigned char>(kAll),
                     [](unsigned char sum, unsigned char x) -> unsigned char {
                       return kAll ? sum & x : sum | x;
                     })};
}

// sum: a cotangent for every element it summed.
MaybeValues sum_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  return {emit::broadcast_over(c.build, *ct[0], c.type(0).dims, axes_of(c.node.attributes))};
}

// prod ------------------------------------------------------------------------------------------

struct Dual {
  ValueId x, t;
};

// The product of the two halves of an axis, and its tangent; an odd last element stands beside a 1.
Dual multiply_halves(Builder& b, Dual d, std::int64_t axis) {
  const auto a = static_cast<std::size_t>(axis);
  Axes extents = constant_extents(b.type(d.x).dims);
  const std::int64_t half = (extents[a] + 1) / 2;
  if (extents[a] % 2 != 0) {
    const DType dtype = b.type(d.x).dtype;
    Axes none(extents.size(), 0), high(extents.size(), 0);
    high[a] = 1;
    d.x = emit::pad(b, d.x, emit::scalar(b, dtype, 1), none, high, none);
    d.t = emit::pad(b, d.t, emit::scalar(b, dtype, 0), none, high, none);
  }
  const Dual left{emit::slice_axis(b, d.x, axis, 0, half), emit::slice_axis(b, d.t, axis, 0, half)};
  const Dual right{emit::slice_axis(b, d.x, axis, half, 2 * half),
                   emit::slice_axis(b, d.t, axis, half, 2 * half)};
  const ValueId product = emit::mul(b, left.x, right.x);
  const ValueId first_part = emit::mul(b, left.t, right.x);
  const ValueId second_part = emit::mul(b, right.t, left.x);
  return {product, emit::add(b, first_part, second_part)};
}

// By a tree of products, never by division: right at zeros, and so are the higher derivatives.
MaybeValues prod_linearize(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  Builder& b = c.build;
  const Axes axes = axes_of(c.node.attributes);
  const Dims dims = b.type(c.primal_in[0]).dims;
  Dual d{c.primal_in[0], *t[0]};
  for (std::int64_t axis : axes) {
    const auto a = static_cast<std::size_t>(axis);
    if (dims[a] == Dim(0)) return {std::nullopt};  // the product of nothing is constant
    while (b.type(d.x).dims[a].constant() > 1) d = multiply_halves(b, d, axis);
  }
  return {emit::reshape(b, d.t, emit::without(dims, axes))};
}

// max, min --------------------------------------------------------------------------------------

// The mean of the winners' tangents; NaN where the extreme is: its derivatives are NaN too.
MaybeValues extremum_linearize(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  Builder& b = c.build;
  const Axes axes = axes_of(c.node.attributes);
  const Type type = b.type(c.primal_in[0]);
  for (std::int64_t a : axes) {
    if (type.dims[static_cast<std::size_t>(a)] == Dim(0)) return {std::nullopt};
  }
  const ValueId y = c.primal_out[0], lost = emit::compare(b, "ne", y, y);
  const ValueId best = emit::broadcast_over(b, y, type.dims, axes);
  const ValueId wins = emit::logical_or(b, emit::compare(b, "eq", c.primal_in[0], best),
                                        emit::compare(b, "ne", best, best));
  const ValueId winners = emit::reduce_sum(b, emit::convert(b, wins, type.dtype), axes);
  const ValueId count = emit::select(b, lost, y, winners);
  const ValueId chosen = emit::select(b, wins, *t[0], emit::zeros_like(b, *t[0]));
  return {emit::div(b, emit::reduce_sum(b, chosen, axes), count)};
}

// argmax, argmin --------------------------------------------------------------------------------

Types infer_arg(At at) {
  check_operand_count(at, 1);
  check_kind(at, 0, kNumber);
  const std::int64_t axis = at.attributes.as<AxisAttributes>().axis;
  const Type& x = at.operands[0];
  check_axis(at, "axis", axis, x.rank());
  if (x.dims[static_cast<std::size_t>(axis)] == Dim(0)) {
    operation_error<ValueError>(at, absl::StrCat("axis ", axis, " is empty: nothing wins"),
                                "operands[0].dims", to_text(x), "an extent of at least 1");
  }
  return {{DType::i32, emit::without(x.dims, {axis})}};
}
template <bool kMax>
Literals evaluate_arg(At at, Inputs in) {
  const std::int64_t axis = at.attributes.as<AxisAttributes>().axis;
  const Type type = infer_arg(at)[0];
  const Axes extents = extents_of(in[0]), strides = strides_of(constant_extents(type.dims));
  std::vector<std::int32_t> winners(static_cast<std::size_t>(element_count(type)), 0);
  dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]);
    std::vector<Computed<T>> best(winners.size());
    for_each_index(extents, [&](std::size_t i, const Axes& index) {
      std::int64_t place = 0;
      for (std::size_t a = 0, k = 0; a < index.size(); ++a) {
        if (static_cast<std::int64_t>(a) != axis) place += index[a] * strides[k++];
      }
      const auto p = static_cast<std::size_t>(place);
      const auto position = static_cast<std::int32_t>(index[static_cast<std::size_t>(axis)]);
      const Computed<T> value = computed(x[i]);
      const bool better = kMax ? value > best[p] : value < best[p];
      const bool first_nan = is_nan(value) && !is_nan(best[p]);
      if (position == 0 || better || first_nan) best[p] = value, winners[p] = position;
    });
    return Literal{};
  });
  return {make_literal<std::int32_t>(type.dims, winners)};
}

// Rows ------------------------------------------------------------------------------------------

template <int kKinds, int kOrder>
std::vector<Workload> reduce_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, Axes axes) {
    const bool truth = kKinds == kBool;
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(AxesAttributes{std::move(axes)}),
                      .low = truth ? 0.0 : -2.0,
                      .high = truth ? 1.0 : 2.0,
                      .order = is_floating(dtype) ? kOrder : 0});
  };
  const DType main = kKinds & kFloat ? DType::f32 : DType::boolean;
  row(main, {7, 13}, {1});
  row(main, {7, 13}, {0});
  row(main, {3, 5}, {0, 1});
  row(main, {2, 3, 5}, {0, 2});
  row(main, {2, 3, 5}, {1});
  row(main, {1, 17}, {1});
  row(main, {}, {});
  row(main, {3, 0, 4}, {1});
  row(main, {0, 3}, {1});
  for (DType d : kAllDTypes) {
    if (d != main && (kind_of(d) & kKinds)) row(d, {3, 5}, {1});
  }
  return result;
}
std::vector<Workload> arg_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, std::int64_t axis) {
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(AxisAttributes{axis}),
                      .order = 0});
  };
  row(DType::f32, {7, 13}, 1);
  row(DType::f32, {7, 13}, 0);
  row(DType::f32, {2, 3, 5}, 1);
  row(DType::f32, {17}, 0);
  row(DType::f32, {0, 3}, 1);
  for (DType d : kAllDTypes) {
    if (d != DType::boolean) row(d, {16}, 0);
  }
  return result;
}

std::pair<std::int64_t, std::int64_t> roofline(At at, const Bindings& symbols) {
  const std::int64_t in = evaluate(element_count(at.operands[0].dims), symbols);
  std::int64_t bytes = in * static_cast<std::int64_t>(size_of(at.operands[0].dtype));
  for (const Type& r : at.op.strict.infer(at)) {
    bytes += evaluate(element_count(r.dims), symbols) * static_cast<std::int64_t>(size_of(r.dtype));
  }
  return {in, bytes};
}

struct Reduction {
  std::string_view name;
  std::span<const Role> roles;
  Evaluate evaluate;
  Linearize linearize = nullptr;
  Transpose transpose = nullptr;
  DtypePlan (*plan)(Bound);
  double rtol = 1e-5, atol = 1e-6;
  std::string_view text;
};
template <int kKinds>
consteval Operation reduction(Reduction r) {
  return define_op({.name = r.name,
                    .strict = {.roles = r.roles,
                               .pattern = Pattern::reduce,
                               .traits = kFusable,
                               .infer = infer_reduce<kKinds>,
                               .evaluate = r.evaluate,
                               .linearize = r.linearize,
                               .transpose = r.transpose,
                               .workloads = reduce_rows<kKinds, 2>,
                               .rtol = r.rtol,
                               .atol = r.atol,
                               .roofline = roofline,
                               .text = r.text},
                    .surface = surface_reduce(r.plan)});
}
consteval Operation arg_reduction(std::string_view name, Evaluate evaluate, std::string_view text) {
  return define_op({.name = name,
                    .strict = {.roles = first<1>(kNoGrad),
                               .pattern = Pattern::reduce,
                               .traits = kFusable,
                               .infer = infer_arg,
                               .evaluate = evaluate,
                               .workloads = arg_rows,
                               .rtol = 0,
                               .atol = 0,
                               .roofline = roofline,
                               .text = text},
                    .surface = surface_axis(plan_index)});
}

}  // namespace

constinit const Operation op_reduce_sum = reduction<kNumber>(
    {.name = "reduce_sum",
     .roles = first<1>(kLinear),
     .evaluate = evaluate_sum,
     .transpose = sum_transpose,
     .plan = plan_sum,
     .text = "The sum along `axes`, which leave the result. Integers wrap; floats are added in "
             "any fixed order in their own precision or a wider one (the reference: in double, "
             "rounded once).\nC1 x has an integer or floating dtype.\nC2 the axes are in range, "
             "distinct and ascending.\nThe sum of nothing is 0; infinities of both signs give "
             "NaN."});

constinit const Operation op_reduce_prod = reduction<kNumber>(
    {.name = "reduce_prod",
     .roles = first<1>(kSmooth),
     .evaluate = evaluate_prod,
     .linearize = prod_linearize,
     .plan = plan_sum,
     .text = "The product along `axes`. Integers wrap; the reference multiplies floats in double "
             "and rounds once.\nC1 x has an integer or floating dtype.\nC2 the axes are in range, "
             "distinct and ascending.\nThe product of nothing is 1. The derivative is a tree of "
             "products and never divides by x."});

constinit const Operation op_reduce_max = reduction<kNumber>(
    {.name = "reduce_max",
     .roles = first<1>(kSmooth),
     .evaluate = evaluate_extremum<kMaximum, true>,
     .linearize = extremum_linearize,
     .plan = plan_extremum,
     .rtol = 0,
     .atol = 0,
     .text = "The greatest element along `axes`.\nC1 x has an integer or floating dtype.\nC2 the "
             "axes are in range, distinct and ascending.\nNaN if any is NaN; of zeros of both "
             "signs either. Of nothing: -inf, or "
             "the least integer. Winners of equal value share the derivative equally."});

constinit const Operation op_reduce_min = reduction<kNumber>(
    {.name = "reduce_min",
     .roles = first<1>(kSmooth),
     .evaluate = evaluate_extremum<kMinimum, false>,
     .linearize = extremum_linearize,
     .plan = plan_extremum,
     .rtol = 0,
     .atol = 0,
     .text = "The least element along `axes`.\nC1 x has an integer or floating dtype.\nC2 the axes "
             "are in range, distinct and ascending.\nNaN if any is NaN; of zeros of both signs "
             "either. Of nothing: inf, or the "
             "greatest integer. Winners of equal value share the derivative equally."});

constinit const Operation op_reduce_any =
    reduction<kBool>({.name = "reduce_any",
                      .roles = first<1>(kNoGrad),
                      .evaluate = evaluate_truth<false>,
                      .plan = plan_bool,
                      .rtol = 0,
                      .atol = 0,
                      .text = "Whether any element along `axes` holds.\nC1 x is bool.\nC2 the axes "
                              "are in range, distinct and ascending.\nOf nothing: false."});

constinit const Operation op_reduce_all =
    reduction<kBool>({.name = "reduce_all",
                      .roles = first<1>(kNoGrad),
                      .evaluate = evaluate_truth<true>,
                      .plan = plan_bool,
                      .rtol = 0,
                      .atol = 0,
                      .text = "Whether every element along `axes` holds.\nC1 x is bool.\nC2 the "
                              "axes are in range, distinct and ascending.\nOf nothing: true."});

constinit const Operation op_argmax = arg_reduction(
    "argmax", evaluate_arg<true>,
    "The index of the greatest element along one axis, as i32; the first of equal ones; the first "
    "NaN if there is one.\nC1 x has an integer or floating dtype.\nC2 0 <= axis < rank.\nC3 the "
    "axis is not empty.\nNo derivative: the result is an index.");

constinit const Operation op_argmin = arg_reduction(
    "argmin", evaluate_arg<false>,
    "The index of the least element along one axis, as i32; the first of equal ones; the first "
    "NaN if there is one.\nC1 x has an integer or floating dtype.\nC2 0 <= axis < rank.\nC3 the "
    "axis is not empty.\nNo derivative: the result is an index.");

}  // namespace heddle
