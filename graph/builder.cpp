#include "heddle/graph/builder.h"

#include "heddle/graph/attribute_names.h"
#include "heddle/graph/extents.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

std::vector<Type> infer(const Operation& op, std::span<const Type> operands,
                        const Attributes& attributes, const Literal* literal,
                        const Program* callees, Location where) {
  return with_context({.operation = op.name, .where = where}, [&] {
    const NodeContext node{op, operands, attributes, literal, callees, where};
    check_attribute_names(node);
    return op.strict.infer(node);
  });
}

// Names are printed into program text and into C headers: a letter or _, then letters, digits and _
// . /
void check_name(std::string_view name, std::string_view kind) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool good = !name.empty() && letter(name[0]);
  for (char c : name) good &= letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '/';
  if (good) return;
  throw ValueError({.message = "the name of " + std::string(kind) +
                               " is a letter or _, then letters, digits, _ . and /",
                    .found = "'" + std::string(name) + "'"});
}

}  // namespace

std::optional<ErrorDetail> extent_fault(const Type& type) {
  double bytes = static_cast<double>(size_of(type.dtype));
  bool negative = false;
  for (const Dim& d : type.dims) {
    if (!d.is_constant()) continue;
    negative |= d.constant() < 0;
    bytes *= d.constant() > 0 ? static_cast<double>(d.constant()) : 1.0;
  }
  if (negative) {
    return ErrorDetail{
        .message = "a negative extent", .found = to_text(type), .needed = "extents of 0 and more"};
  }
  if (bytes <= 0x1p62) return std::nullopt;
  return ErrorDetail{.message = "a type larger than memory",
                     .found = to_text(type),
                     .needed = "at most 2^62 bytes"};
}

void check_extents(const Type& type, std::string_view what, std::string_view operation,
                   Location where) {
  std::optional<ErrorDetail> fault = extent_fault(type);
  if (!fault) return;
  if (!what.empty()) fault->message = std::string(what) + ": " + fault->message;
  fault->operation = operation;
  fault->where = where;
  throw ValueError(*std::move(fault));
}

Builder::Builder(std::string_view name, const Program* callees) : callees_(callees) {
  if (!name.empty()) check_name(name, "a function");  // bodies to be spliced have none
  function_.name = std::string(name);
}

ValueId Builder::new_value(Type type, std::uint32_t node) {
  function_.types.push_back(std::move(type));
  definitions_.push_back(node);
  return {static_cast<std::uint32_t>(function_.types.size() - 1)};
}

ValueId Builder::input(std::string_view name, Type type, bool donate) {
  check_name(name, "an input");
  if (!input_names_.insert(std::string(name)).second) {
    throw ValueError(
        {.message = "@" + function_.name + " has two inputs '" + std::string(name) + "'"});
  }
  if (extent_fault(type)) {
    check_extents(type, "@" + function_.name + ": input '" + std::string(name) + "'", "", where_);
  }
  const ValueId v = new_value(std::move(type), kNoNode);
  function_.inputs.push_back({std::string(name), v, donate});
  return v;
}

ValueId Builder::constant(Literal literal, Location where) {
  const auto node = static_cast<std::uint32_t>(function_.nodes.size());
  const ValueId v = new_value(literal.type, node);
  function_.nodes.push_back({.op = &op_constant,
                             .results = {v},
                             .literal = std::move(literal),
                             .where = where == Location{} ? where_ : where});
  return v;
}

ValueId Builder::filled(const Type& wanted, double value, Location where) {
  const Type type = wanted;  // may be one of ours, which move as values are added
  const ValueId one = constant(scalar(type.dtype, value, where), where);
  if (type.dims.empty()) return one;
  return emit(op_broadcast_in_dim, {one}, Attributes::of(BroadcastAttributes{type.dims, {}}),
              where);
}

Values Builder::add(const Operation& op, Ids operands, Attributes attributes, Location where) {
  if (where == Location{}) where = where_;
  std::vector<Type> types;
  for (ValueId o : operands) {
    internal_check(o.index < function_.types.size(), "an operand from another builder");
    types.push_back(type(o));
  }
  std::vector<Type> results = infer(op, types, attributes, nullptr, callees_, where);
  return add_typed(op, operands, std::move(attributes), std::move(results), where);
}

Values Builder::add_typed(const Operation& op, Ids operands, Attributes attributes,
                          std::vector<Type> results, Location where) {
  const auto index = static_cast<std::uint32_t>(function_.nodes.size());
  Node node{.op = &op, .operands = Values(operands.begin(), operands.end()), .where = where};
  for (Type& t : results) {
    check_extents(t, "", op.name, where);
    node.results.push_back(new_value(std::move(t), index));
  }
  node.attributes = std::move(attributes);
  function_.nodes.push_back(std::move(node));
  return function_.nodes.back().results;
}

ValueId Builder::emit(const Operation& op, Ids operands, Attributes attributes, Location where) {
  Values results = add(op, operands, std::move(attributes), where);
  internal_check(results.size() == 1, "emit of an operation with several results");
  return results[0];
}

Values Builder::splice(const Function& function, Ids arguments, Location where) {
  if (arguments.size() != function.inputs.size()) {
    throw ValueError({.message = "@" + function.name + ": wrong number of arguments",
                      .found = std::to_string(arguments.size()),
                      .needed = std::to_string(function.inputs.size())});
  }
  Values map(function.types.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Input& input = function.inputs[i];
    if (type(arguments[i]) != function.type(input.value)) {
      throw ValueError({.message = "@" + function.name + ": argument '" + input.name + "'",
                        .found = to_text(type(arguments[i])),
                        .needed = to_text(function.type(input.value)),
                        .where = where});
    }
    map[input.value.index] = arguments[i];
  }
  for (const Node& node : function.nodes) {
    const Location place = node.where == Location{} ? where : node.where;
    if (node.literal) {
      map[node.results[0].index] = constant(*node.literal, place);
      continue;
    }
    Values operands;
    for (ValueId o : node.operands) operands.push_back(map[o.index]);
    const Values results = add(*node.op, operands, node.attributes, place);
    for (std::size_t r = 0; r < results.size(); ++r) map[node.results[r].index] = results[r];
  }
  Values outputs;
  for (const Output& o : function.outputs) outputs.push_back(map[o.value.index]);
  return outputs;
}

const Node* Builder::definition(ValueId v) const {
  const std::uint32_t node = definitions_[v.index];
  return node == kNoNode ? nullptr : &function_.nodes[node];
}

void Builder::output(std::string_view name, ValueId v) {
  check_name(name, "an output");
  internal_check(v.index < function_.types.size(), "an output from another builder");
  if (!output_names_.insert(std::string(name)).second) {
    throw ValueError(
        {.message = "@" + function_.name + " has two outputs '" + std::string(name) + "'"});
  }
  function_.outputs.push_back({std::string(name), v});
}

Function Builder::finish() {
  Function done = std::move(function_);
  *this = Builder("", callees_);
  return done;
}

}  // namespace heddle
