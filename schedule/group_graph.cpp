#include "heddle/schedule/group_graph.h"

#include <algorithm>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

// How a broadcast reads its operand, when the reader of the broadcast reads it element by element.
Alignment broadcast_alignment(const Function& f, const Node& node) {
  const auto a = node.attributes.as<BroadcastAttributes>();
  const Dims& from = f.type(node.operands[0]).dims;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto axis = static_cast<std::size_t>(a.axes[i]);
    if (axis != i || from[i] != a.dims[axis]) return Alignment::spread;
  }
  return from.empty() ? Alignment::spread : Alignment::row;
}

Alignment alignment_through(const Function& f, const Node& node, Alignment reader) {
  if (node.op != &op_broadcast_in_dim) return Alignment::other;
  if (reader == Alignment::same) return broadcast_alignment(f, node);
  return reader == Alignment::row ? Alignment::spread : reader;
}

}  // namespace

GroupGraph::GroupGraph(const Function& function, const ExternalKernels& external, bool slices)
    : f_(function),
      classes_(classify(function, external, slices)),
      node_of_(definitions(function)),
      group_of_(function.nodes.size(), -1),
      repeated_(function.nodes.size()) {}

void GroupGraph::collect(ValueId v, Alignment alignment, std::vector<Source>& found) const {
  const std::uint32_t n = node_of_[v.index];
  if (n != kNoNode && repeated_[n]) {
    for (ValueId o : f_.nodes[n].operands) collect(o, alignment, found);
    return;
  }
  if (n == kNoNode || classes_[n] > NodeClass::free) {
    found.push_back({v, alignment});
    return;
  }
  if (classes_[n] == NodeClass::constant) return;
  const Node& node = f_.nodes[n];
  for (ValueId o : node.operands) collect(o, alignment_through(f_, node, alignment), found);
}

std::vector<Source> GroupGraph::sources(const Node& node) const {
  std::vector<Source> found;
  const bool aligned = node.op->strict.pattern == Pattern::elementwise;
  const bool reduction = node.op->strict.pattern == Pattern::reduce ||
                         node.op->strict.pattern == Pattern::scan;  // reads element by element
  for (ValueId o : node.operands) {
    if (node.op == &op_broadcast_in_dim) {
      collect(o, broadcast_alignment(f_, node), found);
    } else {
      collect(o, aligned || reduction ? Alignment::same : Alignment::other, found);
    }
  }
  return found;
}

std::uint32_t GroupGraph::storage_node(ValueId v) const {
  std::uint32_t n = node_of_[v.index];
  while (n != kNoNode && classes_[n] == NodeClass::view)
    n = node_of_[f_.nodes[n].operands[0].index];
  return n;
}

std::int32_t GroupGraph::group_of(ValueId v) const {
  const std::uint32_t n = storage_node(v);
  return n == kNoNode ? -1 : group_of_[n];
}

bool GroupGraph::through_view(ValueId v) const {
  const std::uint32_t n = node_of_[v.index];
  return n != kNoNode && classes_[n] == NodeClass::view;
}

std::int32_t GroupGraph::new_group(RecipeKind kind, Dims kept, Dims reduced) {
  groups_.push_back({kind, {}, std::move(kept), std::move(reduced)});
  edges_.emplace_back();
  return static_cast<std::int32_t>(groups_.size()) - 1;
}

void GroupGraph::join(std::int32_t g, std::uint32_t node) {
  group_of_[node] = g;
  group(g).nodes.push_back(node);
  for (const Source& s : sources(f_.nodes[node])) {
    const std::int32_t other = group_of(s.value);
    if (other >= 0 && other != g) edges_[static_cast<std::size_t>(g)].insert(other);
  }
}

void GroupGraph::merge(std::int32_t from, std::int32_t into) {
  Group &a = group(from), &b = group(into);
  for (std::uint32_t n : a.nodes) group_of_[n] = into;
  b.nodes.insert(b.nodes.end(), a.nodes.begin(), a.nodes.end());
  std::sort(b.nodes.begin(), b.nodes.end());
  a.nodes.clear();
  auto& target = edges_[static_cast<std::size_t>(into)];
  target.merge(edges_[static_cast<std::size_t>(from)]);
  edges_[static_cast<std::size_t>(from)].clear();  // what both read stayed behind
  for (auto& e : edges_) {
    if (e.erase(from)) e.insert(into);
  }
  target.erase(into);
}

bool GroupGraph::reaches(std::int32_t from, std::int32_t to) const {
  std::vector<std::int32_t> stack{to};
  std::vector<bool> seen(groups_.size(), false);
  while (!stack.empty()) {
    const std::int32_t g = stack.back();
    stack.pop_back();
    for (std::int32_t n : edges_[static_cast<std::size_t>(g)]) {
      if (n == from) return true;
      if (!seen[static_cast<std::size_t>(n)]) stack.push_back(n);
      seen[static_cast<std::size_t>(n)] = true;
    }
  }
  return false;
}

bool GroupGraph::can_take(std::int32_t g, const Node& node) const {
  for (const Source& s : sources(node)) {
    const std::int32_t other = group_of(s.value);
    if (other == g && through_view(s.value)) return false;  // a view reads memory
    if (other >= 0 && other != g && reaches(g, other)) return false;
  }
  return true;
}

std::set<std::int32_t> GroupGraph::readers(std::int32_t g) const {
  std::set<std::int32_t> found;
  for (std::size_t r = 0; r < edges_.size(); ++r) {
    if (edges_[r].contains(g)) found.insert(static_cast<std::int32_t>(r));
  }
  return found;
}

bool GroupGraph::is_needed_in_memory(std::int32_t g) const {
  for (const Output& o : f_.outputs) {
    if (group_of(o.value) == g) return true;
  }
  for (std::uint32_t n = 0; n < f_.nodes.size(); ++n) {
    if (classes_[n] == NodeClass::view && group_of(f_.nodes[n].operands[0]) == g) return true;
  }
  return false;
}

Grouping GroupGraph::finish() && {
  Grouping result{{}, classes_, std::vector<std::int32_t>(f_.nodes.size(), -1), repeated_};
  std::vector<bool> done(groups_.size(), false);
  auto ready = [&](std::size_t g) {
    return std::all_of(edges_[g].begin(), edges_[g].end(), [&](std::int32_t e) {
      return done[static_cast<std::size_t>(e)] ||
             groups_[static_cast<std::size_t>(e)].nodes.empty();
    });
  };
  // The ready group whose last node comes first: close to the program's own order.
  while (true) {
    std::size_t best = groups_.size();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (done[g] || groups_[g].nodes.empty() || !ready(g)) continue;
      if (best == groups_.size() || groups_[g].nodes.back() < groups_[best].nodes.back()) best = g;
    }
    if (best == groups_.size()) break;
    done[best] = true;
    for (std::uint32_t n : groups_[best].nodes)
      result.group_of[n] = static_cast<std::int32_t>(result.groups.size());
    result.groups.push_back(std::move(groups_[best]));
    groups_[best].nodes = result.groups.back().nodes;
  }
  return result;
}

}  // namespace heddle
