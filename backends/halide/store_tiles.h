// The outputs of a contraction in its tiles' own loops.
#ifndef HEDDLE_BACKENDS_HALIDE_STORE_TILES_H_
#define HEDDLE_BACKENDS_HALIDE_STORE_TILES_H_

#include <string>
#include <vector>

#include "heddle/backends/halide/dot_operands.h"
#include "heddle/backends/halide/kernel_builder.h"

namespace heddle::halide {

/// The loop `outer`, fused with all of `batch` (innermost first).
inline Var fuse_batch(Func out, Var outer, const std::vector<Var>& batch) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Var fused("tiles" + std::to_string(i));
    out.fuse(outer, batch[i], fused);
    outer = fused;
  }
  return outer;
}

/// Tiles: at(batch, row, column) is an element of the product `v`, schedule(f, rows, columns,
/// batch) the loops of a Func over it. `row_axis` of the outputs is the rows, the last one the
/// columns, the others are the batch.
template <class Tiles>
void store_tiles(KernelBuilder& b, ValueId v, Tiles& tiles, std::size_t row_axis) {
  stage_dot(b.elements, v, [&](const Index& batch, const Expr& row, const Expr& column) {
    return tiles.at(batch, row, column);
  });
  b.make_outputs();
  OutputGroup& out = b.outputs[0];
  std::vector<Var> batch;  // innermost first
  for (std::size_t a = out.args.size() - 1; a-- > 0;) {
    if (a != row_axis) batch.push_back(out.args[a]);
  }
  tiles.schedule(out.f, out.args[row_axis], out.args.back(), batch);
}

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_STORE_TILES_H_
