// Which axes of a body's values are one iteration dimension.
#ifndef HEDDLE_SCHEDULE_AXIS_CLASSES_H_
#define HEDDLE_SCHEDULE_AXIS_CLASSES_H_

#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

/// Every axis of every value is an item; operations tie items together (a union-find). Classes that
/// an operation indexes specially (a sliced, gathered or reversed axis ...) are opaque. All axes of
/// a class have the same extent.
class AxisClasses {
 public:
  explicit AxisClasses(const Function& body);
  /// Class of each axis of `v`, named by its root item.
  std::vector<std::size_t> of(ValueId v);
  bool opaque(std::size_t root) const;

 private:
  using Axes = std::vector<std::int64_t>;
  std::size_t item(ValueId v, std::size_t axis) const;
  std::size_t find(std::size_t i);
  void tie(ValueId a, std::size_t a_axis, ValueId b, std::size_t b_axis);
  void mark(ValueId v, std::size_t axis);
  void mark_all(ValueId v);
  const Dim& extent(ValueId v, std::size_t axis) const;
  void tie_kept(const Node& n, const Axes& axes);
  void tie_same(ValueId operand, ValueId result, const std::vector<bool>& special = {});
  void tie_broadcast(const Node& n);
  void tie_reshape(const Node& n);
  void tie_dot(const Node& n);
  void tie_indexed(ValueId x, ValueId indices, ValueId picked, std::int64_t axis);
  static std::vector<bool> flags(std::size_t rank, const Axes& axes);
  void tie_node(const Node& n);
  void tie_window(const Node& n);
  void tie_conv(const Node& n);
  void tie_pad(const Node& n);

  const Function& body_;
  std::vector<std::size_t> first_, parent_;
  std::vector<bool> opaque_;
};

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_AXIS_CLASSES_H_
