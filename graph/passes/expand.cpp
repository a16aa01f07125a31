#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {

Program expand_composites(const Program& program, bool (*keep)(const Node&)) {
  RewriteNode expand = [&](Builder& build, const Node& node,
                           Ids operands) -> std::optional<Values> {
    if (!node.op->strict.decompose || (keep && keep(node))) return std::nullopt;
    std::vector<Type> types;
    for (ValueId o : operands) types.push_back(build.type(o));
    const Function body =
        node.op->strict.decompose({*node.op, types, node.attributes, nullptr, build.callees()});
    return build.splice(rewrite(body, build.callees(), expand), operands, node.where);
  };
  return rewrite(program, expand);
}

}  // namespace heddle
