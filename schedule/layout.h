// Where values are once they are in memory: whose storage, under which strides.
#ifndef HEDDLE_SCHEDULE_LAYOUT_H_
#define HEDDLE_SCHEDULE_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

struct Layout {
  ValueId storage;          ///< the input or the result that it is a view of; itself mostly
  std::int64_t offset = 0;  ///< bytes into it
  Dims strides;             ///< elements
};

/// By node, which results are views: another type for a part of their operand's storage. Reshapes
/// are; and, where `slices`, ranges of leading axes of what is in memory anyway, when something
/// reads them that would want them in memory, too.
std::vector<bool> view_nodes(const Function& function, bool slices);

/// A concatenation whose operands lie behind each other in its result.
bool is_sequence(const Function& function, const Node& node);

/// By value. Storage is dense and row-major. views: by node.
std::vector<Layout> assign_layouts(const Function& function, const std::vector<bool>& views);

/// One line per value that nodes or inputs define: its type, and the storage it is a view of.
std::string to_text(const std::vector<Layout>& layouts, const Function& function);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_LAYOUT_H_
