// Which types a value can have.
#ifndef HEDDLE_GRAPH_EXTENTS_H_
#define HEDDLE_GRAPH_EXTENTS_H_

#include <string_view>

#include "heddle/graph/error.h"
#include "heddle/graph/type.h"

namespace heddle {

/// ValueError for a negative extent or more than 2^62 bytes; an extent of 0 counts as 1, so that
/// strides can be counted too.
void check_extents(const Type& type, std::string_view operation, Location where);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_EXTENTS_H_
