// Blocks of rows against all columns of one head: what attention and its gradients are made of. A
// block's values, one for each row and column, are a strip: Funcs of (lane, panel, row, block,
// head), a panel being nr columns. Rows and columns past the end are copies of the last.
#ifndef HEDDLE_BACKENDS_HALIDE_ROW_BLOCKS_H_
#define HEDDLE_BACKENDS_HALIDE_ROW_BLOCKS_H_

#include <functional>
#include <string>
#include <vector>

#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/schedule/row_block.h"

namespace heddle::halide {

class RowBlocks {
 public:
  RowBlocks(KernelBuilder& b, const RowBlock& recipe, const RowBlockShape& shape)
      : b_(b), r_(recipe), s_(shape) {}

  Var lane{"lane"}, row{"row"}, block{"block"}, head{"head"};
  Var depth{"depth"}, token{"token"};  ///< of results

  // ---- values ----

  /// rows x columns products of two operands, contracted over their depth, in register tiles; the
  /// columns are packed once for a head.
  Func products(ValueId rows, ValueId columns, const std::string& name);
  /// The element of products at a strip's place.
  Expr product_at(const Func& products, const Expr& panel) const;
  /// A strip times a matrix [columns, depth], in register tiles.
  using Weight = std::function<Expr(const Expr& lane, const Expr& panel, const Expr& row)>;
  Func times(const Weight& weight, ValueId matrix, const std::string& name);
  /// The element of times at (depth, token, head).
  Expr times_at(const Func& times) const;
  /// A block's strip, transposed, times its rows of a matrix [rows, depth], in register tiles.
  Func times_rows(const Weight& weight, ValueId matrix, const std::string& name);
  /// Block after block: `out`, the block's own results, a Tuple of `of_rows`; and `sums`, numbers
  /// of columns, to which each block adds its `of_columns`.
  void define_by_blocks(Func out, const std::vector<Func>& of_rows, Func sums,
                        const Func& of_columns);
  /// A number of each row, or column, of the strip.
  Expr of_row(ValueId v) const { return b_.elements.at(v, {head, row_index(row)}); }
  Func of_columns(ValueId v, const std::string& name);
  /// x where the row sees the column, else `other`.
  Expr seen(const Expr& panel, const Expr& x, const Expr& other) const;
  /// The panels that some row of the block sees.
  RDom panels(const std::string& name) const;
  /// A row's number: a fold of its lanes in `f`.
  void fold_lanes(const Func& f, const std::function<Expr(Expr, Expr)>& combine, Func number);
  std::vector<Expr> row_of_token() const { return {token % r_.rows, token / r_.rows, head}; }

  // ---- schedules ----

  /// The loops of the results: `out` over (depth, token, head), and (Func() for none) `beside` over
  /// (token, head). Everything else is computed inside; what `out` alone asks for, too.
  void schedule_results(Func out, Func beside);
  /// The same for what is defined by blocks.
  void schedule_blocks(Func out, Func sums, Func of_columns);
  /// A strip that is filled panel by panel from tiles of products.
  void schedule_strip(Func strip, const RDom& panels, const std::vector<Func>& products);
  /// A strip of which each element is computed from one of another.
  void schedule_elements(Func strip, const RDom& panels);
  /// What is folded over panels for each lane of a row, and the row's number made of it.
  void schedule_fold(Func lanes, const RDom& panels, Func number);
  /// One number of each row of a block.
  Func at_block(Func f);

 private:
  std::int64_t block_count() const { return (s_.rows + r_.rows - 1) / r_.rows; }
  bool ragged_rows() const { return s_.rows % r_.rows != 0; }
  bool ragged_columns() const { return s_.columns % r_.nr != 0; }
  std::int64_t panel_count() const { return (s_.columns + r_.nr - 1) / r_.nr; }
  Expr column(const Expr& i) const {
    return ragged_columns() ? min(likely(i), constant(s_.columns - 1)) : i;
  }
  Expr in_block(const Expr& b, const Expr& i) const {
    const Expr r = b * r_.rows + i;
    return ragged_rows() ? min(likely(r), constant(s_.rows - 1)) : r;
  }
  Expr row_index(const Expr& i) const { return in_block(block, i); }
  /// What is packed, and the tiles of times.
  void schedule_operands();
  /// Vectors along the lanes of f and its update, `over` outside them.
  void schedule_lanes(Func f, const Halide::RVar& over, const std::vector<Var>& between);

  KernelBuilder& b_;
  const RowBlock r_;
  const RowBlockShape s_;
  Func out_;
  Var task_{"task"};           ///< out's loop over heads, or parts of them
  std::vector<Func> columns_;  ///< packed for products; numbers of columns
  std::vector<Func> numbers_, matrices_, times_;
  std::vector<Func> row_matrices_;  ///< packed for times_rows
  RVar rows_, once_, blocks_;       ///< of what is defined by blocks
  Var i_{"i"}, e_{"e"}, p_{"p"}, strip_{"strip"};
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_ROW_BLOCKS_H_
