// A product of matrices by the threads of a block. Tiles of both sides lie in shared memory, kInner
// inner indices at a time; each thread keeps tm x tn sums in registers, and loads tm + tn numbers
// for as many products. A thread's columns are nt apart, so that threads side by side read
// neighbouring words of a tile: no two of them the same bank. The rows' tile has an odd pitch for
// the same reason.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_BLOCK_PRODUCT_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_BLOCK_PRODUCT_H_

#include <functional>
#include <string>
#include <vector>

#include "heddle/backends/halide/kernel_builder.h"

namespace heddle::halide::gpu {

struct BlockTile {
  int mt, nt;  ///< threads along rows and columns
  int tm, tn;  ///< sums of a thread
  int rows() const { return mt * tm; }
  int columns() const { return nt * tn; }
};

class BlockProduct {
 public:
  static constexpr int kInner = 16;

  /// The element at a place of the tile (a row, or a column) and an inner index. It is asked for
  /// places up to the tile's edge, and for inner indices that lie inside.
  struct Side {
    std::function<Expr(const Expr& place, const Expr& inner)> at;
    bool along_places = false;  ///< neighbours along the places are neighbours in memory
    bool is_tile = false;       ///< it lies in shared memory as it is
  };

  /// `outer` name the tile: the sides may read them.
  BlockProduct(KernelBuilder& b, std::string name, const BlockTile& tile, const Extent& inner,
               std::vector<Var> outer, const Side& left, const Side& right);

  Expr at(const Expr& row, const Expr& column, const std::vector<Expr>& outer) const;
  /// At a loop inside a block, outside its threads.
  void compute_at(const Halide::LoopLevel& at);

 private:
  struct Fill {
    Func f;
    Var place;
    int width;
    bool along_places;
  };
  std::function<Expr(const Expr&)> tile_of(const Side& side, const std::string& stem, Var place,
                                           int width);
  void fill(const Fill& fill);
  std::vector<Expr> with_outer(std::vector<Expr> arguments) const;
  Expr padded(const Expr& element, const Expr& inner) const;

  const std::string name_;
  const BlockTile t_;
  const Extent inner_;
  const std::vector<Var> outer_;
  Func prod_, row_, column_;
  std::vector<Fill> fills_;
  Var i_{"i"}, j_{"j"}, mx_{"mx"}, nx_{"nx"}, q_{"q"}, ko_{"ko"};
  RDom k_;
};

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_BLOCK_PRODUCT_H_
