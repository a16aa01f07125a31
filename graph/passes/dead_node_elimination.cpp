#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {
namespace {

std::vector<bool> needed_values(const Function& f) {
  std::vector<bool> needed(f.types.size(), false);
  for (const Output& o : f.outputs) needed[o.value.index] = true;
  for (std::size_t n = f.nodes.size(); n-- > 0;) {
    const Node& node = f.nodes[n];
    bool used = (node.op->strict.traits & kHasSideEffect) != 0;
    for (ValueId r : node.results) used |= needed[r.index];
    for (ValueId o : node.operands) needed[o.index] = needed[o.index] || used;
    for (ValueId r : node.results) needed[r.index] = used;
  }
  return needed;
}

}  // namespace

Program dead_node_elimination(const Program& program) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const Program before(functions);
    const std::vector<bool> needed = needed_values(f);
    functions.push_back(
        rewrite(f, &before, [&](Builder&, const Node& node, Ids) -> std::optional<Values> {
          for (ValueId r : node.results) {
            if (needed[r.index]) return std::nullopt;
          }
          return Values(node.results.size());  // never read: nothing that stays needs it
        }));
  }
  return Program(std::move(functions));
}

}  // namespace heddle
