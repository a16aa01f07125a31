#include "heddle/graph/ops/record.h"

#include "absl/strings/str_cat.h"

namespace heddle {

void check_operand_count(At at, std::size_t count) {
  if (at.operands.size() == count) return;
  operation_error<TypeError>(at, "wrong number of operands", "operands",
                             std::to_string(at.operands.size()), std::to_string(count));
}

}  // namespace heddle

namespace heddle::ops {
namespace {
std::string operand_field(std::size_t i, const char* what) {
  return absl::StrCat("operands[", i, "].", what);
}
}  // namespace

std::string_view words(int kinds) {
  switch (kinds) {
    case kBool:
      return "bool";
    case kInteger:
      return "an integer dtype";
    case kFloat:
      return "a floating dtype";
    case kNumber:
      return "an integer or floating dtype";
    case kBits:
      return "bool or an integer dtype";
    default:
      return "any dtype";
  }
}

void check_kind(At at, std::size_t operand, int kinds) {
  const DType found = at.operands[operand].dtype;
  if (kind_of(found) & kinds) return;
  operation_error<TypeError>(at, "unsupported dtype", operand_field(operand, "dtype"),
                             std::string(name_of(found)), std::string(words(kinds)));
}

void check_dtype(At at, std::size_t operand, DType dtype) {
  if (at.operands[operand].dtype == dtype) return;
  operation_error<TypeError>(at, "unsupported dtype", operand_field(operand, "dtype"),
                             std::string(name_of(at.operands[operand].dtype)),
                             std::string(name_of(dtype)));
}

void check_same_dtype(At at, std::size_t operand, std::size_t like) {
  if (at.operands[operand].dtype == at.operands[like].dtype) return;
  operation_error<TypeError>(
      at, "operands differ in dtype", operand_field(operand, "dtype"),
      to_text(at.operands[operand]),
      absl::StrCat(std::string(name_of(at.operands[like].dtype)), " as operands[", like,
                   "], which is ", to_text(at.operands[like])));
}

void check_same_dims(At at, std::size_t operand, std::size_t like) {
  if (at.operands[operand].dims == at.operands[like].dims) return;
  operation_error<ValueError>(
      at, "operands differ in shape", operand_field(operand, "dims"), to_text(at.operands[operand]),
      absl::StrCat(to_text(at.operands[like].dims), " as operands[", like, "]"));
}

void check_axis(At at, const char* field, std::int64_t axis, std::size_t rank) {
  if (axis >= 0 && axis < static_cast<std::int64_t>(rank)) return;
  operation_error<ValueError>(at, "axis out of range", absl::StrCat("attributes.", field),
                              std::to_string(axis),
                              absl::StrCat("0 <= axis < ", rank, " (the rank)"));
}

void check_axes(At at, const char* field, const std::vector<std::int64_t>& axes, std::size_t rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    check_axis(at, field, axes[i], rank);
    if (i > 0 && axes[i] <= axes[i - 1]) {
      operation_error<ValueError>(at, "axes must be distinct and ascending",
                                  absl::StrCat("attributes.", field), to_text(Attribute(axes)));
    }
  }
}

void check_entries(At at, const char* field, std::size_t found, std::size_t rank) {
  if (found == rank) return;
  operation_error<ValueError>(at, "one entry per axis is needed",
                              absl::StrCat("attributes.", field), absl::StrCat(found, " entries"),
                              absl::StrCat(rank, " (the rank)"));
}

Type type_of(DType dtype, Dims dims) { return {dtype, std::move(dims)}; }

std::vector<Workload> elementwise_rows(std::size_t operands, int kinds, double low, double high,
                                       int order) {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims) {
    result.push_back({.operands = Types(operands, type_of(dtype, std::move(dims))),
                      .attributes = {},
                      .low = low,
                      .high = high,
                      .order = is_floating(dtype) ? order : 0});
  };
  const DType main = kinds & kFloat ? DType::f32 : kinds & kInteger ? DType::i32 : DType::boolean;
  row(main, {7, 13});
  row(main, {});
  row(main, {1, 5, 1});
  row(main, {0, 3});
  for (DType d : kAllDTypes) {
    if (d != main && (kind_of(d) & kinds)) row(d, {3, 5});
  }
  return result;
}

std::pair<std::int64_t, std::int64_t> cost(At at, const Bindings& symbols, std::int64_t flops) {
  const auto elements = [&](const Type& t) { return evaluate(element_count(t.dims), symbols); };
  std::int64_t bytes = 0;
  for (const Type& t : at.operands)
    bytes += elements(t) * static_cast<std::int64_t>(size_of(t.dtype));
  const Types results = at.op.strict.infer(at);
  for (const Type& t : results) bytes += elements(t) * static_cast<std::int64_t>(size_of(t.dtype));
  return {flops * elements(results[0]), bytes};
}

}  // namespace heddle::ops
