// Which types a value can have.
#ifndef HEDDLE_GRAPH_EXTENTS_H_
#define HEDDLE_GRAPH_EXTENTS_H_

#include <optional>
#include <string_view>

#include "heddle/graph/error.h"
#include "heddle/graph/type.h"

namespace heddle {

/// Message, found and needed for a type with a negative extent or of more than 2^62 bytes; an
/// extent of 0 counts as 1, so that strides can be counted too.
std::optional<ErrorDetail> extent_fault(const Type& type);
/// ValueError when there is one. `what`: "@f: input 'x'", or "".
void check_extents(const Type& type, std::string_view what, std::string_view operation,
                   Location where);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_EXTENTS_H_
