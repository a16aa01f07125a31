// Which values are trees over pairs, and which sums of them lower_pairs turns.
#ifndef HEDDLE_SCHEDULE_PAIR_TREES_H_
#define HEDDLE_SCHEDULE_PAIR_TREES_H_

#include <optional>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

/// A value computed element by element from broadcasts, iotas and sums over a few elements of
/// such.
struct PairTree {
  std::int64_t leaf = 0;    ///< elements of the largest value that is broadcast into it
  std::vector<bool> along;  ///< by axis: some broadcast value varies along it
};
/// By value; nothing for other values, and for those that something else wants in memory.
std::vector<std::optional<PairTree>> pair_trees(const Function& function);

/// How a sum over pairs is taken: over the `outer` axes of its operand one after the other, for
/// each index of the `kept` ones; the `few` (at most kInlineReduction elements) before that.
struct PairSum {
  std::vector<std::int64_t> outer, kept, few;
  bool total = false;  ///< what is kept is summed, too
};
/// Nothing unless the node is a sum of floats over pairs, whose operand is several times larger
/// than what it is made of.
std::optional<PairSum> pair_sum(const Function& function, const Node& node,
                                const std::vector<std::optional<PairTree>>& trees);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_PAIR_TREES_H_
