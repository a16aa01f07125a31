// When two nodes compute the same: for passes that make such nodes one.
#ifndef HEDDLE_GRAPH_PASSES_NODE_KEY_H_
#define HEDDLE_GRAPH_PASSES_NODE_KEY_H_

#include <string>

#include "heddle/graph/program.h"

namespace heddle {

/// Equal for nodes of the same operation, attributes and operands; those of commutative operations,
/// and of comparisons for equality, count in either order. Attributes and constants stand as text
/// and bytes: exact, and ordered the same in every run.
struct NodeKey {
  std::string op, attributes, bytes;
  Values operands;
  auto operator<=>(const NodeKey&) const = default;
};
NodeKey key_of(const Node& node, Ids operands);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_PASSES_NODE_KEY_H_
