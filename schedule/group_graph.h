// The groups while they are being formed, and what they read of each other. Private to grouping.
#ifndef HEDDLE_SCHEDULE_GROUP_GRAPH_H_
#define HEDDLE_SCHEDULE_GROUP_GRAPH_H_

#include <functional>
#include <set>
#include <vector>

#include "heddle/schedule/group.h"

namespace heddle {

/// How a value is read at the end of a chain of free nodes.
enum class Alignment : std::uint8_t {
  same,    ///< element i of the reader reads element i
  row,     ///< a row's value, repeated along the row
  spread,  ///< repeated along other axes
  other
};
struct Source {
  ValueId value;
  Alignment alignment = Alignment::same;
};

class GroupGraph {
 public:
  GroupGraph(const Function& function, const ExternalKernels& external, bool slices);

  const Function& function() const { return f_; }
  const std::vector<NodeClass>& classes() const { return classes_; }
  NodeClass class_of(std::uint32_t node) const { return classes_[node]; }

  /// The non-free values that operand chains of `node` end in: results of grouped nodes, of views,
  /// inputs. No constants.
  std::vector<Source> sources(const Node& node) const;
  /// The node whose result it is after views are looked through, or kNoNode.
  std::uint32_t storage_node(ValueId v) const;
  /// The group that computes it (through views), or -1.
  std::int32_t group_of(ValueId v) const;
  bool through_view(ValueId v) const;

  std::int32_t new_group(RecipeKind kind, Dims kept, Dims reduced = {});
  void join(std::int32_t group, std::uint32_t node);
  /// From here on other groups read these nodes' operands in their place.
  void repeat(std::vector<bool> nodes) { repeated_ = std::move(nodes); }
  /// Moves all nodes of `from` into `into` and leaves it empty.
  void merge(std::int32_t from, std::int32_t into);
  Group& group(std::int32_t g) { return groups_[static_cast<std::size_t>(g)]; }
  std::size_t size() const { return groups_.size(); }

  /// Whether `to` needs, directly or not, something that `from` computes.
  bool reaches(std::int32_t from, std::int32_t to) const;
  /// Whether group `g` can take in `node` without then needing its own results.
  bool can_take(std::int32_t g, const Node& node) const;
  /// Groups that read results of `g`.
  std::set<std::int32_t> readers(std::int32_t g) const;
  /// Whether some result of `g` must be in memory for a reason other than its readers: an output of
  /// the function, a view.
  bool is_needed_in_memory(std::int32_t g) const;

  /// In an order that respects the dependences; empty groups are dropped.
  Grouping finish() &&;

 private:
  void collect(ValueId v, Alignment alignment, std::vector<Source>& found) const;
  std::set<std::int32_t> needs(std::int32_t g) const;

  const Function& f_;
  std::vector<NodeClass> classes_;
  std::vector<std::uint32_t> node_of_;
  std::vector<std::int32_t> group_of_;
  std::vector<bool> repeated_;
  std::vector<Group> groups_;
  std::vector<std::set<std::int32_t>> edges_;  // by group: the groups it reads
};

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_GROUP_GRAPH_H_
