#include "heddle/graph/extension.h"

#include "absl/strings/str_cat.h"
#include "heddle/graph/call.h"

namespace heddle {
namespace {

const OperationDefinition& definition_at(At at) { return *at.op.extension; }

// An attribute of a node as the operand it was in the call.
Operand to_operand(At at, const OperandSpec& spec) {
  const Attribute* a = at.attributes.find(spec.name);
  if (a == nullptr) {
    operation_error<TypeError>(at, "missing attribute", "attributes." + std::string(spec.name));
  }
  if (spec.kind == OperandKind::structural) return *a;
  if (const auto* whole = std::get_if<std::int64_t>(a)) return *whole;
  if (const auto* number = std::get_if<double>(a)) return *number;
  if (const auto* truth = std::get_if<bool>(a)) return *truth;
  operation_error<TypeError>(at, "attribute of the wrong kind",
                             "attributes." + std::string(spec.name), decimal_text(*a), "a number");
}

// The call that the node stands for, on the tensors that `tensor` gives.
template <class TensorAt>
BoundOperationCall call_of(At at, TensorAt tensor) {
  const OperationSchema& schema = definition_at(at).schema;
  std::size_t tensors = 0;
  for (const OperandSpec& s : schema.operands) tensors += s.kind == OperandKind::tensor;
  const std::size_t repeated =
      schema.variadic && at.operands.size() > tensors ? at.operands.size() - tensors : 0;
  check_operand_count(at, tensors + repeated);
  std::vector<Operand> operands;
  std::size_t next = 0;
  for (const OperandSpec& s : schema.operands) {
    operands.push_back(s.kind == OperandKind::tensor ? Operand(tensor(next++)) : to_operand(at, s));
  }
  while (next < at.operands.size()) operands.push_back(tensor(next++));
  std::vector<Attributes::Entry> options;
  for (const Attributes::Entry& e : at.attributes.entries()) {
    bool operand = false;
    for (const OperandSpec& s : schema.operands) operand |= s.name == e.first;
    if (!operand) options.push_back(e);
  }
  return bind_types(at.op, operands, Attributes(std::move(options)), at.where);
}

Attributes attributes_of(Bound call) {
  std::vector<Attributes::Entry> entries = call.options.entries();
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (std::holds_alternative<Tensor>(call.operands[i])) continue;
    entries.push_back({std::string(call.schema->operands[i].name), to_attribute(call.operands[i])});
  }
  return Attributes(std::move(entries));
}

std::vector<Type> infer(At at) {
  std::vector<Type> types;
  for (const ResultSpec& r : definition_at(at).resolve(extension_call(at)).results) {
    types.push_back(r.type);
  }
  return types;
}

std::vector<Literal> evaluate(At at, std::span<const Literal> operands) {
  const OperationDefinition& definition = definition_at(at);
  if (!definition.reference) {
    operation_error<UnsupportedOperationPlan>(
        at, "it has neither a reference nor a decomposition: it cannot be interpreted");
  }
  const BoundOperationCall call =
      call_of(at, [&](std::size_t i) { return make_tensor(operands[i]); });
  const Invocation invocation =
      definition.resolve(call.without_storage()).with_operands(call.operands);
  std::vector<Literal> results;
  for (const Tensor& t : run_reference(invocation)) results.push_back(to_literal(t, at.where));
  return results;
}

Function decompose(At at) {
  Function body = definition_at(at).decompose(at);
  const std::vector<Type> wanted = infer(at);
  if (body.inputs.size() != at.operands.size() || body.outputs.size() != wanted.size()) {
    operation_error<ValueError>(at, "the decomposition has another number of inputs or outputs",
                                "decompose",
                                absl::StrCat(body.inputs.size(), " -> ", body.outputs.size()),
                                absl::StrCat(at.operands.size(), " -> ", wanted.size()));
  }
  for (std::size_t o = 0; o < wanted.size(); ++o) {
    const Type& found = body.type(body.outputs[o].value);
    if (found == wanted[o]) continue;
    operation_error<ValueError>(at, "the decomposition's result has another type",
                                absl::StrCat("results[", o, "]"), to_text(found),
                                to_text(wanted[o]));
  }
  return body;
}

[[noreturn]] void refuse_derivative(const Node& node) {
  throw UnsupportedAdError({.message = "its derivative is a callback for concrete tensors: a "
                                       "program cannot be differentiated through it",
                            .operation = std::string(node.op->name),
                            .where = node.where});
}

MaybeValues checked(const Node& node, const char* rule, MaybeValues found, std::size_t wanted) {
  if (found.size() == wanted) return found;
  throw ValueError({.message = std::string(rule) + " gave a wrong number of values",
                    .operation = std::string(node.op->name),
                    .found = std::to_string(found.size()),
                    .needed = std::to_string(wanted),
                    .where = node.where});
}

MaybeValues linearize(RuleContext& c, std::span<const MaybeValue> tangents) {
  const DerivativeRules* rules = c.node.op->extension->vjp.rules();
  if (rules == nullptr) refuse_derivative(c.node);
  return checked(c.node, "linearize", rules->linearize(c, tangents), c.primal_out.size());
}
MaybeValues transpose(TransposeContext& c, std::span<const MaybeValue> cotangents) {
  return checked(c.node, "transpose", c.node.op->extension->vjp.rules()->transpose(c, cotangents),
                 c.inputs.size());
}

std::vector<Workload> no_rows() { return {}; }

DtypePlan plan_extension(Bound call) {
  return call.op->extension->resolve(call.without_storage()).plan;
}

// The program of one call: one node.
Function node_body(Bound call) {
  Builder b(call.op->name);
  b.set_location(call.where);
  Values inputs;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&call.operands[i]);
    if (t == nullptr) continue;
    const auto& specs = call.schema->operands;
    std::string name(specs[std::min(i, specs.size() - 1)].name);
    if (i + 1 >= specs.size() && call.schema->variadic) absl::StrAppend(&name, i);
    inputs.push_back(b.input(name, t->type()));
  }
  const Values results = b.add(*call.op, inputs, attributes_of(call), call.where);
  for (std::size_t r = 0; r < results.size(); ++r) {
    b.output(results.size() == 1 ? "result" : absl::StrCat("result", r), results[r]);
  }
  return b.finish();
}

// Step 17: what the callback gave belongs to this call. (The rest Invocation itself has checked.)
void check_resolved(Bound call, const Invocation& found) {
  const bool other = found.call.op != call.op;
  if (!other && found.call.number == call.number) return;
  throw ValueError(
      {.message = "resolve gave the invocation of another call",
       .step = 17,
       .operation = std::string(call.op->name),
       .field = other ? "operation" : "call",
       .found = other ? "'" + std::string(found.call.op->name) + "'" : "an earlier call",
       .needed = "the bound call that resolve was given",
       .where = call.where});
}

Invocation resolve_extension(Bound call) {
  const Invocation found = call.op->extension->resolve(call.without_storage());
  check_resolved(call, found);
  Function body = node_body(call);
  for (std::size_t r = 0; r < body.outputs.size() || r < found.results.size(); ++r) {
    if (body.outputs.size() == found.results.size() &&
        body.type(body.outputs[r].value) == found.results[r].type) {
      continue;
    }
    throw ValueError({.message = "resolve gave other results for the same call",
                      .step = 17,
                      .operation = std::string(call.op->name),
                      .field = absl::StrCat("results[", r, "]"),
                      .where = call.where});
  }
  return {found.with_operands(call.operands), std::move(body)};
}

// One role per tensor operand.
std::vector<Role> roles_of(const OperationDefinition& d) {
  const DerivativeRules* rules = d.vjp.rules();
  const Role role = d.vjp.none()                                      ? Role::no_grad
                    : rules != nullptr && rules->linearize == nullptr ? Role::linear
                                                                      : Role::smooth;
  std::vector<Role> roles;
  for (const OperandSpec& s : d.schema.operands) {
    if (s.kind != OperandKind::tensor) continue;
    roles.push_back(s.differentiable ? role : Role::no_grad);
  }
  return roles;
}

Operation record_of(const OperationDefinition& d, std::span<const Role> roles) {
  const DerivativeRules* rules = d.vjp.rules();
  // A callback is for concrete tensors: programs refuse, rather than differentiate something else.
  const bool opaque = d.vjp.vjp() != nullptr;
  const bool smooth = opaque || (rules != nullptr && rules->linearize);
  return {.name = d.name,
          .strict = {.roles = roles,
                     .variadic = d.schema.variadic,
                     .pattern = d.decompose ? Pattern::composite : Pattern::control,
                     .infer = infer,
                     .evaluate = d.reference || !d.decompose ? evaluate : nullptr,
                     .linearize = smooth ? linearize : nullptr,
                     .transpose = rules != nullptr && rules->transpose ? transpose : nullptr,
                     .decompose = d.decompose ? decompose : nullptr,
                     .workloads = no_rows,
                     .text = "An extension."},
          .surface = {.overloads = std::span(&d.schema, 1),
                      .plan = plan_extension,
                      .resolve = resolve_extension},
          .extension = &d};
}

}  // namespace

BoundOperationCall extension_call(At at) {
  return call_of(at, [&](std::size_t i) { return Tensor(at.operands[i], nullptr); });
}

bool sums_in_order(At at) {
  if (at.op.extension == nullptr) return false;
  const Invocation found = definition_at(at).resolve(extension_call(at));
  return found.plan.accumulation == Accumulation::sequential;
}

void check_order(At at) {
  if (!sums_in_order(at)) return;
  operation_error<UnsupportedOperationPlan>(
      at, "its plan says the order of its sums, which its decomposition does not keep",
      "plan.accumulation", "sequential", "a reference, or a kernel of a pack");
}

ExtensionRecord::ExtensionRecord(const OperationDefinition& definition)
    : roles(roles_of(definition)), operation(record_of(definition, roles)) {}

}  // namespace heddle
