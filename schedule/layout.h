// Where values are once they are in memory: whose storage, under which strides.
#ifndef HEDDLE_SCHEDULE_LAYOUT_H_
#define HEDDLE_SCHEDULE_LAYOUT_H_

#include <string>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

struct Layout {
  ValueId storage;  ///< the input or the result that it is a view of; itself mostly
  Dims strides;     ///< elements
};

/// By value. Storage is dense and row-major; a reshape is a view of what it reshapes.
std::vector<Layout> assign_layouts(const Function& function);

/// One line per value that nodes or inputs define: its type, and the storage it is a view of.
std::string to_text(const std::vector<Layout>& layouts, const Function& function);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_LAYOUT_H_
