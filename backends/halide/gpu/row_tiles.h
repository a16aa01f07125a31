// Tiles of rows against all columns of one head, a tile of columns at a time: what attention and
// its gradients are made of on a device. A block of threads has a tile of rows. Products stay in
// registers, what is made of them lies in shared memory, and what a row has gathered so far is its
// threads' own.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_ROW_TILES_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_ROW_TILES_H_

#include <functional>
#include <string>
#include <vector>

#include "heddle/backends/halide/gpu/block_product.h"
#include "heddle/schedule/row_block.h"

namespace heddle::halide::gpu {

class RowTiles {
 public:
  static constexpr int kSide = 16;  ///< threads of a block along rows, and along columns

  /// `width`: of the result's rows. `name` tells this launch's Funcs from others'.
  RowTiles(KernelBuilder& b, const RowBlockShape& shape, std::string name, std::int64_t width);

  Var r{"r"}, c{"c"};                                  ///< in a tile
  Var columns{"columns"}, rows{"rows"}, head{"head"};  ///< of the tile
  Var place{"place"}, i{"i"}, nx{"nx"}, mx{"mx"};      ///< a thread's
  Var depth{"depth"}, token{"token"};                  ///< of results

  /// A thread's columns, of a tile and of the result; its rows.
  int own_columns() const { return scores_.tn; }
  int own_places() const { return result_.tn; }
  Expr own_column(const Expr& x) const { return x * kSide + nx; }
  Expr own_row() const { return i * kSide + mx; }

  // ---- values ----

  /// Of a tile's row and column, and the tile of columns.
  using At = std::function<Expr(const Expr& r, const Expr& c, const Expr& columns)>;
  /// Products of rows and columns of two operands, contracted over their depth.
  At products(ValueId rows, ValueId columns, const std::string& name);
  /// A tile of weights(c, r, columns, rows, head) times a matrix [columns, width].
  At times(const Func& weights, ValueId matrix);
  /// A number of each row, or column.
  Expr of_row(ValueId v) const { return b_.elements.at(v, {head, row_index(r)}); }
  Expr of_column(ValueId v) const { return b_.elements.at(v, {head, column_index(c, columns)}); }
  /// x where the row sees the column, else `other`.
  Expr seen(const Expr& r, const Expr& c, const Expr& x, const Expr& other) const;
  /// What f(place, i, nx, mx, rows, head) keeps for `token`.
  Expr kept(const Func& f, const Expr& place, const Expr& nx) const;

  // ---- loops ----

  /// Steps for each tile of columns that some row of the tile sees.
  RDom steps(int count) const;
  /// f(place, i, nx, mx, rows, head): the numbers that a thread keeps for each of its rows, updated
  /// over `steps`. Before all that is computed for a tile.
  void schedule_kept(Func f, const RDom& steps, int places);
  /// f(c, r, columns, rows, head).
  void schedule_tile(Func f);
  /// f(nx, r, columns, rows, head), of each thread; `all`, of (r, columns, rows, head), folds them.
  void schedule_fold(Func f, Func all);
  /// The launch: out(depth, token, head), and (Func() for none) beside(token, head).
  void schedule_results(Func out, Func beside);

 private:
  Expr row_index(const Expr& r) const;
  Expr column_index(const Expr& c, const Expr& columns) const;
  Func in_shared_memory(Func f);
  void split_tokens(Func f);
  At read(const BlockProduct& product);

  KernelBuilder& b_;
  const RowBlockShape s_;
  const std::string name_;
  const std::int64_t width_;
  const BlockTile scores_, result_;
  std::vector<BlockProduct> products_;
  Func kept_;
  Halide::LoopLevel at_tile_;
};

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_ROW_TILES_H_
