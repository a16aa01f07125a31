// The way back from a node to a call.
#ifndef HEDDLE_GRAPH_NODE_CALL_H_
#define HEDDLE_GRAPH_NODE_CALL_H_

#include <optional>

#include "heddle/graph/invocation.h"
#include "heddle/graph/operation.h"

namespace heddle {

/// The resolved call whose program is this one node; its tensors have types only. Nothing when
/// there is none: people call the operation in another form, or not at all.
std::optional<Invocation> invocation_of(const NodeContext& node);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_NODE_CALL_H_
