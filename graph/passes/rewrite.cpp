#include "heddle/graph/passes/rewrite.h"

namespace heddle {
namespace {

Values copy_node(Builder& build, const Node& node, Ids operands) {
  if (node.literal) return {build.constant(*node.literal, node.where)};
  return build.add(*node.op, operands, node.attributes, node.where);
}

}  // namespace

Function rewrite(const Function& function, const Program* callees, const RewriteNode& node) {
  Builder build(function.name, callees);
  Values map(function.types.size());
  for (const Input& in : function.inputs) {
    map[in.value.index] = build.input(in.name, function.type(in.value), in.donate);
  }
  for (const Node& n : function.nodes) {
    Values operands;
    for (ValueId o : n.operands) operands.push_back(map[o.index]);
    build.set_location(n.where);
    std::optional<Values> results = node(build, n, operands);
    if (!results) results = copy_node(build, n, operands);
    for (std::size_t r = 0; r < n.results.size(); ++r) map[n.results[r].index] = (*results)[r];
  }
  Function result = build.finish();
  for (const Output& out : function.outputs) {
    result.outputs.push_back({out.name, map[out.value.index]});
  }
  return result;
}

Program rewrite(const Program& program, const RewriteNode& node) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const Program before(functions);
    functions.push_back(rewrite(f, &before, node));
  }
  return Program(std::move(functions));
}

}  // namespace heddle
