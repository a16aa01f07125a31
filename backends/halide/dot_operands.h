// A contraction or a convolution as a product of matrices: rows of the left side, columns of the
// right side, an inner index, and batches (schedule/loops.h: DotShape).
#ifndef HEDDLE_BACKENDS_HALIDE_DOT_OPERANDS_H_
#define HEDDLE_BACKENDS_HALIDE_DOT_OPERANDS_H_

#include <functional>

#include "heddle/backends/halide/elements.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {

class DotOperands {
 public:
  /// `dot` is made by a dot_general or a conv_general.
  DotOperands(Elements& elements, ValueId dot);

  const DotShape& shape() const { return s_; }
  Extent m() const { return product(rows_); }
  Extent n() const { return product(columns_); }
  Extent k() const { return product(inner_); }
  Extent batches() const { return product(batch_); }
  const Extents& columns() const { return columns_; }
  const Extents& inner() const { return inner_; }
  const Extents& batch() const { return batch_; }
  /// The axes of batch() that the left side has: a convolution's kernel is the same for all images.
  Extents left_batch() const;
  Index left_batch(const Index& batch) const;

  // Elements by positions in the lists of axes, row-major where they are one number; they must lie
  // inside.
  Expr left(const Index& left_batch, const Expr& row, const Index& inner) const;
  Expr right(const Index& batch, const Index& column, const Index& inner) const;

  /// Whether neighbours along the rows, or columns, are neighbours in memory.
  bool lhs_contiguous() const;
  bool rhs_contiguous() const;

 private:
  using Axes = std::vector<std::int64_t>;
  // The images of a convolution are batches, or columns (see DotShape).
  bool by_image() const { return batch_.size() > 1; }
  Expr patch(const Index& batch, const Index& column, const Index& inner) const;
  Expr operand(std::size_t k, const Axes& batch_axes, const Axes& free_axes, const Axes& inner_axes,
               const Index& batch, const Index& position, const Index& inner) const;

  Elements& elements_;
  const Node& node_;
  const bool conv_;
  const DotShape s_;
  const Extents batch_, rows_, columns_, inner_;
};

/// From here on the elements of `dot` are read by their batch, row and column.
void stage_dot(Elements& elements, ValueId dot,
               std::function<Expr(const Index& batch, const Expr& row, const Expr& column)> read);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_DOT_OPERANDS_H_
