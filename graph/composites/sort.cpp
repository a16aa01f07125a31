// Elements taken along an axis by their order, or by given indices.
#include "absl/strings/str_cat.h"
#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

std::size_t place(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// Positions in x, flattened, of x[.., indices[..], ..].
ValueId flat_positions(Builder& b, const Dims& x, ValueId indices, std::int64_t axis) {
  const Dims dims = b.type(indices).dims;
  std::int64_t stride = 1;
  MaybeValue total;
  for (std::size_t a = x.size(); a-- > 0; stride *= x[a].constant()) {
    ValueId offset = indices;
    if (a != place(axis)) offset = emit::iota(b, DType::i32, dims, static_cast<std::int64_t>(a));
    if (stride != 1) offset = emit::mul(b, offset, static_cast<double>(stride));
    total = total ? emit::add(b, offset, *total) : offset;
  }
  return *total;
}

/// x[.., indices[..], ..]: indices have x's extents but along the axis. Every index is inside, but
/// for those where `valid` does not hold, which give 0.
ValueId take_along(Builder& b, ValueId x, ValueId indices, std::int64_t axis,
                   MaybeValue valid = std::nullopt) {
  const Dims dims = b.type(x).dims;
  const ValueId flat = emit::reshape(b, x, {element_count(dims)});
  ValueId positions = flat_positions(b, dims, indices, axis);
  if (valid) positions = emit::select(b, *valid, positions, emit::fill_like(b, -1, positions));
  return emit::gather(b, flat, positions, {0, valid ? "drop" : "clip"});
}

// take_along_axis --------------------------------------------------------------------------------

Types infer_take(At at) {
  check_operand_count(at, 2);
  const auto a = at.attributes.as<GatherAttributes>();
  const Type &x = at.operands[0], &indices = at.operands[1];
  check_dtype(at, 1, DType::i32);
  check_axis(at, "axis", a.axis, x.rank());
  if (a.mode != "clip" && a.mode != "drop") {
    operation_error<ValueError>(at, "unknown mode", "attributes.mode", a.mode, "clip or drop");
  }
  Dims needed = x.dims;
  if (indices.rank() == x.rank()) needed[place(a.axis)] = indices.dims[place(a.axis)];
  if (indices.dims != needed) {
    operation_error<ValueError>(at, "indices have the extents of x but along the axis",
                                "operands[1].dims", to_text(indices), to_text(needed));
  }
  return {{x.dtype, indices.dims}};
}
ValueId take_along_axis(Builder& b, const Values& x, At at) {
  const auto a = at.attributes.as<GatherAttributes>();
  const std::int64_t extent = at.operands[0].dims[place(a.axis)].constant();
  const ValueId i = x[1];
  if (a.mode == "drop" || extent == 0) {
    const ValueId inside = emit::logical_and(
        b, emit::compare(b, "ge", i, 0), emit::compare(b, "lt", i, static_cast<double>(extent)));
    return take_along(b, x[0], i, a.axis, inside);
  }
  const ValueId low = emit::fill_like(b, 0, i);
  const ValueId high = emit::fill_like(b, static_cast<double>(extent - 1), i);
  return take_along(b, x[0], b.emit(op_clamp, {i, low, high}), a.axis);
}
std::vector<Workload> take_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims x, std::int64_t axis, std::int64_t count,
                       const char* mode) {
    Dims dims = x;
    const auto extent = static_cast<double>(x[place(axis)].constant());
    dims[place(axis)] = count;
    Workload w{.operands = {type_of(dtype, std::move(x)), type_of(DType::i32, std::move(dims))},
               .attributes = Attributes::of(GatherAttributes{axis, mode}),
               .order = is_floating(dtype) ? 2 : 0};
    w.ranges = {{is_signed(dtype) ? -4.0 : 0.0, dtype == DType::boolean ? 1.0 : 4.0},
                {-2, extent + 1}};
    result.push_back(w);
  };
  row(DType::f32, {7, 5}, 1, 3, "drop");
  row(DType::f32, {7, 5}, 0, 9, "clip");
  row(DType::f32, {2, 3, 4}, 1, 2, "drop");
  row(DType::f32, {5}, 0, 0, "clip");
  row(DType::f32, {2, 0}, 1, 3, "drop");
  for (DType d : kAllDTypes) row(d, {3, 5}, 1, 2, "clip");
  return result;
}

// sort, top_k ------------------------------------------------------------------------------------

Types infer_sort(At at) {
  check_operand_count(at, 1);
  check_axis(at, "axis", at.attributes.as<SortAttributes>().axis, at.operands[0].rank());
  return {at.operands[0]};
}
ValueId sort(Builder& b, const Values& x, At at) {
  const auto a = at.attributes.as<SortAttributes>();
  const std::int64_t count = at.operands[0].dims[place(a.axis)].constant();
  const ArgsortAttributes order{a.axis, count, a.descending, false};
  return take_along(b, x[0], b.emit(op_argsort, {x[0]}, Attributes::of(order)), a.axis);
}
std::vector<Workload> sort_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, SortAttributes a) {
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(a),
                      .low = is_signed(dtype) ? -4.0 : 0.0,
                      .high = dtype == DType::boolean ? 1.0 : 4.0,
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, {1});
  row(DType::f32, {7, 13}, {0, true});
  row(DType::f32, {2, 3, 5}, {1});
  row(DType::f32, {3, 0}, {1});
  row(DType::f32, {1}, {0});
  for (DType d : kAllDTypes) row(d, {3, 17}, {1, d == DType::i32});
  return result;
}

Types infer_top_k(At at) {
  check_operand_count(at, 1);
  const std::int64_t k = at.attributes.as<TopKAttributes>().k;
  const Type& x = at.operands[0];
  if (x.rank() == 0) {
    operation_error<ValueError>(at, "no last axis", "operands[0].dims", to_text(x));
  }
  if (k < 0 || k > x.dims.back().constant()) {
    operation_error<ValueError>(at, "no such number of elements", "attributes.k", std::to_string(k),
                                absl::StrCat("0 <= k <= ", to_text(x.dims.back()), ", the extent"));
  }
  Dims dims = x.dims;
  dims.back() = k;
  return {{x.dtype, dims}, {DType::i32, dims}};
}
Function decompose_top_k(At at) {
  Builder b(at.op.name);
  const ValueId x = operand_inputs(b, at)[0];
  const auto axis = static_cast<std::int64_t>(at.operands[0].rank()) - 1;
  const ArgsortAttributes order{axis, at.attributes.as<TopKAttributes>().k, true, true};
  const ValueId indices = b.emit(op_argsort, {x}, Attributes::of(order));
  b.output("y0", take_along(b, x, indices, axis));
  b.output("y1", indices);
  return b.finish();
}
std::vector<Workload> top_k_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, std::int64_t k) {
    result.push_back({.operands = {type_of(dtype, std::move(dims))},
                      .attributes = Attributes::of(TopKAttributes{k}),
                      .low = is_signed(dtype) ? -4.0 : 0.0,
                      .high = dtype == DType::boolean ? 1.0 : 4.0,
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, 3);
  row(DType::f32, {13}, 13);
  row(DType::f32, {2, 3, 5}, 1);
  row(DType::f32, {3, 5}, 0);
  row(DType::f32, {0, 5}, 2);
  for (DType d : kAllDTypes) row(d, {3, 17}, 4);
  return result;
}

Attribute axis_last() { return std::int64_t{-1}; }
Attribute axis_zero() { return std::int64_t{0}; }
Attribute mode_drop() { return std::string("drop"); }
constexpr OperandSpec kTakeOperands[] = {{"x"}, {"indices"}};
constexpr OptionSpec kTakeOptions[] = {{"axis", OptionKind::integer, axis_zero},
                                       {"mode", OptionKind::text, mode_drop}};
constexpr OptionSpec kSortOptions[] = {{"axis", OptionKind::integer, axis_last},
                                       {"descending", OptionKind::flag, false_option}};
constexpr OptionSpec kTopKOptions[] = {{"k", OptionKind::integer}};
constexpr OperationSchema kTakeSchemas[] = {{.operands = kTakeOperands, .options = kTakeOptions}};
constexpr OperationSchema kSortSchemas[] = {{.operands = kX, .options = kSortOptions}};
constexpr OperationSchema kTopKSchemas[] = {{.operands = kX, .options = kTopKOptions}};
constexpr Role kTakeRoles[] = {Role::smooth, Role::no_grad};

}  // namespace

constinit const Operation op_take_along_axis = define_op(
    {.name = "take_along_axis",
     .strict = {.roles = kTakeRoles,
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_take,
                .decompose = decompose<take_along_axis>,
                .workloads = take_rows,
                .rtol = 0,
                .atol = 0,
                .text = "result[a.., i, b..] = x[a.., indices[a.., i, b..], b..] along `axis`. An "
                        "index outside [0, extent): mode clip takes the nearest element, drop "
                        "gives 0. (In a call negative indices count from the end.)\nC1 the indices "
                        "are i32.\nC2 0 <= axis < rank.\nC3 the mode is clip or drop.\nC4 the "
                        "indices have x's extents but along the axis."},
     .surface = {.overloads = kTakeSchemas, .plan = plan_gather, .body = body_gather}});

constinit const Operation op_sort = define_op(
    {.name = "sort",
     .strict = {.roles = first<1>(kSmooth),
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_sort,
                .decompose = decompose<sort>,
                .workloads = sort_rows,
                .rtol = 0,
                .atol = 0,
                .text = "The elements along one axis in ascending or descending order; equal "
                        "elements keep their order, NaNs come last in both.\nC1 0 <= axis < rank.\n"
                        "Several arrays by one key: take_along_axis(each, argsort(key))."},
     .surface = {.overloads = kSortSchemas, .plan = plan_keep, .body = body_axis}});

constinit const Operation op_top_k = define_op(
    {.name = "top_k",
     .strict = {.roles = first<1>(kSmooth),
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_top_k,
                .decompose = decompose_top_k,
                .workloads = top_k_rows,
                .rtol = 0,
                .atol = 0,
                .text = "The k greatest elements along the last axis in descending order, and "
                        "their indices as i32; of equal elements the lower index comes first. NaN "
                        "counts as the greatest, as in argmax.\nC1 x has a last axis.\nC2 0 <= k "
                        "<= its extent."},
     .surface = {.overloads = kTopKSchemas, .plan = plan_keep, .body = body_direct}});

}  // namespace heddle
