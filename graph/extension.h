// From a definition to a record: the functions of the record find the definition's callbacks
// through Operation::extension.
#ifndef HEDDLE_GRAPH_EXTENSION_H_
#define HEDDLE_GRAPH_EXTENSION_H_

#include "heddle/graph/invocation.h"
#include "heddle/graph/operation.h"

namespace heddle {

/// Whether the node is an extension whose plan says the order of its sums.
bool sums_in_order(At node);
/// UnsupportedOperationPlan when it is: what it decomposes into adds in orders of its own. Who runs
/// a decomposition asks.
void check_order(At node);

struct ExtensionRecord {
  explicit ExtensionRecord(const OperationDefinition& definition);
  ExtensionRecord(const ExtensionRecord&) = delete;
  ExtensionRecord& operator=(const ExtensionRecord&) = delete;

  const std::vector<Role> roles;  ///< one per tensor operand
  const Operation operation;
};

/// The call that a node of an extension stands for; its tensors have types only.
BoundOperationCall extension_call(const NodeContext& node);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_EXTENSION_H_
