#include "heddle/graph/ad/linear_composite.h"

namespace heddle {
namespace {

constexpr char kName[] = "composite";

const Operation& composite_of(const Attributes& attributes) {
  const Operation* op = find_operation(attributes.get<std::string>(kName));
  internal_check(op != nullptr && op->strict.vjp != nullptr,
                 "linear_composite of an unknown composite");
  return *op;
}

Attributes own_attributes(const Attributes& attributes) {
  std::vector<Attributes::Entry> entries;
  for (const auto& e : attributes.entries()) {
    if (e.first != kName) entries.push_back(e);
  }
  return Attributes(std::move(entries));
}

std::vector<Type> infer(At at) {
  const Operation& op = composite_of(at.attributes);
  const Attributes attributes = own_attributes(at.attributes);
  const std::size_t n = op.strict.roles.size();
  return op.strict.infer({op, at.operands.subspan(0, n), attributes});
}

std::vector<Literal> evaluate(At at, std::span<const Literal>) {
  operation_error<InternalError>(at, "the linear part of a composite cannot be run");
}

MaybeValues transpose(TransposeContext& c, std::span<const MaybeValue> cotangents) {
  const Operation& op = composite_of(c.node.attributes);
  const std::size_t n = op.strict.roles.size(), results = cotangents.size();
  Values arguments;
  std::vector<Type> types;
  for (std::size_t i = 0; i < n + results; ++i) arguments.push_back(c.residual(i));
  for (std::size_t i = 0; i < n; ++i) types.push_back(c.type(i));
  for (std::size_t r = 0; r < results; ++r) {
    arguments.push_back(cotangents[r] ? *cotangents[r] : c.build.filled(c.type(n + r), 0));
  }
  const Attributes attributes = own_attributes(c.node.attributes);
  const Function rule = op.strict.vjp({op, types, attributes});
  MaybeValues flows(n + results + n);
  const Values found = c.build.splice(rule, arguments, c.node.where);
  for (std::size_t o = 0; o < found.size(); ++o) {
    const std::size_t operand =
        static_cast<std::size_t>(std::stoul(rule.outputs[o].name.substr(1)));
    if (c.is_linear(n + results + operand)) flows[n + results + operand] = found[o];
  }
  return flows;
}

std::vector<Workload> workloads() { return {}; }

constexpr Role kRoles[] = {Role::linear};

}  // namespace

constinit const Operation op_linear_composite =
    define_op({.name = "linear_composite",
               .strict = {.roles = kRoles,
                          .variadic = true,
                          .pattern = Pattern::control,
                          .infer = infer,
                          .evaluate = evaluate,
                          .transpose = transpose,
                          .workloads = workloads,
                          .text = "The linear part of a composite at a point; exists between "
                                  "linearize and transpose only."}});

MaybeValues emit_linear_composite(RuleContext& context, std::span<const MaybeValue> tangents) {
  Values operands(context.primal_in.begin(), context.primal_in.end());
  operands.insert(operands.end(), context.primal_out.begin(), context.primal_out.end());
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    operands.push_back(tangents[i]
                           ? *tangents[i]
                           : context.build.filled(context.build.type(context.primal_in[i]), 0));
  }
  std::vector<Attributes::Entry> entries = context.node.attributes.entries();
  entries.push_back({kName, std::string(context.node.op->name)});
  const Values results =
      context.build.add(op_linear_composite, operands, Attributes(std::move(entries)));
  return MaybeValues(results.begin(), results.end());
}

}  // namespace heddle
