// Reductions of windows that move over an array: sums and extremes.
#include "heddle/graph/ops/window.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "heddle/graph/ops/dual.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace ops {

std::vector<WindowAxis> window_axes(const Type& x, const WindowAttributes& w) {
  std::vector<WindowAxis> axes;
  for (std::size_t a = 0; a < x.rank(); ++a) {
    axes.push_back({x.dims[a].constant(), w.window[a], w.strides[a], w.low[a], w.high[a],
                    w.base_dilation[a], w.window_dilation[a]});
  }
  return axes;
}
std::vector<WindowAxis> window_axes(const Type& x, const Type& w, const ConvAttributes& a) {
  std::vector<WindowAxis> axes;
  for (std::size_t s = 0; s + 2 < x.rank(); ++s) {
    axes.push_back({x.dims[s + 2].constant(), w.dims[s + 2].constant(), a.strides[s], a.low[s],
                    a.high[s], a.lhs_dilation[s], a.rhs_dilation[s]});
  }
  return axes;
}

void check_numbers(At at, const char* field, const std::vector<std::int64_t>& list,
                   std::size_t count, std::int64_t least) {
  if (list.size() != count) {
    operation_error<ValueError>(at, "one entry per axis is needed",
                                absl::StrCat("attributes.", field),
                                absl::StrCat(list.size(), " entries"), std::to_string(count));
  }
  for (std::int64_t n : list) {
    if (n >= least && n <= kMostPlaces) continue;
    const bool small = n < least;
    operation_error<ValueError>(
        at, small ? "number too small" : "number too large", absl::StrCat("attributes.", field),
        to_text(Attribute(list)),
        small ? absl::StrCat("at least ", least) : absl::StrCat("at most ", kMostPlaces));
  }
}

}  // namespace ops

namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

Types infer_window(At at) {
  check_operand_count(at, 1);
  check_kind(at, 0, kNumber);
  const auto w = at.attributes.as<WindowAttributes>();
  const Type& x = at.operands[0];
  check_numbers(at, "window", w.window, x.rank(), 1);
  check_numbers(at, "strides", w.strides, x.rank(), 1);
  check_numbers(at, "low", w.low, x.rank(), kAnything);
  check_numbers(at, "high", w.high, x.rank(), kAnything);
  check_numbers(at, "base_dilation", w.base_dilation, x.rank(), 1);
  check_numbers(at, "window_dilation", w.window_dilation, x.rank(), 1);
  Dims dims;
  for (const WindowAxis& a : window_axes(x, w)) dims.push_back(a.result());
  return {{x.dtype, dims}};
}

// Elements of a window are visited one by one, padding too.
void check_visits(At at, const Axes& window) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t count = 1;
  for (std::int64_t n : window) count = count > kMost || n > kMost / count ? kMost + 1 : count * n;
  if (count <= kMost) return;
  operation_error<OverflowError>(
      at, "more elements in a window than the reference interpreter visits", "attributes.window",
      to_text(Attribute(window)), absl::StrCat("at most ", kMost));
}

/// Folds each window in row-major order: kStep(accumulator, element) from `start`.
template <class T, class Accumulator, class Step>
Literal fold(At at, const Literal& x, Accumulator start, Step step) {
  const auto w = at.attributes.as<WindowAttributes>();
  const std::vector<WindowAxis> axes = window_axes(x.type, w);
  check_visits(at, w.window);
  const Axes strides = strides_of(extents_of(x));
  const Type type = infer_window(at)[0];
  const std::span<const T> from = view<T>(x);
  std::vector<Accumulator> sums(static_cast<std::size_t>(element_count(type)), start);
  for_each_index(constant_extents(type.dims), [&](std::size_t o, const Axes& result) {
    for_each_index(w.window, [&](std::size_t, const Axes& k) {
      std::int64_t offset = 0;
      for (std::size_t a = 0; a < axes.size(); ++a) {
        const auto i = axes[a].source(result[a], k[a]);
        if (!i) return;
        offset += *i * strides[a];
      }
      sums[o] =
          step(sums[o], static_cast<Accumulator>(computed(from[static_cast<std::size_t>(offset)])));
    });
  });
  return generate<T>(type, [&](std::size_t i) { return convert_element<T>(sums[i]); });
}
Literals evaluate_sum(At at, Inputs in) {
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    return fold<T>(at, in[0], Total<T>(0), [](Total<T> sum, Total<T> x) { return sum + x; });
  })};
}
template <auto kPick, bool kOfMax>
Literals evaluate_extremum(At at, Inputs in) {
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    using C = Computed<T>;
    return fold<T>(at, in[0], worst<C>(kOfMax), [](C best, C x) { return C(kPick(best, x)); });
  })};
}

// Each element gets the cotangents of the windows it was in: again sums of windows, over the
// cotangents with the strides as holes.
MaybeValues sum_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const Type x = c.type(0);
  if (element_count(c.build.type(*ct[0])) == 0) return {emit::zeros(c.build, x)};
  WindowAttributes back;
  for (const WindowAxis& axis : window_axes(x, c.node.attributes.as<WindowAttributes>())) {
    const WindowAxis t = axis.transposed();
    back.window.push_back(t.window), back.strides.push_back(t.stride);
    back.low.push_back(t.low), back.high.push_back(t.high);
    back.base_dilation.push_back(t.base_dilation);
    back.window_dilation.push_back(t.window_dilation);
  }
  return {c.build.emit(op_reduce_window_sum, {*ct[0]}, Attributes::of(back))};
}

// Windows are folded axis by axis, the last first: the first of equal ones in row-major order wins.
template <bool kMax>
MaybeValues extremum_linearize(RuleContext& c, Tangents t) {
  if (!t[0] || element_count(c.build.type(c.primal_out[0])) == 0) return {std::nullopt};
  Builder& b = c.build;
  const auto w = c.node.attributes.as<WindowAttributes>();
  const Type type = b.type(c.primal_in[0]);
  Axes holes = w.base_dilation;
  for (std::int64_t& h : holes) --h;
  const ValueId none = emit::scalar(b, type.dtype, worst<double>(kMax));
  Dual d{emit::pad(b, c.primal_in[0], none, w.low, w.high, holes),
         emit::pad(b, *t[0], emit::scalar(b, type.dtype, 0), w.low, w.high, holes)};
  const std::vector<WindowAxis> axes = window_axes(type, w);
  for (std::size_t a = axes.size(); a-- > 0;) {
    const auto axis = static_cast<std::int64_t>(a);
    d = windows(b, d, axis, w.window[a], w.window_dilation[a], best_of<kMax>);
    d = slice_axis(b, d, axis, 0, spread(axes[a].result(), w.strides[a]), w.strides[a]);
  }
  return {d.t};
}

std::vector<Workload> window_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, WindowAttributes w, int order = 2) {
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(w),
                      .order = is_floating(dtype) ? order : 0});
  };
  row(DType::f32, {7, 13}, {{3, 2}, {2, 1}, {1, 0}, {1, 1}, {1, 1}, {1, 1}});
  row(DType::f32, {9}, {{3}, {2}, {0}, {0}, {1}, {1}});
  row(DType::f32, {17}, {{5}, {1}, {2}, {2}, {1}, {1}});
  row(DType::f32, {2, 3, 6, 7},
      {{1, 1, 3, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}, {0, 0, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}});
  row(DType::f32, {3, 5, 4}, {{2, 1, 2}, {1, 2, 1}, {0, 0, 1}, {1, 0, 0}, {1, 1, 1}, {1, 1, 1}});
  row(DType::f32, {5}, {{2}, {1}, {1}, {1}, {2}, {1}});
  row(DType::f32, {11}, {{3}, {2}, {1}, {2}, {1}, {2}});
  row(DType::f32, {5, 6}, {{3, 2}, {2, 3}, {2, 0}, {1, 3}, {3, 2}, {2, 3}}, 0);  // some all padding
  row(DType::f32, {9}, {{3}, {1}, {-2}, {-1}, {1}, {1}});
  row(DType::f32, {19}, {{19}, {1}, {0}, {0}, {1}, {1}});
  row(DType::f32, {2}, {{3}, {1}, {0}, {0}, {1}, {1}});  // no window fits
  row(DType::f32, {0, 3}, {{2, 2}, {1, 1}, {2, 0}, {1, 0}, {1, 1}, {1, 1}}, 0);
  row(DType::f32, {}, {});
  for (DType d : kAllDTypes) {
    if (d != DType::boolean && d != DType::f32) {
      row(d, {3, 5}, {{2, 2}, {1, 2}, {1, 0}, {0, 1}, {1, 1}, {1, 1}});
    }
  }
  return result;
}

/// One flop per element of each window.
std::pair<std::int64_t, std::int64_t> roofline(At at, const Bindings& symbols) {
  std::int64_t elements = 1;
  for (std::int64_t n : at.attributes.as<WindowAttributes>().window) elements *= n;
  return cost(at, symbols, elements);
}

constexpr OptionSpec kOptions[] = {
    {"window", OptionKind::integers},        {"strides", OptionKind::integers},
    {"low", OptionKind::integers},           {"high", OptionKind::integers},
    {"base_dilation", OptionKind::integers}, {"window_dilation", OptionKind::integers}};
constexpr OperationSchema kSchemas[] = {{.operands = kX, .options = kOptions}};

struct WindowReduction {
  std::string_view name;
  std::span<const Role> roles = first<1>(kSmooth);
  Evaluate evaluate;
  Linearize linearize = nullptr;
  Transpose transpose = nullptr;
  DtypePlan (*plan)(Bound);
  double rtol = 0, atol = 0;
  std::string_view text;
};
consteval Operation window_reduction(WindowReduction r) {
  return define_op({.name = r.name,
                    .strict = {.roles = r.roles,
                               .pattern = Pattern::window,
                               .traits = kFusable,
                               .infer = infer_window,
                               .evaluate = r.evaluate,
                               .linearize = r.linearize,
                               .transpose = r.transpose,
                               .workloads = window_rows,
                               .rtol = r.rtol,
                               .atol = r.atol,
                               .roofline = roofline,
                               .text = r.text},
                    .surface = {.overloads = kSchemas, .plan = r.plan, .body = body_direct}});
}

}  // namespace

constinit const Operation op_reduce_window_sum = window_reduction(
    {.name = "reduce_window_sum",
     .roles = first<1>(kLinear),
     .evaluate = evaluate_sum,
     .transpose = sum_transpose,
     .plan = plan_sum,
     .rtol = 1e-5,
     .atol = 1e-6,
     .text = "The sum of each window. Element k of window o lies at place o * stride + k * "
             "window_dilation of x with base_dilation - 1 holes between its elements and low, high "
             "places before and after; padding and holes add nothing. Integers wrap; floats are "
             "added in a fixed order in their own precision or a wider one.\nC1 x has an integer "
             "or floating dtype.\nC2 every list has one entry per axis.\nC3 windows, strides and "
             "dilations are at least 1.\nThe sum of nothing is 0."});

constinit const Operation op_reduce_window_max = window_reduction(
    {.name = "reduce_window_max",
     .evaluate = evaluate_extremum<kMaximum, true>,
     .linearize = extremum_linearize<true>,
     .plan = plan_extremum,
     .text = "The greatest element of each window (as reduce_window_sum has them).\nC1 x has an "
             "integer or floating dtype.\nC2 every list has one entry per axis.\nC3 windows, "
             "strides and dilations are at least 1.\nNaN if any is NaN; of zeros of both signs "
             "either. Of padding alone: -inf, or "
             "the least integer. The derivative goes to the first of equal ones, row by row."});

constinit const Operation op_reduce_window_min = window_reduction(
    {.name = "reduce_window_min",
     .evaluate = evaluate_extremum<kMinimum, false>,
     .linearize = extremum_linearize<false>,
     .plan = plan_extremum,
     .text = "The least element of each window (as reduce_window_sum has them).\nC1 x has an "
             "integer or floating dtype.\nC2 every list has one entry per axis.\nC3 windows, "
             "strides and dilations are at least 1.\nNaN if any is NaN; of zeros of both signs "
             "either. Of padding alone: inf, or "
             "the greatest integer. The derivative goes to the first of equal ones, row by row."});

}  // namespace heddle
