#include "heddle/graph/definition.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "heddle/graph/call.h"
#include "heddle/graph/extension.h"
#include "heddle/graph/registry.h"

namespace heddle {
namespace {

template <class E>
[[noreturn]] void refuse(std::string_view operation, std::string message, std::string field,
                         std::string found = "", std::string needed = "") {
  throw E(ErrorDetail{.message = std::move(message),
                      .operation = std::string(operation),
                      .field = std::move(field),
                      .found = std::move(found),
                      .needed = std::move(needed)});
}

bool is_built_in_name(std::string_view name) {
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') return false;
  }
  return internal::is_identifier(name) && name[0] != '_';
}

void check_parts(std::string_view name, const ResolveFunction& resolve,
                 const DefinitionParts& parts) {
  if (!resolve) refuse<TypeError>(name, "a definition resolves its calls", "resolve", "nothing");
  if (!parts.vjp.given()) {
    refuse<ValueError>(name, "the derivative must be said", "vjp", "nothing",
                       "a callback, rules, kByDecomposition or kNonDifferentiable");
  }
  const DerivativeRules* rules = parts.vjp.rules();
  if ((parts.vjp.vjp() != nullptr && !*parts.vjp.vjp()) ||
      (rules != nullptr && !rules->linearize && !rules->transpose)) {
    refuse<TypeError>(name, "a derivative that is no function", "vjp", "an empty function");
  }
  if (parts.vjp.by_decomposition() && !parts.decompose) {
    refuse<ValueError>(name, "a derivative by decomposition needs one", "decompose", "nothing");
  }
}

}  // namespace

VjpContext::VjpContext(const ResolvedInvocation& resolved, std::vector<Tensor> published,
                       std::vector<Tensor> saved)
    : invocation(resolved), outputs(std::move(published)), saved_operands(std::move(saved)) {
  const std::string_view name = invocation.call.op->name;
  if (outputs.size() != invocation.results.size()) {
    refuse<ValueError>(name, "one output per result", "outputs", std::to_string(outputs.size()),
                       std::to_string(invocation.results.size()));
  }
  if (saved_operands.size() != invocation.saved.size()) {
    refuse<ValueError>(name, "one tensor per saved operand", "saved_operands",
                       std::to_string(saved_operands.size()),
                       std::to_string(invocation.saved.size()));
  }
}

CallResults::operator Tensor() const {
  if (tensors.size() == 1) return tensors[0];
  throw ValueError({.message = "a call of one result is that result: this one has several",
                    .found = std::to_string(tensors.size())});
}

OperationDefinition::OperationDefinition(std::string_view defined, OperationSchema bound,
                                         ResolveFunction resolving, DefinitionParts parts)
    : name(defined),
      schema(bound),
      resolve(std::move(resolving)),
      reference(std::move(parts.reference)),
      vjp(std::move(parts.vjp)),
      decompose(std::move(parts.decompose)),
      record_(std::make_unique<const ExtensionRecord>(*this)) {}

OperationDefinition::~OperationDefinition() = default;

const Operation& OperationDefinition::operation() const { return record_->operation; }

CallResults OperationDefinition::operator()(std::initializer_list<CallOperand> operands,
                                            Attributes options, std::source_location where) const {
  std::vector<Operand> all;
  for (const CallOperand& o : operands) all.push_back(o.value);
  return {call(operation(), all, std::move(options), where)};
}

std::string operation_name_fault(std::string_view name, bool extension) {
  const std::vector<std::string> segments = absl::StrSplit(std::string(name), '.');
  for (const std::string& s : segments) {
    if (s == "graph_input" || s == "graph_output") return "the name marks a program's own values";
  }
  if (!extension) {
    return is_built_in_name(name) ? "" : "a name is a-z, then a-z, 0-9 and _";
  }
  if (segments.size() < 2) return "an extension's name has at least two parts, as in acme.square";
  for (const std::string& s : segments) {
    if (!internal::is_identifier(s)) return "the parts of a name are identifiers";
  }
  if (segments[0] == "heddle" || find_built_in(segments[0]) != nullptr) {
    return "the first part of the name is reserved";
  }
  return "";
}

const OperationDefinition& define_operation(std::string_view name, OperationSchema schema,
                                            ResolveFunction resolve, DefinitionParts parts,
                                            Location where) {
  return with_context({.where = where}, [&]() -> const OperationDefinition& {
    if (const std::string fault = operation_name_fault(name, true); !fault.empty()) {
      refuse<ValueError>("", fault, "name", "'" + std::string(name) + "'");
    }
    check_parts(name, resolve, parts);
    const auto destroy = [](OperationDefinition* d) { delete d; };
    std::unique_ptr<OperationDefinition, decltype(destroy)> made(
        new OperationDefinition(name, schema, std::move(resolve), std::move(parts)), destroy);
    if (!add_extension(made->operation())) {
      refuse<ValueError>("", "there is an operation of this name", "name",
                         "'" + std::string(name) + "'");
    }
    return *made.release();
  });
}

const OperationDefinition* definition_of(const Operation& op) { return op.extension; }

const OperationDefinition* BoundOperationCall::definition() const { return op->extension; }

DtypePlan uniform_plan(const BoundOperationCall& call, DType compute, std::optional<DType> output) {
  DtypePlan plan{.operation = std::string(call.op->name),
                 .operands = {},
                 .compute = compute,
                 .arithmetic = is_floating(compute) ? Arithmetic::ieee : Arithmetic::wrapping,
                 .output = output.value_or(compute)};
  for (const Operand& o : call.operands) {
    if (std::holds_alternative<Attribute>(o)) continue;
    const Tensor* t = std::get_if<Tensor>(&o);
    plan.operands.push_back({.role = t ? OperandKind::tensor : OperandKind::weak_scalar,
                             .dtype = t ? std::optional(t->type().dtype) : std::nullopt,
                             .convert_to = compute});
  }
  return plan;
}

namespace internal {

const OperationDefinition& register_or_abort(const char* name,
                                             const OperationDefinition& (*define)()) {
  try {
    return define();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle: operation '%s' cannot be registered: %s\n", name, e.what());
    std::abort();
  }
}

}  // namespace internal
}  // namespace heddle
