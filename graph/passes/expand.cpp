#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {

Program expand_composites(const Program& program,
                          const std::function<bool(const NodeContext&)>& keep) {
  RewriteNode expand = [&](Builder& build, const Node& node,
                           Ids operands) -> std::optional<Values> {
    if (!node.op->strict.decompose) return std::nullopt;
    std::vector<Type> types;
    for (ValueId o : operands) types.push_back(build.type(o));
    const NodeContext at{*node.op, types, node.attributes, nullptr, build.callees(), node.where};
    return with_context(
        {.operation = node.op->name, .where = node.where}, [&]() -> std::optional<Values> {
          if (keep && keep(at)) return std::nullopt;
          const Function body = node.op->strict.decompose(at);
          return build.splice(rewrite(body, build.callees(), expand), operands, node.where);
        });
  };
  return rewrite(program, expand);
}

}  // namespace heddle
