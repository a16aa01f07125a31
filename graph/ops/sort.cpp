// The order of elements along an axis. Sorted values are taken by it (composites/sort.cpp), so that
// the derivatives of sort and top_k are those of take_along_axis.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "heddle/graph/call.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using Axes = std::vector<std::int64_t>;

Types infer_argsort(At at) {
  check_operand_count(at, 1);
  const auto a = at.attributes.as<ArgsortAttributes>();
  const Type& x = at.operands[0];
  check_axis(at, "axis", a.axis, x.rank());
  Dims dims = x.dims;
  Dim& along = dims[static_cast<std::size_t>(a.axis)];
  if (a.count < 0 || a.count > along.constant()) {
    operation_error<ValueError>(at, "no such number of elements", "attributes.count",
                                std::to_string(a.count),
                                absl::StrCat("0 <= count <= ", to_text(along), ", the extent"));
  }
  along = a.count;
  return {{DType::i32, dims}};
}

template <class C>
bool before(const ArgsortAttributes& a, C x, C y) {
  if (is_nan(x) || is_nan(y))
    return a.nan_first ? is_nan(x) && !is_nan(y) : !is_nan(x) && is_nan(y);
  return a.descending ? y < x : x < y;
}

Literals evaluate_argsort(At at, Inputs in) {
  const auto a = at.attributes.as<ArgsortAttributes>();
  const Type type = infer_argsort(at)[0];
  const Axes extents = extents_of(in[0]);
  const auto axis = static_cast<std::size_t>(a.axis), n = static_cast<std::size_t>(extents[axis]);
  const auto inner = static_cast<std::size_t>(strides_of(extents)[axis]);
  const auto count = static_cast<std::size_t>(a.count);
  std::vector<std::int32_t> result(static_cast<std::size_t>(element_count(type)));
  if (result.empty()) return {make_literal<std::int32_t>(type.dims, result)};
  dispatch_dtype(in[0].type.dtype, [&](auto t) {
    const auto x = view<typename decltype(t)::type>(in[0]);
    std::vector<std::int32_t> order(n);
    for (std::size_t fibre = 0; fibre < x.size() / n; ++fibre) {
      const std::size_t from = fibre / inner * n * inner + fibre % inner;
      const auto element = [&](std::int32_t i) {
        return computed(x[from + static_cast<std::size_t>(i) * inner]);
      };
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
        return before(a, element(i), element(j));
      });
      const std::size_t to = fibre / inner * count * inner + fibre % inner;
      for (std::size_t i = 0; i < count; ++i) result[to + i * inner] = order[i];
    }
    return Literal{};
  });
  return {make_literal<std::int32_t>(type.dims, result)};
}

std::vector<Workload> argsort_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, ArgsortAttributes a) {
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(a),
                      .low = is_signed(dtype) ? -4.0 : 0.0,
                      .high = dtype == DType::boolean ? 1.0 : 4.0,
                      .order = 0});
  };
  row(DType::f32, {7, 13}, {1, 13});
  row(DType::f32, {7, 13}, {0, 7, true});
  row(DType::f32, {33}, {0, 5, true, true});
  row(DType::f32, {2, 3, 5}, {1, 3});
  row(DType::f32, {2, 17, 3, 2}, {1, 4, true});
  row(DType::f32, {3, 1}, {1, 1});
  row(DType::f32, {700}, {0, 700});
  row(DType::f32, {3, 0}, {1, 0});
  row(DType::f32, {3, 4}, {1, 0});
  row(DType::f32, {0, 3}, {1, 3});
  for (DType d : kAllDTypes) {
    if (d != DType::f32) row(d, {3, 300}, {1, 300, d == DType::i32});
  }
  return result;
}

/// n log2(n) comparisons for each fibre of n elements.
std::pair<std::int64_t, std::int64_t> roofline(At at, const Bindings& symbols) {
  const auto axis = static_cast<std::size_t>(at.attributes.as<ArgsortAttributes>().axis);
  const std::int64_t n = evaluate(at.operands[0].dims[axis], symbols);
  std::int64_t levels = 0;
  while (std::int64_t{1} << levels < n) ++levels;
  const std::int64_t elements = evaluate(element_count(at.operands[0].dims), symbols);
  return {levels * elements, cost(at, symbols, 0).second};
}

// Without a count all are sorted.
Function body_order(Bound call, const DtypePlan& plan) {
  const std::int64_t axis = call.options.get<std::int64_t>("axis");
  const Dims& dims = call.tensor(0).type().dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (call.options.find("count") || axis < -rank || axis >= rank) return body_axis(call, plan);
  std::vector<Attributes::Entry> options = call.options.entries();
  options.push_back(
      {"count", dims[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)].constant()});
  return body_axis(call, plan, Attributes(std::move(options)));
}

Attribute axis_last() { return std::int64_t{-1}; }
constexpr OptionSpec kOptions[] = {{"axis", OptionKind::integer, axis_last},
                                   {"count", OptionKind::integer},
                                   {"descending", OptionKind::flag, false_option},
                                   {"nan_first", OptionKind::flag, false_option}};
constexpr OptionSpec kAllOptions[] = {{"axis", OptionKind::integer, axis_last},
                                      {"descending", OptionKind::flag, false_option},
                                      {"nan_first", OptionKind::flag, false_option}};
constexpr OperationSchema kSchemas[] = {{.operands = kX, .options = kOptions},
                                        {.operands = kX, .options = kAllOptions}};

DtypePlan plan_order(Bound call) {
  DtypePlan p = plan_keep(call);
  p.output = DType::i32;
  return p;
}

}  // namespace

constinit const Operation op_argsort = define_op(
    {.name = "argsort",
     .strict = {.roles = first<1>(kNoGrad),
                .pattern = Pattern::sort,
                .infer = infer_argsort,
                .evaluate = evaluate_argsort,
                .workloads = argsort_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = roofline,
                .text = "The indices, as i32, of the first `count` elements along one axis in "
                        "ascending or descending order; equal elements keep their order (-0 "
                        "equals +0), NaNs come last, or first with nan_first.\nC1 0 <= axis < "
                        "rank.\nC2 0 <= count <= the axis's extent.\nNo derivative: the result is "
                        "an index."},
     .surface = {.overloads = kSchemas, .plan = plan_order, .body = body_order}});

}  // namespace heddle
