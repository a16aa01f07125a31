#include "heddle/schedule/pair_trees.h"

#include <algorithm>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/classify.h"
#include "heddle/schedule/loops.h"

namespace heddle {
namespace {

using Axes = std::vector<std::int64_t>;
using Trees = std::vector<std::optional<PairTree>>;

constexpr std::int64_t kLong = 16;    // an axis worth a loop
constexpr std::int64_t kFewKept = 8;  // elements of the kept axes after the vectors'
constexpr std::int64_t kLargest = 4;  // a leaf is at most one part in so many of the tree

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

bool is_wide(const PairTree& tree) {
  return std::count(tree.along.begin(), tree.along.end(), true) > 1;
}

std::int64_t elements(const Function& f, ValueId v) { return element_count(f.type(v)); }

PairTree tree_of_broadcast(const Function& f, const Node& node, const Trees& trees) {
  const auto a = node.attributes.as<BroadcastAttributes>();
  const ValueId x = node.operands[0];
  const auto& inner = trees[x.index];
  PairTree tree{0, std::vector<bool>(a.dims.size())};
  const bool deeper = inner && is_wide(*inner);
  tree.leaf = deeper ? inner->leaf : elements(f, x);
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    tree.along[at(a.axes[i])] = deeper ? inner->along[i] : f.type(x).dims[i] != Dim(1);
  }
  return tree;
}

std::optional<PairTree> tree_of_elements(const Node& node, const Trees& trees) {
  PairTree tree;
  for (ValueId o : node.operands) {
    const auto& part = trees[o.index];
    if (!part) return std::nullopt;
    tree.leaf = std::max(tree.leaf, part->leaf);
    tree.along.resize(part->along.size());
    for (std::size_t a = 0; a < part->along.size(); ++a) {
      tree.along[a] = tree.along[a] || part->along[a];
    }
  }
  return tree;
}

std::optional<PairTree> tree_of_sum(const Function& f, const Node& node, const Trees& trees) {
  const auto& whole = trees[node.operands[0].index];
  if (!whole || node.attributes.find("axes") == nullptr) return std::nullopt;
  const Axes axes = reduced_axes(node);
  if (product(reduced_extents(f, node)) > kInlineReduction) return std::nullopt;
  PairTree tree{whole->leaf, {}};
  for (std::size_t a = 0; a < whole->along.size(); ++a) {
    if (!std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(a))) {
      tree.along.push_back(whole->along[a]);
    }
  }
  return tree;
}

std::optional<PairTree> tree_of(const Function& f, const Node& node, const Trees& trees) {
  if (node.op == &op_broadcast_in_dim) return tree_of_broadcast(f, node, trees);
  if (node.op == &op_iota) {
    return PairTree{0, std::vector<bool>(f.type(node.results[0]).rank())};
  }
  if (node.op->strict.pattern == Pattern::elementwise) return tree_of_elements(node, trees);
  if (node.op->strict.pattern == Pattern::reduce) return tree_of_sum(f, node, trees);
  return std::nullopt;
}

Trees trees_without(const Function& function, const std::vector<bool>& stored) {
  Trees trees(function.types.size());
  for (const Node& node : function.nodes) {
    if (node.results.size() != 1 || is_symbolic(function.type(node.results[0]))) continue;
    const std::uint32_t result = node.results[0].index;
    if (!stored[result]) trees[result] = tree_of(function, node, trees);
  }
  return trees;
}

}  // namespace

Trees pair_trees(const Function& function) {
  std::vector<bool> stored(function.types.size());
  const Trees all = trees_without(function, stored);
  const auto store = [&](ValueId v) {
    if (all[v.index] && is_wide(*all[v.index])) stored[v.index] = true;
  };
  for (const Output& o : function.outputs) store(o.value);
  for (const Node& node : function.nodes) {
    if (node.op == &op_reduce_sum || (!node.results.empty() && all[node.results[0].index]))
      continue;
    for (ValueId o : node.operands) store(o);
  }
  return trees_without(function, stored);
}

std::optional<PairSum> pair_sum(const Function& f, const Node& node, const Trees& trees) {
  if (node.op != &op_reduce_sum || !is_floating(f.type(node.results[0]).dtype)) return std::nullopt;
  const ValueId x = node.operands[0];
  const auto& tree = trees[x.index];
  if (!tree || tree->leaf * kLargest > elements(f, x)) return std::nullopt;
  const std::vector<std::int64_t> extents = hints(f.type(x).dims);
  const Axes axes = reduced_axes(node);
  std::vector<bool> reduced(extents.size());
  for (std::int64_t a : axes) reduced[at(a)] = true;
  PairSum sum{.total = axes.size() == extents.size()};
  // The vectors' axis: the last long one that is kept, or of a total the last long one.
  std::size_t lanes = extents.size(), after = 1;
  for (std::size_t a = extents.size(); a-- > 0 && lanes == extents.size();) {
    if (reduced[a] && !sum.total) continue;
    if (extents[a] >= kLong) {
      lanes = a;
    } else if (!sum.total) {
      after *= at(extents[a]);
    }
  }
  if (lanes == extents.size() || after > at(kFewKept) || !tree->along[lanes]) return std::nullopt;
  bool pairs = false;
  std::int64_t few = 1;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    const auto axis = static_cast<std::int64_t>(a);
    if (a == lanes || !reduced[a]) {
      sum.kept.push_back(axis);
    } else if (few * extents[a] <= kInlineReduction) {
      few *= extents[a];
      sum.few.push_back(axis);
    } else {
      sum.outer.push_back(axis);
      pairs = pairs || (extents[a] >= kLong && tree->along[a]);
    }
  }
  return pairs ? std::optional(sum) : std::nullopt;
}

}  // namespace heddle
