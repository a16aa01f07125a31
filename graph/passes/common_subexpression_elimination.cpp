#include <map>

#include "heddle/graph/operation.h"
#include "heddle/graph/passes/node_key.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {

Program common_subexpression_elimination(const Program& program) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const Program before(functions);
    std::map<NodeKey, Values> known;
    functions.push_back(rewrite(
        f, &before, [&](Builder& build, const Node& node, Ids operands) -> std::optional<Values> {
          if (node.op->strict.traits & kHasSideEffect) return std::nullopt;
          auto [it, fresh] = known.try_emplace(key_of(node, operands));
          if (fresh) {
            it->second = node.literal ? Values{build.constant(*node.literal, node.where)}
                                      : build.add(*node.op, operands, node.attributes, node.where);
          }
          return it->second;
        }));
  }
  return Program(std::move(functions));
}

}  // namespace heddle
