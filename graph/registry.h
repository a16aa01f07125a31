// The table of operations: the built-in ones, constant, and those defined at run time, under a
// lock.
#ifndef HEDDLE_GRAPH_REGISTRY_H_
#define HEDDLE_GRAPH_REGISTRY_H_

#include "heddle/graph/operation.h"

namespace heddle {

/// False when the name is taken. The record is never freed.
bool add_extension(const Operation& op);
/// Null when no built-in operation has the name, whatever its version.
const Operation* find_built_in(std::string_view name);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_REGISTRY_H_
