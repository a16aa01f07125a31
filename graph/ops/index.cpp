// Reading and adding at computed places: gather and scatter, each the other's transpose.
#include <algorithm>
#include <optional>

#include "heddle/graph/emit.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

GatherAttributes checked_attributes(At at) {
  auto a = at.attributes.as<GatherAttributes>();
  check_axis(at, "axis", a.axis, at.operands[0].rank());
  if (a.mode != "clip" && a.mode != "drop") {
    operation_error<ValueError>(at, "unknown mode", "attributes.mode", a.mode, "clip or drop");
  }
  return a;
}

/// x's extents with those of the indices in place of the axis.
Dims gathered_dims(const Type& x, const Type& indices, std::int64_t axis) {
  Dims dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  return dims;
}

/// Both operations see x as [outer, extent, inner] and the other side as [outer, count, inner].
struct Layout {
  std::int64_t outer = 1, extent = 1, inner = 1, count = 1;
};
Layout layout_of(const Type& x, const Type& indices, std::int64_t axis) {
  Layout l;
  for (std::size_t a = 0; a < x.rank(); ++a) {
    const std::int64_t n = x.dims[a].constant();
    (static_cast<std::int64_t>(a) < axis    ? l.outer
     : static_cast<std::int64_t>(a) == axis ? l.extent
                                            : l.inner) *= n;
  }
  l.count = element_count(indices);
  return l;
}

/// Where index i points, or nothing when it is dropped.
std::optional<std::int64_t> place_of(std::int32_t i, std::int64_t extent, const std::string& mode) {
  if (i >= 0 && i < extent) return i;
  if (mode == "drop" || extent == 0) return std::nullopt;
  return i < 0 ? 0 : extent - 1;
}

/// Calls f(offset in x, offset on the other side) for every pair that is not dropped.
template <class F>
void for_each_pair(const Layout& l, std::span<const std::int32_t> indices, const std::string& mode,
                   F f) {
  for (std::int64_t o = 0; o < l.outer; ++o) {
    for (std::int64_t c = 0; c < l.count; ++c) {
      const auto place = place_of(indices[static_cast<std::size_t>(c)], l.extent, mode);
      for (std::int64_t i = 0; place && i < l.inner; ++i) {
        f(static_cast<std::size_t>((o * l.extent + *place) * l.inner + i),
          static_cast<std::size_t>((o * l.count + c) * l.inner + i));
      }
    }
  }
}

// gather -----------------------------------------------------------------------------------------

Types infer_gather(At at) {
  check_operand_count(at, 2);
  const auto a = checked_attributes(at);
  check_dtype(at, 1, DType::i32);
  return {{at.operands[0].dtype, gathered_dims(at.operands[0], at.operands[1], a.axis)}};
}
Literals evaluate_gather(At at, Inputs in) {
  const auto a = at.attributes.as<GatherAttributes>();
  const Type type = infer_gather(at)[0];
  return {dispatch_dtype(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> x = view<T>(in[0]);
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
    T* out = reinterpret_cast<T*>(bytes.data());
    for_each_pair(layout_of(in[0].type, in[1].type, a.axis), view<std::int32_t>(in[1]), a.mode,
                  [&](std::size_t from, std::size_t to) { out[to] = x[from]; });
    return literal_from_bytes(type, std::move(bytes));
  })};
}
MaybeValues gather_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const ValueId indices = c.residual(1), zero = emit::zeros(c.build, c.type(0));
  return {emit::scatter(c.build, zero, indices, *ct[0], c.node.attributes.as<GatherAttributes>()),
          std::nullopt};
}

// scatter ----------------------------------------------------------------------------------------

Types infer_scatter(At at) {
  check_operand_count(at, 3);
  const auto a = checked_attributes(at);
  check_kind(at, 0, kNumber);
  check_dtype(at, 1, DType::i32);
  check_same_dtype(at, 2);
  const Dims needed = gathered_dims(at.operands[0], at.operands[1], a.axis);
  if (at.operands[2].dims != needed) {
    operation_error<ValueError>(at, "updates of another shape than a gather would give",
                                "operands[2].dims", to_text(at.operands[2]), to_text(needed));
  }
  return {at.operands[0]};
}
Literals evaluate_scatter(At at, Inputs in) {
  const auto a = at.attributes.as<GatherAttributes>();
  return {dispatch_kinds<kNumber>(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    using Total = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    const std::span<const T> x = view<T>(in[0]), updates = view<T>(in[2]);
    std::vector<Total> sums(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) sums[i] = static_cast<Total>(computed(x[i]));
    for_each_pair(layout_of(in[0].type, in[1].type, a.axis), view<std::int32_t>(in[1]), a.mode,
                  [&](std::size_t to, std::size_t from) {
                    sums[to] += static_cast<Total>(computed(updates[from]));
                  });
    return generate<T>(in[0].type, [&](std::size_t i) { return convert_element<T>(sums[i]); });
  })};
}
MaybeValues scatter_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  MaybeValues result(3);
  if (c.is_linear(0)) result[0] = ct[0];
  if (c.is_linear(2)) {
    result[2] =
        emit::gather(c.build, *ct[0], c.residual(1), c.node.attributes.as<GatherAttributes>());
  }
  return result;
}

// Rows: indices reach beyond both ends, to meet both modes.

Workload gather_row(DType dtype, Dims x, Dims indices, std::int64_t axis, const char* mode) {
  const auto extent = static_cast<double>(x[static_cast<std::size_t>(axis)].constant());
  Workload row{.operands = {type_of(dtype, std::move(x)), type_of(DType::i32, std::move(indices))},
               .attributes = Attributes::of(GatherAttributes{axis, mode}),
               .order = is_floating(dtype) ? 2 : 0};
  row.ranges = {{is_signed(dtype) ? -4.0 : 0.0, dtype == DType::boolean ? 1.0 : 4.0},
                {-2, extent + 1}};
  return row;
}
std::vector<Workload> gather_rows() {
  std::vector<Workload> result = {
      gather_row(DType::f32, {7, 3}, {5}, 0, "drop"),
      gather_row(DType::f32, {3, 7}, {2, 3}, 1, "clip"),
      gather_row(DType::f32, {5}, {}, 0, "drop"),
      gather_row(DType::f32, {2, 4, 3}, {6}, 1, "drop"),
      gather_row(DType::f32, {4, 3}, {0}, 0, "clip"),
  };
  for (DType d : kAllDTypes) result.push_back(gather_row(d, {5, 2}, {3}, 0, "clip"));
  return result;
}
std::vector<Workload> scatter_rows() {
  std::vector<Workload> result;
  for (Workload row : gather_rows()) {
    if (row.operands[0].dtype == DType::boolean) continue;
    const std::int64_t axis = row.attributes.as<GatherAttributes>().axis;
    row.operands.push_back(
        {row.operands[0].dtype, gathered_dims(row.operands[0], row.operands[1], axis)});
    row.ranges.push_back(row.ranges[0]);
    result.push_back(std::move(row));
  }
  return result;
}

/// The gathered elements are read and written; the rest of x is not touched.
std::pair<std::int64_t, std::int64_t> gather_roofline(At at, const Bindings& symbols) {
  const std::int64_t indices = evaluate(element_count(at.operands[1].dims), symbols);
  const Type result = infer_gather(at)[0];
  const std::int64_t moved = evaluate(element_count(result.dims), symbols) *
                             static_cast<std::int64_t>(size_of(result.dtype));
  return {0, 2 * moved + 4 * indices};
}

constexpr Role kGatherRoles[] = {Role::linear, Role::no_grad};
constexpr Role kScatterRoles[] = {Role::linear, Role::no_grad, Role::linear};

Attribute axis_zero() { return std::int64_t{0}; }
Attribute mode_drop() { return std::string("drop"); }
constexpr OptionSpec kOptions[] = {{"axis", OptionKind::integer, axis_zero},
                                   {"mode", OptionKind::text, mode_drop}};
constexpr OperandSpec kGatherOperands[] = {{"x"}, {"indices"}};
constexpr OperandSpec kGatherScalar[] = {{"x"}, {"indices", kWeak}};
constexpr OperandSpec kScatterOperands[] = {{"x"}, {"indices"}, {"updates"}};
constexpr OperationSchema kGatherSchemas[] = {{.operands = kGatherOperands, .options = kOptions},
                                              {.operands = kGatherScalar, .options = kOptions}};
constexpr OperationSchema kScatterSchemas[] = {{.operands = kScatterOperands, .options = kOptions}};

}  // namespace

constinit const Operation op_gather = define_op(
    {.name = "gather",
     .strict = {.roles = kGatherRoles,
                .pattern = Pattern::gather,
                .traits = kFusable,
                .infer = infer_gather,
                .evaluate = evaluate_gather,
                .transpose = gather_transpose,
                .workloads = gather_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = gather_roofline,
                .text = "result[a.., i.., b..] = x[a.., indices[i..], b..] along `axis`. An index "
                        "outside [0, extent): mode clip takes the nearest element, drop gives 0. "
                        "(In a call negative indices count from the end.)\nC1 the indices are "
                        "i32.\nC2 0 <= axis < rank.\nC3 the mode is clip or drop."},
     .surface = {.overloads = kGatherSchemas, .plan = plan_gather, .body = body_gather}});

constinit const Operation op_scatter = define_op(
    {.name = "scatter",
     .strict = {.roles = kScatterRoles,
                .pattern = Pattern::scatter,
                .infer = infer_scatter,
                .evaluate = evaluate_scatter,
                .transpose = scatter_transpose,
                .workloads = scatter_rows,
                .rtol = 1e-5,
                .text = "x with the updates added at the indices along `axis`; equal indices add "
                        "up. An index outside [0, extent): mode clip adds at the nearest element, "
                        "drop leaves the update out. (In a call negative indices count from the "
                        "end.)\nC1 x has an integer or floating dtype.\nC2 the indices are i32.\n"
                        "C3 x and updates have one dtype.\nC4 updates have the shape gather "
                        "gives.\nC5 0 <= axis < rank.\nC6 the mode is clip or drop."},
     .surface = {.overloads = kScatterSchemas, .plan = plan_gather, .body = body_gather}});

}  // namespace heddle
