// The kernels of one step: what it computes on one tile, as a program for the cpu carrier.
#ifndef HEDDLE_BACKENDS_TILED_TILE_H_
#define HEDDLE_BACKENDS_TILED_TILE_H_

#include <memory>
#include <vector>

#include "heddle/backends/tiled/plan.h"
#include "heddle/graph/builder.h"

namespace heddle {

/// A tensor that tiles read.
struct Leaf {
  ValueId tensor;
  std::vector<int> loops;  ///< per axis of the tensor: the loop that walks it; -1: its extent is 1
  Type type;               ///< of the part that a tile reads
};

/// Where in a sum a tile stands. Tiles that are not the first get what was summed so far as a last
/// input; those that are not the last give it in the dtype of `running_dtype`.
struct SumStage {
  bool first = true, last = true;
  auto operator<=>(const SumStage&) const = default;
};

struct TileFunction {
  std::vector<Leaf> leaves;  ///< its inputs, in order
  Function function;
};

/// `tile`: extents of the loops.
TileFunction make_tile_function(const TiledPlan& plan, const TiledStep& step, const Loops& loops,
                                const Extents& tile, SumStage stage);
/// What sums of a step are kept in between tiles.
DType running_dtype(const TiledPlan& plan, const TiledStep& step);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_TILED_TILE_H_
