// The shape most passes have: walk a function in order and build a new one, node by node.
#ifndef HEDDLE_GRAPH_PASSES_REWRITE_H_
#define HEDDLE_GRAPH_PASSES_REWRITE_H_

#include <functional>
#include <optional>

#include "heddle/graph/builder.h"

namespace heddle {

/// Called for each node with its operands in the new function. Returns the new results, or nullopt
/// to copy the node.
using RewriteNode = std::function<std::optional<Values>(Builder&, const Node&, Ids operands)>;

/// Inputs and outputs keep names and order. Functions see the rewritten ones before them as
/// callees.
Program rewrite(const Program& program, const RewriteNode& node);
Function rewrite(const Function& function, const Program* callees, const RewriteNode& node);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_PASSES_REWRITE_H_
