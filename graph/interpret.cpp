#include "heddle/graph/interpret.h"

#include <limits>

#include "heddle/graph/extension.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

// What the reference computes is all in memory at once, element by element.
void check_computable(const NodeContext& at) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const Type& type : at.op.strict.infer(at)) {
    if (element_count(type) <= kMost) continue;
    throw OverflowError({.message = "more elements than the reference interpreter computes",
                         .operation = std::string(at.op.name),
                         .found = to_text(type),
                         .needed = "at most " + std::to_string(kMost) + " elements",
                         .where = at.where});
  }
}

// An overflow inside a composite is the composite's, on the user's line.
std::vector<Literal> run_node(const Node& node, std::span<const Literal> operands,
                              const Program* callees) {
  return with_context({.operation = node.op->name, .where = node.where}, [&] {
    try {
      return interpret_node(node, operands, callees);
    } catch (const OverflowError& e) {
      ErrorDetail detail = e.detail();
      detail.operation = node.op->name;
      if (node.where != Location{}) detail.where = node.where;
      e.rethrow_with(std::move(detail));
    }
  });
}

std::vector<Literal> run(const Function& f, std::span<const Literal> arguments,
                         const Program* callees) {
  std::vector<Literal> values(f.types.size());
  for (std::size_t i = 0; i < f.inputs.size(); ++i) values[f.inputs[i].value.index] = arguments[i];
  for (const Node& node : f.nodes) {
    std::vector<Literal> operands;
    for (ValueId o : node.operands) operands.push_back(values[o.index]);
    std::vector<Literal> results = run_node(node, operands, callees);
    for (std::size_t r = 0; r < results.size(); ++r) {
      internal_check(results[r].type == f.type(node.results[r]),
                     "the reference of " + std::string(node.op->name) + " gave " +
                         to_text(results[r].type) + ", inferred " +
                         to_text(f.type(node.results[r])));
      values[node.results[r].index] = std::move(results[r]);
    }
  }
  std::vector<Literal> outputs;
  for (const Output& o : f.outputs) outputs.push_back(values[o.value.index]);
  return outputs;
}

}  // namespace

void check_arguments(const Function& f, std::span<const Literal> arguments) {
  if (arguments.size() != f.inputs.size()) {
    throw ValueError({.message = "@" + f.name + ": wrong number of arguments",
                      .found = std::to_string(arguments.size()),
                      .needed = std::to_string(f.inputs.size())});
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type& needed = f.type(f.inputs[i].value);
    if (arguments[i].type != needed) {
      throw ValueError({.message = "@" + f.name + ": argument '" + f.inputs[i].name + "'",
                        .found = to_text(arguments[i].type),
                        .needed = to_text(needed)});
    }
  }
}

std::vector<Literal> interpret(const Program& program, std::string_view function,
                               std::span<const Literal> arguments, Location where) {
  return with_context({.where = where}, [&] {
    const Function& f = program.at(function);
    check_arguments(f, arguments);
    return run(f, arguments, &program);
  });
}

std::vector<Literal> interpret_node(const Node& node, std::span<const Literal> operands,
                                    const Program* callees) {
  if (node.literal) return {*node.literal};
  std::vector<Type> types;
  for (const Literal& o : operands) types.push_back(o.type);
  const NodeContext at{*node.op, types, node.attributes, nullptr, callees, node.where};
  check_computable(at);
  if (node.op->strict.evaluate) return node.op->strict.evaluate(at, operands);
  check_order(at);
  return run(node.op->strict.decompose(at), operands, callees);
}

namespace {

DType widened(DType d) { return d == DType::f32 ? DType::f64 : d; }

Attributes widen(const Attributes& attributes) {
  std::vector<Attributes::Entry> entries = attributes.entries();
  for (auto& [name, value] : entries) {
    if (auto* dtype = std::get_if<DType>(&value)) *dtype = widened(*dtype);
  }
  return Attributes(std::move(entries));
}

ValueId converted(Builder& build, ValueId v, DType to) {
  if (build.type(v).dtype == to) return v;
  return build.emit(op_convert, {v}, Attributes::of(ConvertAttributes{to}));
}

// Bits are those of the narrower number.
ValueId widen_bitcast(Builder& build, const Function& f, const Node& node, ValueId x) {
  const ValueId narrow = converted(build, x, f.type(node.operands[0]).dtype);
  const ValueId y = build.emit(op_bitcast, {narrow}, node.attributes, node.where);
  return converted(build, y, widened(f.type(node.results[0]).dtype));
}

Function widen(const Function& f, const Program* callees) {
  Builder build(f.name, callees);
  Values map(f.types.size());
  for (const Input& in : f.inputs) {
    Type type = f.type(in.value);
    type.dtype = widened(type.dtype);
    map[in.value.index] = build.input(in.name, std::move(type), in.donate);
  }
  for (const Node& node : f.nodes) {
    if (node.literal) {
      map[node.results[0].index] =
          build.constant(convert(*node.literal, widened(node.literal->type.dtype)), node.where);
      continue;
    }
    if (node.op == &op_bitcast) {
      map[node.results[0].index] = widen_bitcast(build, f, node, map[node.operands[0].index]);
      continue;
    }
    Values operands;
    for (ValueId o : node.operands) operands.push_back(map[o.index]);
    const Values results = build.add(*node.op, operands, widen(node.attributes), node.where);
    for (std::size_t r = 0; r < results.size(); ++r) map[node.results[r].index] = results[r];
  }
  for (const Output& out : f.outputs) build.output(out.name, map[out.value.index]);
  return build.finish();
}

}  // namespace

Program widen(const Program& program) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const Program before(functions);
    functions.push_back(widen(f, &before));
  }
  return Program(std::move(functions));
}

}  // namespace heddle
