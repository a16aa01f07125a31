// Pooling: windows over the last axes.
#include "absl/strings/str_cat.h"
#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/window.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

// The spatial axes. With `ceil` the end of x is moved so that a floor gives the number of windows:
// a window counts when it begins before the padding at the end (as ONNX and PyTorch have it).
std::vector<WindowAxis> axes_of(const Type& x, const PoolAttributes& p) {
  const std::size_t first = x.rank() - p.window.size();
  std::vector<WindowAxis> axes;
  for (std::size_t s = 0; s < p.window.size(); ++s) {
    WindowAxis a{x.dims[first + s].constant(), p.window[s], p.strides[s], p.low[s], p.high[s]};
    if (p.ceil && a.padded() >= a.window) {
      const std::int64_t inside = a.extent + a.low;
      std::int64_t count = (a.padded() - a.window + a.stride - 1) / a.stride + 1;
      if ((count - 1) * a.stride >= inside) --count;
      a.high = (count - 1) * a.stride + a.window - inside;
    }
    axes.push_back(a);
  }
  return axes;
}

template <int kKinds, class P>
Types infer_pool(At at) {
  check_operand_count(at, 1);
  check_kind(at, 0, kKinds);
  const auto p = at.attributes.as<P>();
  const Type& x = at.operands[0];
  const std::size_t spatial = p.window.size();
  if (spatial > x.rank()) {
    operation_error<ValueError>(at, "more spatial axes than x has", "attributes.window",
                                to_text(Attribute(p.window)), "at most the axes of " + to_text(x));
  }
  check_numbers(at, "window", p.window, spatial, 1);
  check_numbers(at, "strides", p.strides, spatial, 1);
  check_numbers(at, "low", p.low, spatial, 0);
  check_numbers(at, "high", p.high, spatial, 0);
  Dims dims(x.dims.begin(), x.dims.end() - static_cast<std::ptrdiff_t>(spatial));
  for (const WindowAxis& a : axes_of(x, p)) dims.push_back(a.result());
  return {{x.dtype, dims}};
}

WindowAttributes windows_of(const Type& x, const std::vector<WindowAxis>& axes) {
  const std::size_t batch = x.rank() - axes.size();
  const Axes ones(x.rank(), 1), zeros(batch, 0);
  WindowAttributes w{Axes(batch, 1), Axes(batch, 1), zeros, zeros, ones, ones};
  for (const WindowAxis& a : axes) {
    w.window.push_back(a.window), w.strides.push_back(a.stride);
    w.low.push_back(a.low), w.high.push_back(a.high);
  }
  return w;
}

ValueId max_pool(Builder& b, const Values& x, At at) {
  const Type& type = at.operands[0];
  const auto axes = axes_of(type, at.attributes.as<PoolAttributes>());
  return b.emit(op_reduce_window_max, {x[0]}, Attributes::of(windows_of(type, axes)));
}

// How many elements each window of an axis has: of x, and of the padding if that counts. Beyond the
// padding lies nothing. 1 for a window without any, whose sum is 0.
std::vector<double> counts(const WindowAxis& a, std::int64_t high, bool padding) {
  const std::int64_t first = padding ? 0 : a.low;
  const std::int64_t end = a.low + a.extent + (padding ? high : 0);
  std::vector<double> result;
  for (std::int64_t o = 0; o < a.result(); ++o) {
    const std::int64_t start = std::max(first, o * a.stride);
    const std::int64_t stop = std::min(end, o * a.stride + a.window);
    result.push_back(static_cast<double>(std::max<std::int64_t>(1, stop - start)));
  }
  return result;
}

ValueId divided_by_counts(Builder& b, ValueId sum, const std::vector<std::vector<double>>& all) {
  const Type type = b.type(sum);
  ValueId divisor = emit::fill_like(b, 1, sum);
  double everywhere = 1;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const std::vector<double>& n = all[s];
    if (n.empty()) return sum;
    if (std::count(n.begin(), n.end(), n[0]) == static_cast<std::ptrdiff_t>(n.size())) {
      everywhere *= n[0];
      continue;
    }
    const auto extent = static_cast<std::int64_t>(n.size());
    const auto axis = static_cast<std::int64_t>(type.rank() - all.size() + s);
    const Literal along = make_literal<double>({extent}, std::span<const double>(n));
    const ValueId vector = b.constant(convert(along, type.dtype));
    divisor = emit::mul(b, divisor, emit::broadcast_in_dim(b, vector, type.dims, {axis}));
  }
  return emit::div(b, sum, emit::mul(b, divisor, everywhere));
}

ValueId avg_pool(Builder& b, const Values& x, At at) {
  const Type& type = at.operands[0];
  const auto p = at.attributes.as<AvgPoolAttributes>();
  const auto axes = axes_of(type, p);
  const bool narrow = type.dtype == DType::f16 || type.dtype == DType::bf16;
  const ValueId wide = emit::convert(b, x[0], narrow ? DType::f32 : type.dtype);
  const ValueId sum = b.emit(op_reduce_window_sum, {wide}, Attributes::of(windows_of(type, axes)));
  std::vector<std::vector<double>> all;
  for (std::size_t s = 0; s < axes.size(); ++s) {
    all.push_back(counts(axes[s], p.high[s], p.count_padding));
  }
  return emit::convert(b, divided_by_counts(b, sum, all), type.dtype);
}

template <class P>
std::vector<Workload> pool_rows(int kinds) {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, PoolAttributes p, bool count) {
    P own;
    static_cast<PoolAttributes&>(own) = std::move(p);
    if constexpr (!std::is_same_v<P, PoolAttributes>) own.count_padding = count;
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(own),
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {2, 3, 5, 7}, {{3, 2}, {2, 2}, {1, 0}, {1, 1}, false}, true);
  row(DType::f32, {2, 3, 5, 7}, {{3, 2}, {2, 2}, {1, 0}, {1, 1}, true}, false);
  row(DType::f32, {4, 4}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, true}, true);
  row(DType::f32, {1, 9}, {{2}, {3}, {0}, {0}, true}, true);
  row(DType::f32, {2, 4, 3, 5}, {{2, 2, 2}, {1, 2, 2}, {0, 0, 1}, {1, 0, 0}, false}, false);
  row(DType::f32, {3}, {{5}, {1}, {0}, {0}, false}, true);
  row(DType::f32, {0, 4}, {{2}, {1}, {0}, {0}, false}, true);
  for (DType d : kAllDTypes) {
    if (d != DType::f32 && (kind_of(d) & kinds))
      row(d, {5, 6}, {{2, 3}, {2, 1}, {1, 1}, {0, 1}, true}, true);
  }
  return result;
}
std::vector<Workload> max_rows() { return pool_rows<PoolAttributes>(kNumber); }
std::vector<Workload> avg_rows() { return pool_rows<AvgPoolAttributes>(kFloat); }

constexpr OptionSpec kMaxOptions[] = {{"window", OptionKind::integers},
                                      {"strides", OptionKind::integers},
                                      {"low", OptionKind::integers},
                                      {"high", OptionKind::integers},
                                      {"ceil", OptionKind::flag, false_option}};
constexpr OptionSpec kAvgOptions[] = {{"window", OptionKind::integers},
                                      {"strides", OptionKind::integers},
                                      {"low", OptionKind::integers},
                                      {"high", OptionKind::integers},
                                      {"ceil", OptionKind::flag, false_option},
                                      {"count_padding", OptionKind::flag, false_option}};
constexpr OperationSchema kMaxSchemas[] = {{.operands = kX, .options = kMaxOptions}};
constexpr OperationSchema kAvgSchemas[] = {{.operands = kX, .options = kAvgOptions}};

}  // namespace

constinit const Operation op_max_pool = define_op(
    {.name = "max_pool",
     .strict = {.roles = first<1>(kSmooth),
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_pool<kNumber, PoolAttributes>,
                .decompose = decompose<max_pool>,
                .workloads = max_rows,
                .rtol = 0,
                .atol = 0,
                .text = "The greatest element of each window over the last axes; padding never "
                        "wins.\nC1 x has an integer or floating dtype.\nC2 every list has one "
                        "entry per spatial axis; x has them.\nC3 windows and strides are at least "
                        "1, paddings at least 0.\nNaN if any is NaN. The derivative goes to the "
                        "first of equal ones, row by row."},
     .surface = {.overloads = kMaxSchemas, .plan = plan_extremum, .body = body_direct}});

constinit const Operation op_avg_pool = define_op(
    {.name = "avg_pool",
     .strict = {.roles = first<1>(kSmooth),
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_pool<kFloat, AvgPoolAttributes>,
                .decompose = decompose<avg_pool>,
                .workloads = avg_rows,
                .rtol = 1e-5,
                .text = "The mean of each window over the last axes. The divisor counts the "
                        "elements of x in the window, with count_padding those of the padding too, "
                        "never what lies beyond the padding.\nC1 x has a floating dtype.\nC2 every "
                        "list has one entry per spatial axis; x has them.\nC3 windows and strides "
                        "are at least 1, paddings at least 0."},
     .surface = {.overloads = kAvgSchemas, .plan = plan_floating, .body = body_direct}});

}  // namespace heddle
