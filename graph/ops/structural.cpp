// Operations that make or move elements and compute nothing.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/cotangent.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/move.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

// constant, iota ---------------------------------------------------------------------------------

Types infer_constant(At at) {
  check_operand_count(at, 0);
  if (at.literal == nullptr) operation_error<TypeError>(at, "a constant needs its value");
  return {at.literal->type};
}
Literals evaluate_constant(At at, Inputs) { return {*at.literal}; }
std::vector<Workload> no_rows() { return {{.operands = {}, .order = 0}}; }

Types infer_iota(At at) {
  check_operand_count(at, 0);
  const auto a = at.attributes.as<IotaAttributes>();
  check_axis(at, "axis", a.axis, a.dims.size());
  if (a.dtype == DType::boolean) {
    operation_error<TypeError>(at, "unsupported dtype", "attributes.dtype", "bool",
                               std::string(words(kNumber)));
  }
  return {{a.dtype, a.dims}};
}
Literals evaluate_iota(At at, Inputs) {
  const auto a = at.attributes.as<IotaAttributes>();
  const Type type{a.dtype, a.dims};
  return {dispatch_kinds<kNumber>(a.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
    T* out = reinterpret_cast<T*>(bytes.data());
    for_each_index(constant_extents(a.dims), [&](std::size_t i, const Axes& index) {
      out[i] = convert_element<T>(index[at_axis(a.axis)]);
    });
    return literal_from_bytes(type, std::move(bytes));
  })};
}
std::vector<Workload> iota_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims, std::int64_t axis) {
    result.push_back({.operands = {},
                      .attributes = Attributes::of(IotaAttributes{dtype, std::move(dims), axis}),
                      .order = 0});
  };
  for (DType d : kAllDTypes) {
    if (d != DType::boolean) row(d, {3, 5}, 1);
  }
  row(DType::i32, {7, 13}, 0);
  row(DType::f32, {2, 3, 4}, 1);
  row(DType::i32, {0, 3}, 1);
  return result;
}

// broadcast_in_dim -------------------------------------------------------------------------------

Types infer_broadcast(At at) {
  check_operand_count(at, 1);
  const auto a = at.attributes.as<BroadcastAttributes>();
  const Type& x = at.operands[0];
  check_entries(at, "axes", a.axes.size(), x.rank());
  check_axes(at, "axes", a.axes, a.dims.size());
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    const Dim& to = a.dims[at_axis(a.axes[i])];
    if (x.dims[i] == to || x.dims[i] == Dim(1)) continue;
    operation_error<ValueError>(at, absl::StrCat("axis ", i, " of ", to_text(x), " cannot stretch"),
                                "attributes.dims", to_text(to),
                                x.dims[i].is_constant()
                                    ? to_text(x.dims[i]) + " (only an extent of 1 stretches)"
                                    : to_text(x.dims[i]));
  }
  return {{x.dtype, a.dims}};
}
Literals evaluate_broadcast(At at, Inputs in) {
  const auto a = at.attributes.as<BroadcastAttributes>();
  const Axes extents = extents_of(in[0]);
  return {moved(result_type(at), in[0], [&](const Axes& index) {
    Axes place(extents.size());
    for (std::size_t i = 0; i < place.size(); ++i) {
      place[i] = extents[i] == 1 ? 0 : index[at_axis(a.axes[i])];
    }
    return place;
  })};
}
MaybeValues broadcast_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const auto a = c.node.attributes.as<BroadcastAttributes>();
  const Type from = c.type(0);
  Axes summed;
  for (std::size_t axis = 0, i = 0; axis < a.dims.size(); ++axis) {
    const bool mapped = i < a.axes.size() && at_axis(a.axes[i]) == axis;
    if (!mapped || from.dims[i] != a.dims[axis]) summed.push_back(static_cast<std::int64_t>(axis));
    if (mapped) ++i;
  }
  return {emit::reshape(c.build, emit::reduce_sum(c.build, *ct[0], summed), from.dims)};
}
std::vector<Workload> broadcast_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims from, Dims to, Axes axes) {
    result.push_back(
        {.operands = {type_of(dtype, std::move(from))},
         .attributes = Attributes::of(BroadcastAttributes{std::move(to), std::move(axes)}),
         .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {}, {7, 13}, {});
  row(DType::f32, {13}, {7, 13}, {1});
  row(DType::f32, {7}, {7, 13}, {0});
  row(DType::f32, {1, 3}, {5, 3}, {0, 1});
  row(DType::f32, {3, 1}, {3, 2, 5}, {0, 2});
  row(DType::f32, {1}, {0}, {0});
  for (DType d : kAllDTypes) row(d, {3}, {2, 3}, {1});
  return result;
}

// reshape, transpose, reverse --------------------------------------------------------------------

Types infer_reshape(At at) {
  check_operand_count(at, 1);
  const Type& x = at.operands[0];
  const Dims dims = at.attributes.as<ReshapeAttributes>().dims;
  for (const Dim& d : dims) {
    if (!d.is_constant() || d.constant() >= 0) continue;
    operation_error<ValueError>(at, "negative extent", "attributes.dims", to_text(dims));
  }
  if (element_count(dims) != element_count(x.dims)) {
    operation_error<ValueError>(
        at, "a reshape keeps the number of elements", "attributes.dims",
        to_text(dims) + " (" + to_text(element_count(dims)) + " elements)",
        to_text(element_count(x.dims)) + " elements, as " + to_text(x) + " has");
  }
  return {{x.dtype, dims}};
}
Literals evaluate_reshape(At at, Inputs in) { return {{result_type(at), in[0].bytes}}; }
MaybeValues reshape_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const Dims dims = c.type(0).dims;
  const auto back = [&](ValueId v) { return emit::reshape(c.build, v, dims); };
  return {through_masks(c.build, *ct[0], back, back)};
}
std::vector<Workload> reshape_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims from, Dims to) {
    result.push_back({.operands = {type_of(dtype, std::move(from))},
                      .attributes = Attributes::of(ReshapeAttributes{std::move(to)}),
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, {91});
  row(DType::f32, {2, 3, 5}, {5, 6});
  row(DType::f32, {}, {1, 1});
  row(DType::f32, {1}, {});
  row(DType::f32, {0, 3}, {5, 0});
  for (DType d : kAllDTypes) row(d, {2, 3}, {3, 2});
  return result;
}

Types infer_transpose(At at) {
  check_operand_count(at, 1);
  const Type& x = at.operands[0];
  const Axes permutation = at.attributes.as<TransposeAttributes>().permutation;
  check_entries(at, "permutation", permutation.size(), x.rank());
  std::vector<bool> seen(x.rank(), false);
  Dims dims;
  for (std::int64_t axis : permutation) {
    check_axis(at, "permutation", axis, x.rank());
    if (seen[at_axis(axis)]) {
      operation_error<ValueError>(at, "a permutation names every axis once",
                                  "attributes.permutation", to_text(Attribute(permutation)));
    }
    seen[at_axis(axis)] = true;
    dims.push_back(x.dims[at_axis(axis)]);
  }
  return {{x.dtype, dims}};
}
Literals evaluate_transpose(At at, Inputs in) {
  const Axes permutation = at.attributes.as<TransposeAttributes>().permutation;
  return {moved(result_type(at), in[0], [&](const Axes& index) {
    Axes place(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) place[at_axis(permutation[i])] = index[i];
    return place;
  })};
}
MaybeValues transpose_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const Axes permutation = c.node.attributes.as<TransposeAttributes>().permutation;
  Axes inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    inverse[at_axis(permutation[i])] = static_cast<std::int64_t>(i);
  }
  const auto back = [&](ValueId v) { return emit::transpose(c.build, v, inverse); };
  return {through_masks(c.build, *ct[0], back, back)};
}
std::vector<Workload> transpose_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims from, Axes permutation) {
    result.push_back({.operands = {type_of(dtype, std::move(from))},
                      .attributes = Attributes::of(TransposeAttributes{std::move(permutation)}),
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, {1, 0});
  row(DType::f32, {2, 3, 5}, {2, 0, 1});
  row(DType::f32, {1, 4, 1, 3}, {3, 2, 1, 0});
  row(DType::f32, {}, {});
  row(DType::f32, {0, 3}, {1, 0});
  for (DType d : kAllDTypes) row(d, {2, 3}, {1, 0});
  return result;
}

Types infer_reverse(At at) {
  check_operand_count(at, 1);
  check_axes(at, "axes", at.attributes.as<AxesAttributes>().axes, at.operands[0].rank());
  return {at.operands[0]};
}
Literals evaluate_reverse(At at, Inputs in) {
  const Axes axes = at.attributes.as<AxesAttributes>().axes, extents = extents_of(in[0]);
  return {moved(in[0].type, in[0], [&](const Axes& index) {
    Axes place = index;
    for (std::int64_t a : axes) place[at_axis(a)] = extents[at_axis(a)] - 1 - index[at_axis(a)];
    return place;
  })};
}
MaybeValues reverse_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  return {emit::reverse(c.build, *ct[0], c.node.attributes.as<AxesAttributes>().axes)};
}
std::vector<Workload> reverse_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims from, Axes axes) {
    result.push_back({.operands = {type_of(dtype, std::move(from))},
                      .attributes = Attributes::of(AxesAttributes{std::move(axes)}),
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, {1});
  row(DType::f32, {2, 3, 5}, {0, 2});
  row(DType::f32, {}, {});
  row(DType::f32, {0, 3}, {1});
  for (DType d : kAllDTypes) row(d, {5}, {0});
  return result;
}

constexpr int kMove = kFusable;

constexpr OptionSpec kDims[] = {{"dims", OptionKind::dims}};
constexpr OperationSchema kReshapeSchemas[] = {{.operands = kX, .options = kDims}};
constexpr OptionSpec kDimsAxes[] = {{"dims", OptionKind::dims}, {"axes", OptionKind::integers}};
constexpr OperationSchema kBroadcastSchemas[] = {{.operands = kX, .options = kDims},
                                                 {.operands = kX, .options = kDimsAxes}};
constexpr OptionSpec kPermutation[] = {{"permutation", OptionKind::integers}};
constexpr OperationSchema kTransposeSchemas[] = {{.operands = kX},
                                                 {.operands = kX, .options = kPermutation}};
constexpr OptionSpec kAxes[] = {{"axes", OptionKind::integers}};
constexpr OperationSchema kReverseSchemas[] = {{.operands = kX, .options = kAxes}};
}  // namespace

constinit const Operation op_constant =
    define_op({.name = "constant",
               .strict = {.roles = {},
                          .pattern = Pattern::broadcast,
                          .traits = kMove,
                          .infer = infer_constant,
                          .evaluate = evaluate_constant,
                          .workloads = no_rows,
                          .rtol = 0,
                          .atol = 0,
                          .roofline = per_element<0>,
                          .text = "The elements written in the program.\nC1 the value is given."}});

constinit const Operation op_iota = define_op(
    {.name = "iota",
     .strict = {.roles = {},
                .pattern = Pattern::broadcast,
                .traits = kMove,
                .infer = infer_iota,
                .evaluate = evaluate_iota,
                .workloads = iota_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "result[i] = i[axis], converted to the dtype.\nC1 0 <= axis < rank.\nC2 "
                        "the dtype is an integer or floating one."}});

constinit const Operation op_broadcast_in_dim = define_op(
    {.name = "broadcast_in_dim",
     .strict = {.roles = first<1>(kLinear),
                .pattern = Pattern::broadcast,
                .traits = kMove,
                .infer = infer_broadcast,
                .evaluate = evaluate_broadcast,
                .transpose = broadcast_transpose,
                .workloads = broadcast_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "x repeated: its axis a becomes axis axes[a] of `dims`, an extent of 1 "
                        "stretches.\nC1 one entry of axes per axis of x.\nC2 the axes are in "
                        "range, distinct and ascending.\nC3 an extent is equal or 1."},
     .surface = {.overloads = kBroadcastSchemas, .plan = plan_keep, .body = body_broadcast}});

constinit const Operation op_reshape = define_op(
    {.name = "reshape",
     .strict = {.roles = first<1>(kLinear),
                .pattern = Pattern::movement,
                .traits = kMove,
                .infer = infer_reshape,
                .evaluate = evaluate_reshape,
                .transpose = reshape_transpose,
                .workloads = reshape_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "The same elements in row-major order under other extents. (In a call "
                        "one extent may be -1: what is left.)\nC1 no extent is negative.\nC2 the "
                        "number of elements stays."},
     .surface = {.overloads = kReshapeSchemas, .plan = plan_keep, .body = body_reshape}});

constinit const Operation op_transpose = define_op(
    {.name = "transpose",
     .strict = {.roles = first<1>(kLinear),
                .pattern = Pattern::movement,
                .traits = kMove,
                .infer = infer_transpose,
                .evaluate = evaluate_transpose,
                .transpose = transpose_transpose,
                .workloads = transpose_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "Axes in another order: result axis a is x's axis permutation[a]. (A call "
                        "without a permutation reverses them.)\nC1 one entry per axis.\nC2 every "
                        "axis once."},
     .surface = {.overloads = kTransposeSchemas, .plan = plan_keep, .body = body_transpose}});

constinit const Operation op_reverse = define_op(
    {.name = "reverse",
     .strict = {.roles = first<1>(kLinear),
                .pattern = Pattern::movement,
                .traits = kMove,
                .infer = infer_reverse,
                .evaluate = evaluate_reverse,
                .transpose = reverse_transpose,
                .workloads = reverse_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "Elements in the opposite order along `axes`.\nC1 the axes are in "
                        "range, distinct and ascending."},
     .surface = {.overloads = kReverseSchemas, .plan = plan_keep, .body = body_axes}});

}  // namespace heddle
