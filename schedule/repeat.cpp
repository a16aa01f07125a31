#include "heddle/schedule/repeat.h"

#include <algorithm>

#include "heddle/graph/operation.h"

namespace heddle {
namespace {

constexpr std::size_t kMostOperations = 4;
constexpr std::size_t kMostWide = 2;
constexpr std::int64_t kSmall = 16;  // of so many parts of the value, one

class Repeats {
 public:
  explicit Repeats(const GroupGraph& graph)
      : graph_(graph),
        f_(graph.function()),
        node_of_(definitions(f_)),
        readers_(f_.types.size()),
        anchored_(f_.types.size()),
        repeated_(f_.nodes.size()) {
    for (const Output& o : f_.outputs) anchored_[o.value.index] = true;
    for (std::uint32_t n = 0; n < f_.nodes.size(); ++n) note_reads(n);
  }

  std::vector<bool> run() {
    for (std::uint32_t n = 0; n < f_.nodes.size(); ++n) {
      if (is_candidate(n)) decide(f_.nodes[n].results[0]);
    }
    return std::move(repeated_);
  }

 private:
  // Views and kernels from outside read memory; others read as their sources say.
  void note_reads(std::uint32_t n) {
    const NodeClass c = graph_.class_of(n);
    const Node& node = f_.nodes[n];
    if (c == NodeClass::constant || c == NodeClass::free) return;
    const bool by_element = (c == NodeClass::inlined && is_elementwise(node)) ||
                            c == NodeClass::rows || c == NodeClass::columns;
    for (const Source& s : graph_.sources(node)) {
      readers_[s.value.index].push_back(graph_.group_of(node.results[0]));
      if (!by_element || s.alignment != Alignment::same) anchor(s.value, node);
    }
  }
  // Read otherwise: by the own group alone, it still need not be stored.
  void anchor(ValueId v, const Node& reader) {
    const bool own = graph_.group_of(v) == graph_.group_of(reader.results[0]);
    if (!own || graph_.class_of(node_of_[reader.results[0].index]) == NodeClass::view) {
      anchored_[v.index] = true;
    }
  }

  static bool is_elementwise(const Node& node) {
    return node.op->strict.pattern == Pattern::elementwise;
  }
  bool is_cheap(const Node& node) const { return is_elementwise(node) && !is_costly(node); }
  bool leaves_its_group(ValueId v) const {
    const std::int32_t own = graph_.group_of(v);
    const auto& readers = readers_[v.index];
    return std::any_of(readers.begin(), readers.end(), [&](std::int32_t g) { return g != own; });
  }
  bool is_candidate(std::uint32_t n) const {
    if (graph_.class_of(n) != NodeClass::inlined || !is_cheap(f_.nodes[n])) return false;
    const ValueId v = f_.nodes[n].results[0];
    return !anchored_[v.index] && leaves_its_group(v) && !is_symbolic(f_.type(v));
  }

  struct Tree {
    std::vector<std::uint32_t> nodes;
    std::vector<ValueId> wide;
    bool possible = true;
  };
  void decide(ValueId v) {
    Tree tree;
    grow(tree, v, v);
    if (!tree.possible || tree.nodes.size() > kMostOperations || tree.wide.size() > kMostWide) {
      return;
    }
    for (ValueId w : tree.wide) {
      if (size_of(f_.type(w).dtype) > size_of(f_.type(v).dtype)) return;
    }
    for (std::uint32_t n : tree.nodes) repeated_[n] = true;
  }
  void grow(Tree& tree, ValueId v, ValueId root) const {
    tree.nodes.push_back(node_of_[v.index]);
    if (tree.nodes.size() > kMostOperations) return;
    for (const Source& s : graph_.sources(f_.nodes[node_of_[v.index]])) add(tree, s.value, root);
  }
  void add(Tree& tree, ValueId s, ValueId root) const {
    const std::uint32_t n = node_of_[s.index];
    const bool small = element_count(f_.type(s)) * kSmall <= element_count(f_.type(root));
    if (small) return;
    const bool stored = n == kNoNode || anchored_[s.index] ||
                        graph_.class_of(n) == NodeClass::view ||
                        (leaves_its_group(s) && !repeated_[n]);
    if (!stored) {
      if (is_cheap(f_.nodes[n])) return grow(tree, s, root);
      tree.possible = false;
    } else if (std::find(tree.wide.begin(), tree.wide.end(), s) == tree.wide.end()) {
      tree.wide.push_back(s);
    }
  }

  const GroupGraph& graph_;
  const Function& f_;
  std::vector<std::uint32_t> node_of_;
  std::vector<std::vector<std::int32_t>> readers_;  // by value: groups
  std::vector<bool> anchored_;                      // by value: in memory whatever is repeated
  std::vector<bool> repeated_;
};

}  // namespace

std::vector<bool> repeated_nodes(const GroupGraph& graph) { return Repeats(graph).run(); }

}  // namespace heddle
