// Slices whose place is computed, each the other's transpose.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/move.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

// Starts are one i32 per axis of x; slices of `sizes` fit into x.
void check_starts(At at) {
  check_dtype(at, 1, DType::i32);
  const auto rank = static_cast<std::int64_t>(at.operands[0].rank());
  if (at.operands[1].dims == Dims{rank}) return;
  operation_error<ValueError>(at, "one start per axis of x is needed", "operands[1].dims",
                              to_text(at.operands[1]), absl::StrCat("i32[", rank, "]"));
}
void check_fits(At at, const char* field, const Dims& sizes) {
  const Type& x = at.operands[0];
  bool fits = sizes.size() == x.rank();
  for (std::size_t a = 0; fits && a < sizes.size(); ++a) {
    const std::int64_t size = sizes[a].constant();
    fits = size >= 0 && size <= x.dims[a].constant();
  }
  if (fits) return;
  operation_error<ValueError>(at, "the slice does not fit into x", field, to_text(sizes),
                              "one extent per axis, at most that of " + to_text(x));
}

/// Where the slice lies: moved inside.
Axes places(const Literal& starts, const Axes& extents, const Axes& sizes) {
  const std::span<const std::int32_t> given = view<std::int32_t>(starts);
  Axes result;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    result.push_back(std::clamp<std::int64_t>(given[a], 0, extents[a] - sizes[a]));
  }
  return result;
}

// dynamic_slice ----------------------------------------------------------------------------------

Dims sizes_of(const Attributes& attributes) {
  const Axes sizes = attributes.as<DynamicSliceAttributes>().sizes;
  return Dims(sizes.begin(), sizes.end());
}
Types infer_dynamic_slice(At at) {
  check_operand_count(at, 2);
  check_starts(at);
  const Dims sizes = sizes_of(at.attributes);
  check_fits(at, "attributes.sizes", sizes);
  return {{at.operands[0].dtype, sizes}};
}
Literals evaluate_dynamic_slice(At at, Inputs in) {
  const Axes start = places(in[1], extents_of(in[0]), constant_extents(sizes_of(at.attributes)));
  return {moved(result_type(at), in[0], [&](Axes index) {
    for (std::size_t a = 0; a < index.size(); ++a) index[a] += start[a];
    return index;
  })};
}
MaybeValues slice_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const ValueId starts = c.residual(1), zero = emit::zeros(c.build, c.type(0));
  return {c.build.emit(op_dynamic_update_slice, {zero, starts, *ct[0]}), std::nullopt};
}

// dynamic_update_slice ---------------------------------------------------------------------------

Types infer_dynamic_update(At at) {
  check_operand_count(at, 3);
  check_starts(at);
  check_same_dtype(at, 2);
  check_fits(at, "operands[2].dims", at.operands[2].dims);
  return {at.operands[0]};
}
Literals evaluate_dynamic_update(At, Inputs in) {
  const Axes extents = extents_of(in[0]), sizes = extents_of(in[2]);
  const Axes start = places(in[1], extents, sizes), strides = strides_of(extents);
  return {dispatch_dtype(in[0].type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    std::vector<std::byte> bytes = *in[0].bytes;
    T* out = reinterpret_cast<T*>(bytes.data());
    const std::span<const T> update = view<T>(in[2]);
    for_each_index(sizes, [&](std::size_t i, const Axes& index) {
      std::int64_t offset = 0;
      for (std::size_t a = 0; a < index.size(); ++a) offset += (start[a] + index[a]) * strides[a];
      out[offset] = update[i];
    });
    return literal_from_bytes(in[0].type, std::move(bytes));
  })};
}
MaybeValues update_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const ValueId starts = c.residual(1);
  const Type update = c.type(2);
  MaybeValues result(3);
  if (c.is_linear(0)) {
    const ValueId zero = emit::zeros(c.build, update);
    result[0] = c.build.emit(op_dynamic_update_slice, {*ct[0], starts, zero});
  }
  if (c.is_linear(2)) {
    const DynamicSliceAttributes sizes{constant_extents(update.dims)};
    result[2] = c.build.emit(op_dynamic_slice, {*ct[0], starts}, Attributes::of(sizes));
  }
  return result;
}

// Rows: starts reach beyond both ends.

Workload dynamic_row(DType dtype, Dims x, const Axes& sizes) {
  const auto rank = static_cast<std::int64_t>(x.size());
  Workload row{.operands = {type_of(dtype, std::move(x)), type_of(DType::i32, {rank})},
               .attributes = Attributes::of(DynamicSliceAttributes{sizes}),
               .order = is_floating(dtype) ? 2 : 0};
  const std::pair<double, double> range{is_signed(dtype) ? -4.0 : 0.0,
                                        dtype == DType::boolean ? 1.0 : 4.0};
  row.ranges = {range, {-2, 7}, range};
  return row;
}
std::vector<Workload> slice_rows() {
  std::vector<Workload> result = {
      dynamic_row(DType::f32, {7, 13}, {3, 5}),
      dynamic_row(DType::f32, {9}, {4}),
      dynamic_row(DType::f32, {3, 5, 2}, {1, 5, 1}),
      dynamic_row(DType::f32, {2, 3, 4, 5}, {2, 2, 3, 1}),
      dynamic_row(DType::f32, {5}, {0}),
      dynamic_row(DType::f32, {}, {}),
      dynamic_row(DType::f32, {17, 33}, {17, 1}),
  };
  for (DType d : kAllDTypes) {
    if (d != DType::f32) result.push_back(dynamic_row(d, {3, 5}, {2, 3}));
  }
  return result;
}
std::vector<Workload> update_rows() {
  std::vector<Workload> result;
  for (Workload row : slice_rows()) {
    row.operands.push_back({row.operands[0].dtype, sizes_of(row.attributes)});
    row.attributes = {};
    result.push_back(std::move(row));
  }
  return result;
}

/// The slice is read and written; the rest of x is not touched.
std::pair<std::int64_t, std::int64_t> slice_roofline(At at, const Bindings& symbols) {
  const Type result = infer_dynamic_slice(at)[0];
  return {0, 2 * evaluate(element_count(result.dims), symbols) *
                 static_cast<std::int64_t>(size_of(result.dtype))};
}

constexpr Role kSliceRoles[] = {Role::linear, Role::no_grad};
constexpr Role kUpdateRoles[] = {Role::linear, Role::no_grad, Role::linear};
constexpr OperandSpec kSliceOperands[] = {{"x"}, {"starts"}};
constexpr OperandSpec kUpdateOperands[] = {{"x"}, {"starts"}, {"update"}};
constexpr OptionSpec kSizes[] = {{"sizes", OptionKind::integers}};
constexpr OperationSchema kSliceSchemas[] = {{.operands = kSliceOperands, .options = kSizes}};
constexpr OperationSchema kUpdateSchemas[] = {{.operands = kUpdateOperands}};

}  // namespace

constinit const Operation op_dynamic_slice = define_op(
    {.name = "dynamic_slice",
     .strict = {.roles = kSliceRoles,
                .pattern = Pattern::gather,
                .traits = kFusable,
                .infer = infer_dynamic_slice,
                .evaluate = evaluate_dynamic_slice,
                .transpose = slice_transpose,
                .workloads = slice_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = slice_roofline,
                .text = "result[i] = x[start + i], where start is starts[a] for axis a, moved into "
                        "[0, extent - size].\nC1 the starts are i32.\nC2 one start per axis of x.\n"
                        "C3 one size per axis, at most x's extent."},
     .surface = {.overloads = kSliceSchemas, .plan = plan_gather, .body = body_direct}});

constinit const Operation op_dynamic_update_slice = define_op(
    {.name = "dynamic_update_slice",
     .strict = {.roles = kUpdateRoles,
                .pattern = Pattern::gather,
                .traits = kFusable,
                .infer = infer_dynamic_update,
                .evaluate = evaluate_dynamic_update,
                .transpose = update_transpose,
                .workloads = update_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "x with `update` in place of its elements from start on, where start is "
                        "starts[a] for axis a, moved into [0, extent - update's extent].\nC1 the "
                        "starts are i32.\nC2 one start per axis of x.\nC3 x and update have one "
                        "dtype.\nC4 update has x's rank and fits into it."},
     .surface = {.overloads = kUpdateSchemas, .plan = plan_gather, .body = body_direct}});

}  // namespace heddle
