#include "heddle/schedule/canonical.h"

#include "heddle/graph/builder.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

Values renamed(const Values& values, const Values& names) {
  Values result;
  for (ValueId v : values) result.push_back(names[v.index]);
  return result;
}

std::vector<Type> types_of(const Function& body, const Values& values) {
  std::vector<Type> types;
  for (ValueId v : values) types.push_back(body.type(v));
  return types;
}

}  // namespace

Function canonical_body(const Function& body) {
  Builder builder("kernel");
  Values names(body.types.size());
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    const ValueId v = body.inputs[i].value;
    names[v.index] = builder.input("x" + std::to_string(i), body.type(v));
  }
  for (const Node& node : body.nodes) {
    if (node.literal) {
      names[node.results[0].index] = builder.constant(*node.literal);
      continue;
    }
    const Values results =
        builder.add_typed(*node.op, renamed(node.operands, names), node.attributes,
                          types_of(body, node.results), node.where);
    for (std::size_t r = 0; r < results.size(); ++r) names[node.results[r].index] = results[r];
  }
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    builder.output("y" + std::to_string(i), names[body.outputs[i].value.index]);
  }
  return builder.finish();
}

std::vector<std::uint32_t> result_numbers(const Function& body) {
  std::vector<std::uint32_t> numbers(body.types.size(), kNoNode);
  std::uint32_t next = 0;
  for (const Node& node : body.nodes) {
    for (ValueId r : node.results) numbers[r.index] = next++;
  }
  return numbers;
}

}  // namespace heddle
