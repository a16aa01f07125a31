#include "heddle/graph/invocation.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> number = 1;
  return number.fetch_add(1, std::memory_order_relaxed);
}

std::vector<Operand> types_only(const std::vector<Operand>& operands) {
  std::vector<Operand> result = operands;
  for (Operand& o : result) {
    if (const Tensor* t = std::get_if<Tensor>(&o)) o = Tensor(t->type(), nullptr);
  }
  return result;
}

[[noreturn]] void fail(Bound call, std::string message, std::string field, std::string found = "",
                       std::string needed = "") {
  throw ValueError({.message = std::move(message),
                    .step = 17,
                    .operation = std::string(call.op->name),
                    .field = std::move(field),
                    .found = std::move(found),
                    .needed = std::move(needed),
                    .where = call.where});
}

void check_distinct(Bound call, const std::vector<int>& indices, const char* field) {
  std::set<int> seen;
  for (int i : indices) {
    if (!seen.insert(i).second) fail(call, "an operand is named twice", field, std::to_string(i));
  }
}

void check_tensor_index(Bound call, int index, const std::string& field) {
  if (index >= 0 && static_cast<std::size_t>(index) < call.operands.size() &&
      std::holds_alternative<Tensor>(call.operands[static_cast<std::size_t>(index)])) {
    return;
  }
  fail(call, "no tensor operand", field, std::to_string(index),
       absl::StrCat("the number of a tensor among ", call.operands.size(), " operands"));
}

// Structural operands have no place in a plan.
void check_roles(Bound call, const DtypePlan& plan) {
  if (plan.operation != call.op->name) {
    fail(call, "a plan of another operation", "plan.operation", "'" + plan.operation + "'",
         "'" + std::string(call.op->name) + "'");
  }
  std::vector<OperandKind> roles;
  for (const Operand& o : call.operands) {
    if (std::holds_alternative<Attribute>(o)) continue;
    roles.push_back(std::holds_alternative<Tensor>(o) ? OperandKind::tensor
                                                      : OperandKind::weak_scalar);
  }
  if (roles.size() != plan.operands.size()) {
    fail(call, "the plan has another number of operands", "plan.operands",
         std::to_string(plan.operands.size()), std::to_string(roles.size()));
  }
  std::size_t next = 0;
  for (const Operand& o : call.operands) {
    if (std::holds_alternative<Attribute>(o)) continue;
    const OperandPlan& p = plan.operands[next];
    const std::string field = absl::StrCat("plan.operands[", next, "]");
    if (p.role != roles[next]) {
      fail(call, "the plan's operand has another role", field, std::string(name_of(p.role)),
           std::string(name_of(roles[next])));
    }
    const Tensor* t = std::get_if<Tensor>(&o);
    if (t != nullptr ? p.dtype != t->type().dtype : p.dtype.has_value()) {
      fail(call, "the plan's operand has another dtype", field + ".dtype",
           p.dtype ? std::string(name_of(*p.dtype)) : "none",
           t ? std::string(name_of(t->type().dtype)) : "none, for a weak scalar");
    }
    ++next;
  }
}

DtypePlan checked_plan(Bound call, DtypePlan plan, const std::vector<ResultSpec>& results,
                       const std::vector<int>& mutated, const std::vector<int>& saved) {
  if (results.empty()) fail(call, "an invocation has at least one result", "results");
  check_distinct(call, mutated, "mutated");
  check_distinct(call, saved, "saved");
  check_roles(call, plan);
  for (int i : mutated) check_tensor_index(call, i, "mutated");
  for (int i : saved) check_tensor_index(call, i, "saved");
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!results[r].alias_of) continue;
    const std::string field = absl::StrCat("results[", r, "].alias_of");
    check_tensor_index(call, *results[r].alias_of, field);
    const Type& operand = call.tensor(static_cast<std::size_t>(*results[r].alias_of)).type();
    if (operand == results[r].type) continue;
    fail(call, "a result that is an operand has its type", field, to_text(results[r].type),
         to_text(operand));
  }
  return plan;
}

std::string checked_kernel(Bound call, std::optional<std::string> kernel) {
  if (!kernel) return versioned_name(*call.op);
  if (kernel->empty()) fail(call, "an empty kernel id", "kernel_id");
  return *std::move(kernel);
}

}  // namespace

namespace internal {

Operand wide_scalar(std::uint64_t value, Location where) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  if (value <= static_cast<std::uint64_t>(kMost)) return static_cast<std::int64_t>(value);
  throw OverflowError({.message = "a whole number beside a tensor is an i64",
                       .found = absl::StrCat(value),
                       .needed = absl::StrCat("at most ", kMost),
                       .where = where});
}

Operand wide_scalar(long double value, Location where) {
  constexpr auto kMost = std::numeric_limits<double>::max();
  if (!std::isfinite(value) || std::fabs(value) <= kMost) return static_cast<double>(value);
  char text[64];
  std::snprintf(text, sizeof text, "%Lg", value);
  throw OverflowError({.message = "a number beside a tensor is an f64",
                       .found = text,
                       .needed = absl::StrCat("at most ", kMost, " in magnitude"),
                       .where = where});
}

}  // namespace internal

Attribute to_attribute(const Operand& operand) {
  if (const auto* whole = std::get_if<std::int64_t>(&operand)) return *whole;
  if (const auto* number = std::get_if<double>(&operand)) return *number;
  if (const auto* truth = std::get_if<bool>(&operand)) return *truth;
  return std::get<Attribute>(operand);
}

BoundOperationCall::BoundOperationCall(Key, const Operation& operation,
                                       const OperationSchema& bound_schema,
                                       std::vector<Operand> bound_operands,
                                       Attributes bound_options, Location place)
    : op(&operation),
      schema(&bound_schema),
      operands(std::move(bound_operands)),
      options(std::move(bound_options)),
      where(place),
      number(next_number()) {}

BoundOperationCall::BoundOperationCall(const BoundOperationCall& like, std::vector<Operand> others,
                                       Location place)
    : op(like.op),
      schema(like.schema),
      operands(std::move(others)),
      options(like.options),
      where(place),
      number(like.number) {}

const Tensor& BoundOperationCall::tensor(std::size_t i) const {
  const Tensor* t = i < operands.size() ? std::get_if<Tensor>(&operands[i]) : nullptr;
  internal_check(t != nullptr, "a tensor operand that is none");
  return *t;
}

std::vector<Type> BoundOperationCall::tensor_types() const {
  std::vector<Type> types;
  for (const Operand& o : operands) {
    if (const Tensor* t = std::get_if<Tensor>(&o)) types.push_back(t->type());
  }
  return types;
}

BoundOperationCall BoundOperationCall::without_storage() const {
  return {*this, types_only(operands), where};
}
BoundOperationCall BoundOperationCall::with_operands(Operands others) const {
  return {*this, {others.begin(), others.end()}, where};
}
BoundOperationCall BoundOperationCall::at(Location place) const { return {*this, operands, place}; }

ResultTolerance tolerance_of(DType dtype) {
  if (!is_floating(dtype)) return {};
  if (dtype == DType::f16) return {.atol = 1e-3, .rtol = 1e-2};
  if (dtype == DType::bf16) return {.atol = 2e-3, .rtol = 2e-2};
  return {.atol = 1e-6, .rtol = 1e-5};
}

ResultSpec::ResultSpec(Type result, std::optional<int> alias, ResultTolerance tolerance)
    : type(std::move(result)), alias_of(alias), atol(tolerance.atol), rtol(tolerance.rtol) {
  if (alias_of && *alias_of < 0) {
    throw ValueError({.message = "a result cannot be that operand",
                      .field = "alias_of",
                      .found = std::to_string(*alias_of),
                      .needed = "the number of an operand"});
  }
  for (double t : {atol, rtol}) {
    if (std::isfinite(t) && t >= 0) continue;
    throw ValueError({.message = "a tolerance is finite and not negative",
                      .field = "tolerance",
                      .found = absl::StrCat(t)});
  }
}

Invocation::Invocation(BoundOperationCall bound, DtypePlan dtypes,
                       std::vector<ResultSpec> result_specs, std::vector<int> mutated_operands,
                       std::vector<int> saved_operands, std::optional<std::string> kernel)
    : call(std::move(bound)),
      plan(checked_plan(call, std::move(dtypes), result_specs, mutated_operands, saved_operands)),
      results(std::move(result_specs)),
      mutated(std::move(mutated_operands)),
      saved(std::move(saved_operands)),
      kernel_id(checked_kernel(call, std::move(kernel))) {}

Invocation::Invocation(Invocation invocation, Function program)
    : call(invocation.call),
      plan(invocation.plan),
      results(invocation.results),
      mutated(invocation.mutated),
      saved(invocation.saved),
      kernel_id(invocation.kernel_id),
      body(std::move(program)) {}

Invocation::Invocation(BoundOperationCall bound, const Invocation& like)
    : call(std::move(bound)),
      plan(like.plan),
      results(like.results),
      mutated(like.mutated),
      saved(like.saved),
      kernel_id(like.kernel_id),
      body(like.body) {}

Invocation Invocation::without_storage() const { return {call.without_storage(), *this}; }
Invocation Invocation::with_operands(Operands others) const {
  return {call.with_operands(others), *this};
}
Invocation Invocation::at(Location place) const { return {call.at(place), *this}; }

}  // namespace heddle
