// Dtype plans: step 14 of a call.
#include <limits>

#include "absl/strings/str_cat.h"
#include "heddle/graph/call.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/scalar_convert.h"

namespace heddle::ops {
namespace {

std::string field_of(std::size_t i) { return absl::StrCat("operands[", i, "].dtype"); }

[[noreturn]] void dtype_error(Bound call, std::size_t i, std::string_view needed) {
  throw TypeError({.message = "unsupported dtype",
                   .step = 14,
                   .operation = std::string(call.op->name),
                   .field = field_of(i),
                   .found = std::string(name_of(call.tensor(i).type().dtype)),
                   .needed = std::string(needed),
                   .where = call.where});
}

const Tensor* tensor_at(Bound call, std::size_t i) {
  return std::get_if<Tensor>(&call.operands[i]);
}
const std::int64_t* whole_at(Bound call, std::size_t i) {
  return std::get_if<std::int64_t>(&call.operands[i]);
}

bool holds_whole(DType dtype, std::int64_t value) {
  return dispatch_dtype(dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    if constexpr (std::is_integral_v<T>) {
      const T converted = static_cast<T>(value);
      return static_cast<std::int64_t>(converted) == value && (converted < T(0)) == (value < 0);
    } else {
      return true;
    }
  });
}

// The dtype in which an operand meets `dtype`, that of the tensors so far. A weak scalar selects a
// branch and never widens a float.
DType meet_weak(Bound call, std::size_t i, DType dtype) {
  if (is_floating(dtype)) return dtype;
  if (std::holds_alternative<bool>(call.operands[i]) && dtype == DType::boolean) return dtype;
  const std::int64_t* whole = whole_at(call, i);
  if (whole == nullptr) return DType::f32;
  return dtype == DType::boolean ? DType::i32 : dtype;
}
/// What weak scalars alone are: bool, i32 or f32.
DType alone(Bound call, std::size_t i) {
  if (std::holds_alternative<bool>(call.operands[i])) return DType::boolean;
  return whole_at(call, i) ? DType::i32 : DType::f32;
}

void check_range(Bound call, std::size_t i, DType dtype) {
  const std::int64_t* whole = whole_at(call, i);
  if (whole == nullptr || holds_whole(dtype, *whole)) return;
  throw OverflowError({.message = "the dtype of the call cannot hold this number",
                       .step = 14,
                       .operation = std::string(call.op->name),
                       .field = absl::StrCat("operands[", i, "]"),
                       .found = std::to_string(*whole),
                       .needed = "a number of " + std::string(name_of(dtype)),
                       .where = call.where});
}

/// The common dtype of operands [first, end): tensors meet in the table, then weak scalars.
DType common(Bound call, std::size_t first = 0) {
  std::optional<DType> dtype;
  for (std::size_t i = first; i < call.operands.size(); ++i) {
    const Tensor* t = tensor_at(call, i);
    if (t != nullptr) dtype = dtype ? promote(*dtype, t->type().dtype) : t->type().dtype;
  }
  for (std::size_t i = first; i < call.operands.size(); ++i) {
    if (tensor_at(call, i) != nullptr) continue;
    dtype = dtype ? meet_weak(call, i, *dtype) : alone(call, i);
  }
  return dtype.value_or(DType::f32);
}

/// Every operand converted to the dtype that stands in its place.
DtypePlan plan_of(Bound call, const std::vector<DType>& to, DType compute, DType output) {
  DtypePlan p{.operation = std::string(call.op->name),
              .operands = {},
              .compute = compute,
              .arithmetic = is_floating(compute) ? Arithmetic::ieee : Arithmetic::wrapping,
              .output = output};
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor* t = tensor_at(call, i);
    check_range(call, i, to[i]);
    p.operands.push_back({.role = t ? OperandKind::tensor : OperandKind::weak_scalar,
                          .dtype = t ? std::optional(t->type().dtype) : std::nullopt,
                          .convert_to = to[i]});
  }
  return p;
}
DtypePlan plan_in(Bound call, DType compute, DType output) {
  return plan_of(call, std::vector<DType>(call.operands.size(), compute), compute, output);
}
DtypePlan plan_in(Bound call, DType compute) { return plan_in(call, compute, compute); }
/// Operand `i` of another dtype than the others.
DtypePlan plan_but(Bound call, DType compute, std::size_t i, DType other) {
  std::vector<DType> to(call.operands.size(), compute);
  to[i] = other;
  return plan_of(call, to, compute, compute);
}

/// TypeError unless every tensor operand is of `kinds`.
void check_tensors(Bound call, int kinds) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor* t = tensor_at(call, i);
    if (t != nullptr && !(kind_of(t->type().dtype) & kinds)) dtype_error(call, i, words(kinds));
  }
}
DType floating(DType d) { return is_floating(d) ? d : DType::f32; }

void accumulate(DtypePlan& p) {
  const bool whole = !is_floating(p.compute);
  p.accumulation = whole ? Accumulation::exact_integer : Accumulation::floating;
  if (!whole) p.accumulator = p.compute;
}

}  // namespace

DtypePlan plan_keep(Bound call) { return plan_in(call, common(call)); }

DtypePlan plan_number(Bound call) {
  const DType compute = common(call);
  // bool beside a number becomes that number's dtype; alone it is no number.
  if (compute == DType::boolean) check_tensors(call, kNumber);
  return plan_in(call, compute);
}

DtypePlan plan_floating(Bound call) { return plan_in(call, floating(common(call))); }

DtypePlan plan_floats_only(Bound call) {
  check_tensors(call, kFloat);
  return plan_in(call, common(call));
}

DtypePlan plan_predicate(Bound call) {
  DtypePlan p = plan_floats_only(call);
  p.output = DType::boolean;
  return p;
}

DtypePlan plan_integer(Bound call) {
  check_tensors(call, kInteger);
  const DType compute = common(call);
  if (!is_integer(compute))
    dtype_error(call, tensor_at(call, 0) ? 0 : 1, "whole numbers beside it");
  return plan_in(call, compute);
}

DtypePlan plan_bits(Bound call) {
  check_tensors(call, kBits);
  const DType compute = common(call);
  for (std::size_t i = 0; i < call.operands.size() && is_floating(compute); ++i) {
    if (tensor_at(call, i)) dtype_error(call, i, "numbers that are whole beside it");
  }
  return plan_in(call, compute);
}

DtypePlan plan_bool(Bound call) {
  check_tensors(call, kBool);
  return plan_in(call, DType::boolean);
}

DtypePlan plan_compare(Bound call) { return plan_in(call, common(call), DType::boolean); }

DtypePlan plan_select(Bound call) {
  if (call.tensor(0).type().dtype != DType::boolean) dtype_error(call, 0, "bool");
  return plan_but(call, common(call, 1), 0, DType::boolean);
}

DtypePlan plan_convert(Bound call) {
  return plan_in(call, common(call), call.options.get<DType>("to"));
}

DtypePlan plan_sum(Bound call) {
  const DType found = common(call);
  DtypePlan p = plan_in(call, found == DType::boolean ? DType::i32 : found);
  accumulate(p);
  return p;
}

DtypePlan plan_contract(Bound call) {
  DtypePlan p = plan_number(call);
  accumulate(p);
  return p;
}

DtypePlan plan_extremum(Bound call) {
  DtypePlan p = plan_number(call);
  p.accumulation = Accumulation::extremum;
  return p;
}

DtypePlan plan_index(Bound call) {
  check_tensors(call, kNumber);
  DtypePlan p = plan_in(call, common(call), DType::i32);
  p.accumulation = Accumulation::extremum;
  return p;
}

DtypePlan plan_pow(Bound call) {
  const Tensor* base = tensor_at(call, 0);
  const std::int64_t* exponent = whole_at(call, 1);
  const bool stays = base != nullptr && is_integer(base->type().dtype) && exponent != nullptr &&
                     *exponent >= 0 && *exponent <= std::numeric_limits<std::int32_t>::max();
  const DType compute = stays ? base->type().dtype : floating(common(call));
  return plan_in(call, compute);
}

DtypePlan plan_gather(Bound call) {
  const Tensor* indices = tensor_at(call, 1);
  if (indices != nullptr && !is_integer(indices->type().dtype)) {
    dtype_error(call, 1, words(kInteger));
  }
  DType compute = call.tensor(0).type().dtype;
  if (call.operands.size() > 2) compute = promote(compute, call.tensor(2).type().dtype);
  return plan_but(call, compute, 1, DType::i32);
}

DtypePlan plan_cross_entropy(Bound call) {
  if (!is_integer(call.tensor(1).type().dtype)) dtype_error(call, 1, words(kInteger));
  return plan_but(call, floating(call.tensor(0).type().dtype), 1, DType::i32);
}

}  // namespace heddle::ops
