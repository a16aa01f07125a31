// Parts of tensors: cut out, padded, put together.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/move.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/window.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

Types infer_slice(At at) {
  check_operand_count(at, 1);
  const Type& x = at.operands[0];
  const auto a = at.attributes.as<SliceAttributes>();
  check_entries(at, "starts", a.starts.size(), x.rank());
  check_entries(at, "limits", a.limits.size(), x.rank());
  check_entries(at, "strides", a.strides.size(), x.rank());
  Dims dims;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const bool beyond = x.dims[i].is_constant() && a.limits[i] > x.dims[i].constant();
    if (a.starts[i] < 0 || a.starts[i] > a.limits[i] || beyond) {
      operation_error<ValueError>(
          at, absl::StrCat("axis ", i, " of ", to_text(x), " has no such range"),
          "attributes.limits", absl::StrCat("[", a.starts[i], ", ", a.limits[i], ")"),
          "0 <= start <= limit <= " + to_text(x.dims[i]));
    }
    if (a.strides[i] < 1) {
      operation_error<ValueError>(at, "a stride is at least 1", "attributes.strides",
                                  std::to_string(a.strides[i]));
    }
    const std::int64_t range = a.limits[i] - a.starts[i];
    dims.push_back(range == 0 ? 0 : (range - 1) / a.strides[i] + 1);
  }
  return {{x.dtype, dims}};
}
Literals evaluate_slice(At at, Inputs in) {
  const auto a = at.attributes.as<SliceAttributes>();
  return {moved(result_type(at), in[0], [&](const Axes& index) {
    Axes place(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) place[i] = a.starts[i] + index[i] * a.strides[i];
    return place;
  })};
}
MaybeValues slice_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const auto a = c.node.attributes.as<SliceAttributes>();
  const Axes whole = constant_extents(c.type(0).dims);
  const Axes part = constant_extents(c.build.type(*ct[0]).dims);
  Axes high(whole.size()), interior(whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::int64_t covered = part[i] == 0 ? 0 : (part[i] - 1) * a.strides[i] + 1;
    interior[i] = part[i] > 1 ? a.strides[i] - 1 : 0;  // a stride has no bound, what is cut has
    high[i] = whole[i] - a.starts[i] - covered;
  }
  const ValueId zero = emit::scalar(c.build, c.type(0).dtype, 0);
  return {emit::pad(c.build, *ct[0], zero, a.starts, high, interior)};
}
std::vector<Workload> slice_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims from, Axes starts, Axes limits, Axes strides) {
    result.push_back({.operands = {type_of(dtype, std::move(from))},
                      .attributes = Attributes::of(SliceAttributes{
                          std::move(starts), std::move(limits), std::move(strides)}),
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, {1, 2}, {6, 13}, {1, 3});
  row(DType::f32, {7, 13}, {0, 0}, {3, 13}, {1, 1});
  row(DType::f32, {2, 3, 5}, {1, 0, 4}, {2, 3, 5}, {2, 2, 1});
  row(DType::f32, {5}, {2}, {2}, {1});
  row(DType::f32, {}, {}, {}, {});
  for (DType d : kAllDTypes) row(d, {5}, {1}, {5}, {2});
  return result;
}

Types infer_pad(At at) {
  check_operand_count(at, 2);
  const Type& x = at.operands[0];
  const auto a = at.attributes.as<PadAttributes>();
  check_same_dtype(at, 1);
  if (at.operands[1].rank() != 0) {
    operation_error<ValueError>(at, "the padding value is a scalar", "operands[1].dims",
                                to_text(at.operands[1]), "rank 0");
  }
  check_numbers(at, "low", a.low, x.rank(), kAnything);
  check_numbers(at, "high", a.high, x.rank(), kAnything);
  check_numbers(at, "interior", a.interior, x.rank(), 0);
  Dims dims;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const bool empty = x.dims[i] == Dim(0);
    const Dim between = empty ? Dim(0) : a.interior[i] * (x.dims[i] - 1);
    const Dim extent = x.dims[i] + between + a.low[i] + a.high[i];
    if (extent.is_constant() && extent.constant() < 0) {
      operation_error<ValueError>(
          at, absl::StrCat("axis ", i, " of ", to_text(x), " is cut by more than it has"),
          "attributes.low", absl::StrCat(a.low[i], " before, ", a.high[i], " after"));
    }
    dims.push_back(extent);
  }
  return {{x.dtype, dims}};
}
Literals evaluate_pad(At at, Inputs in) {
  const auto a = at.attributes.as<PadAttributes>();
  const Type type = result_type(at);
  return {dispatch_dtype(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> from = view<T>(in[0]);
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
    T* out = reinterpret_cast<T*>(bytes.data());
    std::fill(out, out + bytes.size() / sizeof(T), view<T>(in[1])[0]);
    const Axes extents = constant_extents(type.dims), strides = strides_of(extents);
    for_each_index(extents_of(in[0]), [&](std::size_t i, const Axes& index) {
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const std::int64_t place = a.low[axis] + index[axis] * (a.interior[axis] + 1);
        inside = inside && place >= 0 && place < extents[axis];
        if (inside) offset += place * strides[axis];
      }
      if (inside) out[offset] = from[i];
    });
    return literal_from_bytes(type, std::move(bytes));
  })};
}
// x's cotangent is cut out of ct (with zeros where padding had cut x); the value's is all the rest.
MaybeValues pad_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  Builder& b = c.build;
  const auto a = c.node.attributes.as<PadAttributes>();
  const Axes whole = constant_extents(c.type(0).dims);
  Axes low(whole.size()), high(whole.size()), starts(whole.size(), 0), limits(whole.size()),
      strides(whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    low[i] = -a.low[i], high[i] = -a.high[i], strides[i] = a.interior[i] + 1;
    limits[i] = whole[i] == 0 ? 0 : (whole[i] - 1) * strides[i] + 1;
  }
  const ValueId zero = emit::scalar(b, c.type(0).dtype, 0);
  ValueId inner = emit::pad(b, *ct[0], zero, low, high, Axes(whole.size(), 0));
  const bool dense =
      std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s == 1; });
  if (!dense) inner = emit::slice(b, inner, starts, limits, strides);
  MaybeValues result(2);
  if (c.is_linear(0)) result[0] = inner;
  if (c.is_linear(1)) {
    const auto total = [&](ValueId v) {
      return emit::reduce_sum(b, v, emit::all_axes(whole.size()));
    };
    const ValueId all = total(*ct[0]);
    result[1] = emit::sub(b, all, total(inner));
  }
  return result;
}
std::vector<Workload> pad_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims from, Axes low, Axes high, Axes interior) {
    result.push_back({.operands = {type_of(dtype, std::move(from)), type_of(dtype)},
                      .attributes = Attributes::of(
                          PadAttributes{std::move(low), std::move(high), std::move(interior)}),
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, {1, 0}, {0, 3}, {0, 0});
  row(DType::f32, {3, 4}, {1, 2}, {2, 0}, {1, 2});
  row(DType::f32, {5, 4}, {-1, 1}, {2, -2}, {0, 1});
  row(DType::f32, {0}, {2}, {1}, {3});
  row(DType::f32, {}, {}, {}, {});
  for (DType d : kAllDTypes) row(d, {3}, {1}, {2}, {1});
  return result;
}

Types infer_concatenate(At at) {
  if (at.operands.empty()) {
    operation_error<TypeError>(at, "wrong number of operands", "operands", "0", "at least 1");
  }
  const Type& x = at.operands[0];
  const std::int64_t axis = at.attributes.as<AxisAttributes>().axis;
  check_axis(at, "axis", axis, x.rank());
  Type type = x;
  for (std::size_t i = 1; i < at.operands.size(); ++i) {
    check_same_dtype(at, i);
    Dims expected = x.dims;
    if (at.operands[i].rank() == x.rank()) {
      expected[at_axis(axis)] = at.operands[i].dims[at_axis(axis)];
    }
    if (at.operands[i].dims != expected) {
      operation_error<ValueError>(at, "operands differ in shape beside the axis",
                                  absl::StrCat("operands[", i, "].dims"), to_text(at.operands[i]),
                                  absl::StrCat(to_text(x), " but for axis ", axis));
    }
    type.dims[at_axis(axis)] = type.dims[at_axis(axis)] + at.operands[i].dims[at_axis(axis)];
  }
  return {type};
}
Literals evaluate_concatenate(At at, Inputs in) {
  const std::size_t axis = at_axis(at.attributes.as<AxisAttributes>().axis);
  const Type type = result_type(at);
  std::int64_t before = 1;
  for (std::size_t a = 0; a < axis; ++a) before *= type.dims[a].constant();
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(byte_count(type)));
  for (std::int64_t row = 0; row < before; ++row) {
    for (const Literal& part : in) {
      const auto size = static_cast<std::int64_t>(part.bytes->size()) / before;
      bytes.insert(bytes.end(), part.bytes->begin() + row * size,
                   part.bytes->begin() + (row + 1) * size);
    }
  }
  return {literal_from_bytes(type, std::move(bytes))};
}
MaybeValues concatenate_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const std::int64_t axis = c.node.attributes.as<AxisAttributes>().axis;
  MaybeValues result(c.inputs.size());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const std::int64_t limit = start + c.type(i).dims[at_axis(axis)].constant();
    if (c.is_linear(i)) result[i] = emit::slice_axis(c.build, *ct[0], axis, start, limit);
    start = limit;
  }
  return result;
}
std::vector<Workload> concatenate_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, std::vector<Dims> parts, std::int64_t axis) {
    Workload w{.operands = {},
               .attributes = Attributes::of(AxisAttributes{axis}),
               .order = is_floating(dtype) ? 2 : 0};
    for (Dims& d : parts) w.operands.push_back(type_of(dtype, std::move(d)));
    result.push_back(std::move(w));
  };
  row(DType::f32, {{7, 13}, {7, 4}}, 1);
  row(DType::f32, {{2, 3}, {1, 3}, {0, 3}}, 0);
  row(DType::f32, {{2, 1, 3}, {2, 5, 3}}, 1);
  row(DType::f32, {{5}}, 0);
  for (DType d : kAllDTypes) row(d, {{2}, {3}}, 0);
  return result;
}

constexpr int kMove = kFusable;

constexpr OptionSpec kSlice[] = {{"starts", OptionKind::integers},
                                 {"limits", OptionKind::integers},
                                 {"strides", OptionKind::integers}};
constexpr OperationSchema kSliceSchemas[] = {{.operands = kX, .options = kSlice}};
constexpr OptionSpec kPad[] = {{"low", OptionKind::integers},
                               {"high", OptionKind::integers},
                               {"interior", OptionKind::integers}};
constexpr OperandSpec kXValue[] = {{"x"}, {"value"}};
constexpr OperandSpec kXWeakValue[] = {{"x"}, {"value", kWeak}};
constexpr OperationSchema kPadSchemas[] = {{.operands = kXWeakValue, .options = kPad},
                                           {.operands = kXValue, .options = kPad}};
constexpr OperationSchema kConcatenateSchemas[] = {
    {.operands = kX, .options = kAxis, .variadic = true}};

}  // namespace

constinit const Operation op_slice = define_op(
    {.name = "slice",
     .strict = {.roles = first<1>(kLinear),
                .pattern = Pattern::movement,
                .traits = kMove,
                .infer = infer_slice,
                .evaluate = evaluate_slice,
                .transpose = slice_transpose,
                .workloads = slice_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "result[i] = x[starts + i * strides], up to limits (exclusive). (In a call "
                        "negative starts and limits count from the end, and limits beyond it are "
                        "cut, as in NumPy.)\nC1 one entry per axis.\nC2 0 <= start <= limit <= "
                        "extent.\nC3 strides are at least 1."},
     .surface = {.overloads = kSliceSchemas, .plan = plan_keep, .body = body_slice}});

constinit const Operation op_pad = define_op(
    {.name = "pad",
     .strict = {.roles = first<2>(kLinear),
                .pattern = Pattern::movement,
                .traits = kMove,
                .infer = infer_pad,
                .evaluate = evaluate_pad,
                .transpose = pad_transpose,
                .workloads = pad_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "x with `value` between each two elements of an axis (interior), before "
                        "(low) and after (high) it; negative low and high cut.\nC1 both have one "
                        "dtype.\nC2 the value is a scalar.\nC3 one entry per axis.\nC4 interior is "
                        "at least 0; no number is beyond 2^60.\nC5 no axis is cut by more than it "
                        "has."},
     .surface = {.overloads = kPadSchemas, .plan = plan_keep, .body = body_direct}});

constinit const Operation op_concatenate = define_op(
    {.name = "concatenate",
     .strict = {.roles = first<1>(kLinear),
                .variadic = true,
                .pattern = Pattern::movement,
                .traits = kMove,
                .infer = infer_concatenate,
                .evaluate = evaluate_concatenate,
                .transpose = concatenate_transpose,
                .workloads = concatenate_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<0>,
                .text = "The operands one after another along one axis.\nC1 at least one operand.\n"
                        "C2 0 <= axis < rank.\nC3 all have one dtype.\nC4 all have one shape but "
                        "for the axis."},
     .surface = {.overloads = kConcatenateSchemas, .plan = plan_keep, .body = body_axis}});

}  // namespace heddle
