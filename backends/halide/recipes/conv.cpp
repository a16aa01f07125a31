// Convolutions: by shape as register tiles, as dot products along the last axis, or as sums of
// columns.
#include <algorithm>

#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {
namespace {

// Columns of a tile: as few as possible past the edge, weighed by how near the tile comes to the
// machine's peak.
Contract tiles_of(std::int64_t rows, std::int64_t columns, int vector) {
  struct Choice {
    int vectors, mr;
    double speed;
  };
  Contract best{.lhs = Pack::whole, .rhs = Pack::panel};
  double most = 0;
  for (const Choice& c : {Choice{3, 4, 1}, Choice{2, 6, 1}, Choice{1, 8, 0.75}}) {
    const std::int64_t nr = static_cast<std::int64_t>(c.vectors) * vector;
    const std::int64_t padded = (columns + nr - 1) / nr * nr;
    const double gain = c.speed * static_cast<double>(columns) / static_cast<double>(padded);
    if (gain > most) most = gain, best.nr = static_cast<int>(nr), best.mr = c.mr;
  }
  best.mr = static_cast<int>(std::min<std::int64_t>(best.mr, rows));
  return best;
}

}  // namespace

void stage_conv(KernelBuilder& b, const Stage& stage) {
  const ValueId v = stage.values[0];
  const Node& node = b.node(v);
  const DotShape s = dot_shape(b.kernel.body, node);
  if (s.n() >= 4) return stage_contraction(b, v, tiles_of(s.m(), s.n(), b.lanes_of(v)));
  if (hint(s.inner.back()) >= b.vector) return stage_lanes(b, stage);
  stage_columns(b, stage, b.plain_columns());
}

}  // namespace heddle::halide
