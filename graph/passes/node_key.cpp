#include "heddle/graph/passes/node_key.h"

#include <algorithm>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

bool is_commutative(const Node& node) {
  if (node.op != &op_compare) return (node.op->strict.traits & kCommutative) != 0;
  const std::string direction = node.attributes.as<CompareAttributes>().direction;
  return direction == "eq" || direction == "ne";
}

}  // namespace

NodeKey key_of(const Node& node, Ids operands) {
  NodeKey key{versioned_name(*node.op),
              to_text(node.attributes),
              {},
              Values(operands.begin(), operands.end())};
  if (node.literal) {
    const auto& b = *node.literal->bytes;
    key.attributes = to_text(node.literal->type);
    key.bytes.assign(reinterpret_cast<const char*>(b.data()), b.size());
  }
  if (is_commutative(node)) std::sort(key.operands.begin(), key.operands.end());
  return key;
}

}  // namespace heddle
