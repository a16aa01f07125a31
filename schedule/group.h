// Which nodes are computed together: each group becomes one kernel.
#ifndef HEDDLE_SCHEDULE_GROUP_H_
#define HEDDLE_SCHEDULE_GROUP_H_

#include <cstdint>
#include <set>
#include <vector>

#include "heddle/schedule/classify.h"
#include "heddle/schedule/kernel.h"

namespace heddle {

struct Group {
  RecipeKind kind = RecipeKind::map;
  /// Nodes in program order; free nodes and constants belong to no group.
  std::vector<std::uint32_t> nodes;
  /// Extents of what it writes. Rows: kept extents; the elements of a row are kept, then reduced.
  Dims kept, reduced;
};

struct Grouping {
  std::vector<Group> groups;           ///< in an order that respects their dependences
  std::vector<NodeClass> classes;      ///< by node
  std::vector<std::int32_t> group_of;  ///< by node; -1: none
  std::vector<bool> repeated;          ///< by node: other groups that read it compute it again
};

/// Groups a static function of primitives. The larger kernels are made of: a contraction or
/// reduction with the elementwise nodes after it (an optimizer's update is the epilogue of its
/// gradient), and the elementwise nodes that only it reads. What `external` has a kernel for is
/// alone. slices: see classify; maps that others read, too, are then joined with their readers.
Grouping make_groups(const Function& function, const ExternalKernels& external = nullptr,
                     bool slices = false);

/// A listing: one line per group with its kind and operations.
std::string to_text(const Grouping& grouping, const Function& function);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_GROUP_H_
