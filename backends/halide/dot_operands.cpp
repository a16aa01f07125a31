#include "heddle/backends/halide/dot_operands.h"

#include "heddle/backends/halide/window.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

namespace heddle::halide {

DotOperands::DotOperands(Elements& elements, ValueId dot)
    : elements_(elements),
      node_(*elements.maker(dot)),
      conv_(node_.op == &op_conv_general),
      s_(dot_shape(elements.body(), node_)),
      batch_(elements.extents(s_.batch)),
      rows_(elements.extents(s_.rows)),
      columns_(elements.extents(s_.columns)),
      inner_(elements.extents(s_.inner)) {}

Extents DotOperands::left_batch() const {
  return conv_ ? Extents{batch_[by_image() ? 1 : 0]} : batch_;
}
Index DotOperands::left_batch(const Index& batch) const {
  return conv_ ? Index{batch[by_image() ? 1 : 0]} : batch;
}

Expr DotOperands::left(const Index& batch, const Expr& row, const Index& inner) const {
  if (!conv_) {
    return operand(0, s_.lhs_batch, s_.lhs_rows, s_.lhs_inner, batch, unflatten(row, rows_), inner);
  }
  Index index = inner;
  index.insert(index.begin(), batch[0] * constant(m()) + row);
  return elements_.at(node_.operands[1], index);
}

Expr DotOperands::right(const Index& batch, const Index& column, const Index& inner) const {
  if (conv_) return patch(batch, column, inner);
  return operand(1, s_.rhs_batch, s_.rhs_columns, s_.rhs_inner, batch, column, inner);
}

Expr DotOperands::patch(const Index& outer, const Index& at, const Index& tap) const {
  const std::ptrdiff_t skip = by_image() ? 0 : 1;
  Index result;
  if (by_image()) result.assign(outer.begin() + 2, outer.end());
  result.insert(result.end(), at.begin() + skip, at.end());
  const Expr image = by_image() ? outer[0] : at[0], group = by_image() ? outer[1] : outer[0];
  return conv_element(elements_, node_, image, group * constant(inner_[0]) + tap[0], result,
                      Index(tap.begin() + 1, tap.end()));
}

Expr DotOperands::operand(std::size_t k, const Axes& batch_axes, const Axes& free_axes,
                          const Axes& inner_axes, const Index& batch, const Index& position,
                          const Index& inner) const {
  Index index(batch_axes.size() + free_axes.size() + inner_axes.size());
  auto put = [&](const Axes& axes, const Index& i) {
    for (std::size_t a = 0; a < axes.size(); ++a) index[static_cast<std::size_t>(axes[a])] = i[a];
  };
  put(batch_axes, batch);
  put(free_axes, position);
  put(inner_axes, inner);
  return elements_.at(node_.operands[k], index);
}

namespace {

// Whether the free axis is the operand's contiguous one.
bool last(const std::vector<std::int64_t>& axes, std::size_t rank) {
  return !axes.empty() && axes.back() + 1 == static_cast<std::int64_t>(rank);
}

// An index of the result as batch, rows (m of them), columns.
Index arranged(const Node& node, const DotShape& s, const Extent& m, const Index& i) {
  if (node.op != &op_conv_general) return i;
  const bool groups = node.attributes.as<ConvAttributes>().groups > 1;
  const Expr group = groups ? i[1] / constant(m) : constant(0);
  const Expr row = groups ? i[1] % constant(m) : i[1];
  Index spatial(i.begin() + 2, i.end()), result;
  if (s.batch.size() == 1) {
    result = {group, row, i[0]};
  } else {
    const auto split = spatial.begin() + static_cast<std::ptrdiff_t>(s.batch.size() - 2);
    result = {i[0], group};
    result.insert(result.end(), spatial.begin(), split);
    result.push_back(row);
    spatial.erase(spatial.begin(), split);
  }
  result.insert(result.end(), spatial.begin(), spatial.end());
  return result;
}

}  // namespace

bool DotOperands::lhs_contiguous() const {
  return last(s_.lhs_rows, elements_.type(node_.operands[0]).rank());
}

bool DotOperands::rhs_contiguous() const {
  if (conv_) {
    const auto a = node_.attributes.as<ConvAttributes>();
    return by_image() && a.strides.back() == 1 && a.lhs_dilation.back() == 1;
  }
  return last(s_.rhs_columns, elements_.type(node_.operands[1]).rank());
}

void stage_dot(Elements& elements, ValueId dot,
               std::function<Expr(const Index&, const Expr&, const Expr&)> read) {
  const Node& node = *elements.maker(dot);
  const DotShape s = dot_shape(elements.body(), node);
  const Extents row_extents = elements.extents(s.rows),
                column_extents = elements.extents(s.columns);
  elements.stage(dot, [=, &node](const Index& index) {
    const Index i = arranged(node, s, product(row_extents), index);
    const auto rows = i.begin() + static_cast<std::ptrdiff_t>(s.batch.size());
    const auto columns = rows + static_cast<std::ptrdiff_t>(s.rows.size());
    return read(Index(i.begin(), rows), flatten(Index(rows, columns), row_extents),
                flatten(Index(columns, i.end()), column_extents));
  });
}

}  // namespace heddle::halide
