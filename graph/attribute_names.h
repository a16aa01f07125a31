// Which attributes the nodes of an operation have.
#ifndef HEDDLE_GRAPH_ATTRIBUTE_NAMES_H_
#define HEDDLE_GRAPH_ATTRIBUTE_NAMES_H_

#include <string>
#include <vector>

#include "heddle/graph/operation.h"

namespace heddle {

/// In alphabetical order: each stands in one of the rows that the operation is tested with.
/// Extensions have no rows: theirs are what their schema has beside tensors.
const std::vector<std::string>& attribute_names(const Operation& op);

/// TypeError for an attribute that the operation does not have, with those it has. (An extension's
/// node is bound again as a call, which says the same.)
void check_attribute_names(At at);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_ATTRIBUTE_NAMES_H_
