#include <algorithm>
#include <map>

#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {
namespace {

// Identity of a node. Attributes and constants by their text or bytes: exact, and ordered the same
// in every run.
struct Key {
  std::string op, attributes, bytes;
  Values operands;
  auto operator<=>(const Key&) const = default;
};

Key key_of(const Node& node, Ids operands) {
  Key key{versioned_name(*node.op),
          to_text(node.attributes),
          {},
          Values(operands.begin(), operands.end())};
  if (node.literal) {
    const auto& b = *node.literal->bytes;
    key.attributes = to_text(node.literal->type);
    key.bytes.assign(reinterpret_cast<const char*>(b.data()), b.size());
  }
  if (node.op->strict.traits & kCommutative) std::sort(key.operands.begin(), key.operands.end());
  return key;
}

}  // namespace

Program common_subexpression_elimination(const Program& program) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const Program before(functions);
    std::map<Key, Values> known;
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
