// What a program is on tiles: which values become tensors, and how the others are seen or computed
// where a tile needs them.
#ifndef HEDDLE_BACKENDS_TILED_PLAN_H_
#define HEDDLE_BACKENDS_TILED_PLAN_H_

#include <optional>
#include <vector>

#include "heddle/backends/tiled/box.h"
#include "heddle/graph/program.h"

namespace heddle {

/// A value that is a tensor with its axes moved or repeated.
struct View {
  ValueId tensor;
  std::vector<int> axes;  ///< per axis of the tensor: the value's axis that walks it; -1: extent 1
};

/// Work that ends in a tensor.
struct TiledStep {
  enum class Kind : std::uint8_t {
    map,      ///< an elementwise value or a view, written out
    reshape,  ///< the operand's elements under other extents: nothing is copied
    reduce,
    contract
  };
  Kind kind;
  ValueId result;
};

/// The loops of a step, and how its operands and its result lie in them.
struct Loops {
  Extents dims;
  std::vector<std::size_t> outer;              ///< loops that are the result's axes, in order
  std::vector<std::size_t> inner;              ///< loops that are summed over
  std::vector<std::vector<std::size_t>> axes;  ///< per operand: the loop of each of its axes
  /// Which loops shrink first to make a tile: group by group, in a group the longest.
  std::vector<std::vector<std::size_t>> shrink;
};

struct TiledPlan {
  Function function;  ///< primitives only
  std::vector<std::uint32_t> definitions;
  std::vector<bool> stored;                ///< by value: a tensor
  std::vector<std::optional<View>> views;  ///< by value: what a broadcast or a transpose shows
  std::vector<TiledStep> steps;
  std::vector<std::size_t> last_use;  ///< by value: the last step that reads its tensor

  const Node& node(ValueId v) const { return function.nodes[definitions[v.index]]; }
  bool is_node(ValueId v) const { return definitions[v.index] != kNoNode; }
  Extents extents(ValueId v) const { return constant_extents(function.type(v).dims); }
  Loops loops(const TiledStep& step) const;
};

/// NotImplementedError names the first operation that has no form on tiles.
TiledPlan plan_tiles(const Function& function);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_TILED_PLAN_H_
