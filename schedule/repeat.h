// Which values are computed again by the groups that read them rather than stored: cheap ones, of
// what is in memory anyway (a row made standard of the row, its mean and its scale). Private to
// grouping.
#ifndef HEDDLE_SCHEDULE_REPEAT_H_
#define HEDDLE_SCHEDULE_REPEAT_H_

#include <vector>

#include "heddle/schedule/group_graph.h"

namespace heddle {

/// By node. A few cheap operations on at most two values as large as itself, which are inputs or
/// stored for other reasons, and on small ones (numbers of rows or columns); read element by
/// element wherever it is read.
std::vector<bool> repeated_nodes(const GroupGraph& graph);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_REPEAT_H_
