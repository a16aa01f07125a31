// conv_general: windows of the left operand times the right one, summed.
#include "heddle/graph/ops/conv.h"

#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/window.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

// Swaps axes `a` and a + 1.
ValueId swapped(Builder& b, ValueId v, std::size_t a) {
  Axes permutation = emit::all_axes(b.type(v).rank());
  std::swap(permutation[a], permutation[a + 1]);
  return emit::transpose(b, v, permutation);
}
// [g * m, n, ..] as [g * n, m, ..]: the first two axes change place within each of `groups`.
ValueId swapped_in_groups(Builder& b, ValueId v, std::int64_t groups) {
  if (groups == 1) return swapped(b, v, 0);
  const Dims dims = b.type(v).dims;
  const std::int64_t m = dims[0].constant() / groups, n = dims[1].constant();
  Dims split{groups, m, n}, joined{groups * n, m};
  split.insert(split.end(), dims.begin() + 2, dims.end());
  joined.insert(joined.end(), dims.begin() + 2, dims.end());
  return emit::reshape(b, swapped(b, emit::reshape(b, v, split), 1), joined);
}

}  // namespace

ValueId ops::transposed_taps(Builder& b, ValueId w, std::int64_t groups) {
  Axes spatial;
  for (std::size_t a = 2; a < b.type(w).rank(); ++a)
    spatial.push_back(static_cast<std::int64_t>(a));
  return emit::reverse(b, swapped_in_groups(b, w, groups), spatial);
}

namespace {

std::int64_t extent(const Type& t, std::size_t axis) { return t.dims[axis].constant(); }

ConvAttributes attributes_of(const std::vector<WindowAxis>& axes, std::int64_t groups) {
  ConvAttributes a;
  for (const WindowAxis& w : axes) {
    a.strides.push_back(w.stride), a.low.push_back(w.low), a.high.push_back(w.high);
    a.lhs_dilation.push_back(w.base_dilation), a.rhs_dilation.push_back(w.window_dilation);
  }
  a.groups = groups;
  return a;
}

void check_ranks(At at) {
  const Type &x = at.operands[0], &w = at.operands[1];
  if (x.rank() >= 2 && w.rank() == x.rank()) return;
  operation_error<ValueError>(at, "operands are [batch, channels, ..] and [out, channels, ..]",
                              "operands[1].dims", to_text(w),
                              x.rank() < 2 ? "rank 2 or more" : "the rank of " + to_text(x));
}
void check_attributes(At at, const ConvAttributes& a) {
  const std::size_t spatial = at.operands[0].rank() - 2;
  check_numbers(at, "strides", a.strides, spatial, 1);
  check_numbers(at, "low", a.low, spatial, kAnything);
  check_numbers(at, "high", a.high, spatial, kAnything);
  check_numbers(at, "lhs_dilation", a.lhs_dilation, spatial, 1);
  check_numbers(at, "rhs_dilation", a.rhs_dilation, spatial, 1);
  check_numbers(at, "groups", {a.groups}, 1, 1);
}
void check_channels(At at, std::int64_t groups) {
  const Type &x = at.operands[0], &w = at.operands[1];
  if (extent(w, 0) % groups != 0) {
    operation_error<ValueError>(at, "groups of equal size", "operands[1].dims[0]",
                                std::to_string(extent(w, 0)),
                                absl::StrCat("a multiple of ", groups, " groups"));
  }
  if (groups * w.dims[1] == x.dims[1]) return;
  operation_error<ValueError>(at,
                              absl::StrCat("channels differ: x is ", to_text(x), ", w is ",
                                           to_text(w), " of ", groups, " groups"),
                              "operands[1].dims[1]", std::to_string(extent(w, 1)),
                              absl::StrCat(extent(x, 1), " channels / ", groups, " groups"));
}

Types infer_conv(At at) {
  check_operand_count(at, 2);
  check_kind(at, 0, kNumber);
  check_same_dtype(at, 1);
  check_ranks(at);
  const auto a = at.attributes.as<ConvAttributes>();
  check_attributes(at, a);
  check_channels(at, a.groups);
  const Type &x = at.operands[0], &w = at.operands[1];
  Dims dims{x.dims[0], w.dims[0]};
  for (const WindowAxis& axis : window_axes(x, w, a)) {
    if (axis.window < 1) {
      operation_error<ValueError>(at, "a window of nothing", "operands[1].dims", to_text(w),
                                  "spatial extents of at least 1");
    }
    dims.push_back(axis.result());
  }
  return {{x.dtype, dims}};
}

Literals evaluate_conv(At at, Inputs in) {
  const auto a = at.attributes.as<ConvAttributes>();
  const Type type = infer_conv(at)[0];
  const Type &xt = in[0].type, &wt = in[1].type;
  const std::vector<WindowAxis> axes = window_axes(xt, wt, a);
  const Axes xs = strides_of(extents_of(in[0])), ws = strides_of(extents_of(in[1]));
  const std::int64_t channels = extent(wt, 1), per_group = extent(wt, 0) / a.groups;
  Axes taps = extents_of(in[1]);
  taps.erase(taps.begin());
  return {dispatch_kinds<kNumber>(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]), w = view<T>(in[1]);
    std::vector<Total<T>> sums(static_cast<std::size_t>(element_count(type)), 0);
    for_each_index(constant_extents(type.dims), [&](std::size_t o, const Axes& result) {
      const std::int64_t first = result[1] / per_group * channels;
      for_each_index(taps, [&](std::size_t k, const Axes& tap) {
        std::int64_t from = result[0] * xs[0] + (first + tap[0]) * xs[1];
        for (std::size_t s = 0; s < axes.size(); ++s) {
          const auto i = axes[s].source(result[s + 2], tap[s + 1]);
          if (!i) return;
          from += *i * xs[s + 2];
        }
        const auto at_w = static_cast<std::size_t>(result[1] * ws[0]) + k;
        sums[o] += static_cast<Total<T>>(computed(x[static_cast<std::size_t>(from)])) *
                   static_cast<Total<T>>(computed(w[at_w]));
      });
    });
    return generate<T>(type, [&](std::size_t i) { return convert_element<T>(sums[i]); });
  })};
}

// x's cotangent: windows over ct with the strides as holes, the taps in the opposite order.
ValueId cotangent_of_x(Builder& b, ValueId ct, ValueId w, const std::vector<WindowAxis>& axes,
                       std::int64_t groups) {
  std::vector<WindowAxis> back;
  for (const WindowAxis& a : axes) back.push_back(a.transposed());
  return b.emit(op_conv_general, {ct, transposed_taps(b, w, groups)},
                Attributes::of(attributes_of(back, groups)));
}

// w's cotangent: ct as the window, one tap per place it can be at; the batch is summed over.
ValueId cotangent_of_w(Builder& b, ValueId ct, ValueId x, const std::vector<WindowAxis>& axes,
                       std::int64_t groups) {
  std::vector<WindowAxis> places;
  for (const WindowAxis& a : axes) {
    WindowAxis p{a.extent, a.result(), a.window_dilation, a.low, 0, a.base_dilation, a.stride};
    p.high = (a.window - 1) * p.stride + p.reach() - p.padded();
    places.push_back(p);
  }
  // [batch, groups * channels, ..] -> [channels, groups * batch, ..]
  ValueId turned = swapped(b, x, 0);
  if (groups > 1) turned = swapped(b, swapped_in_groups(b, turned, groups), 0);
  const ValueId taps = b.emit(op_conv_general, {turned, swapped(b, ct, 0)},
                              Attributes::of(attributes_of(places, groups)));
  return swapped(b, taps, 0);
}

MaybeValues conv_transpose_rule(TransposeContext& c, std::span<const MaybeValue> ct) {
  const auto a = c.node.attributes.as<ConvAttributes>();
  const Type x = c.type(0), w = c.type(1);
  const std::size_t linear = c.is_linear(0) ? 0 : 1;
  MaybeValues result(2);
  if (element_count(c.build.type(*ct[0])) == 0) {
    result[linear] = emit::zeros(c.build, linear == 0 ? x : w);
    return result;
  }
  const std::vector<WindowAxis> axes = window_axes(x, w, a);
  result[linear] = linear == 0 ? cotangent_of_x(c.build, *ct[0], c.residual(1), axes, a.groups)
                               : cotangent_of_w(c.build, *ct[0], c.residual(0), axes, a.groups);
  return result;
}

std::vector<Workload> conv_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims x, Dims w, ConvAttributes a) {
    result.push_back({.operands = {type_of(dtype, std::move(x)), type_of(dtype, std::move(w))},
                      .attributes = Attributes::of(a),
                      .low = is_signed(dtype) ? -2.0 : 0.0,
                      .high = 2,
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {2, 3, 5, 7}, {4, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  row(DType::f32, {1, 2, 9}, {3, 2, 3}, {{2}, {0}, {1}, {1}, {1}});
  row(DType::f32, {2, 4, 6, 5}, {6, 2, 2, 3}, {{1, 2}, {1, 0}, {0, 2}, {1, 1}, {2, 1}, 2});
  row(DType::f32, {1, 3, 8}, {3, 1, 3}, {{1}, {1}, {1}, {1}, {1}, 3});  // one channel per group
  row(DType::f32, {1, 4, 3, 2}, {2, 2, 3, 2}, {{1, 1}, {2, 1}, {1, 2}, {2, 3}, {1, 2}, 2});
  row(DType::f32, {1, 2, 4}, {1, 2, 2}, {{3}, {-1}, {0}, {2}, {1}});
  row(DType::f32, {1, 1, 3, 4, 3}, {2, 1, 2, 2, 2},
      {{1, 2, 1}, {0, 1, 0}, {1, 0, 0}, {1, 1, 1}, {1, 1, 1}});
  row(DType::f32, {3, 4}, {5, 4}, {});
  row(DType::f32, {1, 1, 2}, {1, 1, 3}, {{1}, {0}, {0}, {1}, {1}});  // no window fits
  row(DType::f32, {0, 2, 5}, {3, 2, 2}, {{1}, {0}, {0}, {1}, {1}});
  row(DType::f32, {2, 0, 5}, {3, 0, 2}, {{1}, {0}, {0}, {1}, {1}});
  for (DType d : kAllDTypes) {
    if (d != DType::boolean && d != DType::f32) {
      row(d, {1, 2, 5}, {2, 2, 3}, {{1}, {1}, {1}, {1}, {1}});
    }
  }
  return result;
}

std::pair<std::int64_t, std::int64_t> roofline(At at, const Bindings& symbols) {
  std::int64_t taps = 1;
  for (std::size_t a = 1; a < at.operands[1].rank(); ++a) {
    taps *= evaluate(at.operands[1].dims[a], symbols);
  }
  return cost(at, symbols, 2 * taps);
}

Attribute one_group() { return std::int64_t{1}; }
constexpr OperandSpec kXW[] = {{"x"}, {"w"}};
constexpr OptionSpec kOptions[] = {
    {"strides", OptionKind::integers},      {"low", OptionKind::integers},
    {"high", OptionKind::integers},         {"lhs_dilation", OptionKind::integers},
    {"rhs_dilation", OptionKind::integers}, {"groups", OptionKind::integer, one_group}};
constexpr OperationSchema kSchemas[] = {{.operands = kXW, .options = kOptions}};

}  // namespace

constinit const Operation op_conv_general = define_op(
    {.name = "conv_general",
     .strict = {.roles = kMultilinear,
                .pattern = Pattern::contract,
                .traits = kFusable,
                .infer = infer_conv,
                .evaluate = evaluate_conv,
                .transpose = conv_transpose_rule,
                .workloads = conv_rows,
                .rtol = 1e-5,
                .atol = 1e-5,
                .roofline = roofline,
                .text = "Correlation: result[n, o, s..] = the sum over channels c of o's group and "
                        "taps k.. of x[n, c, p..] w[o, c, k..], where p is tap k of window s of x "
                        "(reduce_window_sum says which, with lhs_dilation and rhs_dilation). The "
                        "channels and outputs are cut into `groups` equal parts. Integers wrap; "
                        "floats are added in a fixed order in their own precision or a wider one "
                        "(the reference: in double, rounded once).\nC1 both have one integer or "
                        "floating dtype.\nC2 both have the same rank, 2 or more.\nC3 every list "
                        "has one entry per spatial axis; strides, dilations and groups are at "
                        "least 1.\nC4 the outputs are a multiple of the groups.\nC5 w's channels "
                        "times the groups are x's.\nC6 w's spatial extents are at least 1.\nA sum "
                        "over nothing is 0."},
     .surface = {.overloads = kSchemas, .plan = plan_contract, .body = body_direct}});

}  // namespace heddle
