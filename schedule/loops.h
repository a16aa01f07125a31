// What the recipes ask of a body: which of its operations loop, over what, and what the work costs.
#ifndef HEDDLE_SCHEDULE_LOOPS_H_
#define HEDDLE_SCHEDULE_LOOPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/graph/program.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// The number a schedule is chosen with: a symbol counts as kSymbolHint, one whose name begins with
/// kShortSymbol as kShortHint.
inline constexpr std::int64_t kSymbolHint = 1000, kShortHint = 2;
inline constexpr char kShortSymbol = 'u';
/// Columns or rows of a convolution that are fewer want another form of loops.
inline constexpr std::int64_t kShortest = 4;
std::int64_t hint(const Dim& dim);
std::vector<std::int64_t> hints(const Dims& dims);
/// Some extent of the body is a symbol.
bool is_symbolic(const Function& body);

/// A reduction, a contraction, or a window that is not written out: its result's extents and the
/// extents it sums over, outermost first; as numbers, by hint().
bool is_reduction(const Function& body, const Node& node);
Dims reduced_dims(const Function& body, const Node& node);
std::vector<std::int64_t> kept_extents(const Function& body, const Node& node);
std::vector<std::int64_t> reduced_extents(const Function& body, const Node& node);
/// Reduced axes of operand 0 (dot_general: of lhs). Not for windows and convolutions, which reduce
/// none of it.
std::vector<std::int64_t> reduced_axes(const Node& node);
std::int64_t product(const std::vector<std::int64_t>& extents);

/// A scan or a sort.
bool is_fibre(const Node& node);
std::int64_t fibre_axis(const Node& node);
/// The one scan or sort of a body whose outputs all have its extents; null when there is no such.
const Node* fibre_node(const Function& body);

/// dot_general with its axes collected: batch, rows (lhs's free axes), columns (rhs's), inner.
/// conv_general: the kernel is the left side; rows: outputs of a group; inner: channels and taps.
/// Where the last axis is long enough, batch: images, groups, then all spatial axes but the last;
/// columns: the last spatial axis, and those before it that no window reaches across. Else batch:
/// groups; columns: images, then all spatial axes. The lists of axes are empty.
struct DotShape {
  Dims batch, rows, columns, inner;
  std::vector<std::int64_t> lhs_batch, lhs_rows, lhs_inner;     ///< axes of lhs
  std::vector<std::int64_t> rhs_batch, rhs_columns, rhs_inner;  ///< axes of rhs
  // Numbers of elements, by hint().
  std::int64_t m() const { return product(hints(rows)); }
  std::int64_t n() const { return product(hints(columns)); }
  std::int64_t k() const { return product(hints(inner)); }
  std::int64_t batches() const { return product(hints(batch)); }
};
DotShape dot_shape(const Function& body, const Node& node);

/// Outputs are made of the elements of `v` at their own index.
bool is_elementwise_behind(const Function& body, ValueId v);

/// Nanoseconds of the whole body on one thread, roughly: from shapes alone.
double estimated_ns(const Function& body);

/// The same without what has loops of its own in a Map: reductions, scatters, scans and sorts.
double estimated_ns_in_place(const Function& body);

/// Whether some operation on elements takes many instructions.
bool has_long_function(const Function& body);
/// Vectors of a loop side by side: two, for what one waits for the other has instructions. One
/// where extents are symbols: twice the code is twice the time to compile it, which a user waits
/// for.
int vectors_side_by_side(const Function& body);

/// What a task should take where nothing says otherwise.
inline constexpr double kTaskNs = 50000;

/// Cuts `units` of equal work into tasks of about `task_ns`, equal ones where half as much or more
/// makes them so: units per task; `units` (one task) for small work. The result is a multiple of
/// `step` unless it is `units`.
std::int64_t choose_grain(double total_ns, std::int64_t units, std::int64_t step = 1,
                          double task_ns = kTaskNs);

/// Elements in one register while they are computed (16-bit floats as f32); of a body, those of its
/// widest values.
int lanes_of(DType dtype, const Target& target);
int lanes_of(const Function& body, const Target& target);

/// Rows: leading axes [0, kept) of every reduction are the row, its other axes are reduced; outputs
/// and wide values have the row's axes first. The number of row axes, or nothing when the body is
/// not of that form.
std::optional<std::size_t> row_axes(const Function& body);
/// Sums of columns that one loop computes: the kept extents are equal, or one has a few elements
/// more at the end, which are written out.
bool same_columns(const Dims& a, const Dims& b);
/// Columns: every reduction over leading axes of its operand keeps at least one axis. True when
/// each reduction is of that form, or is a total of such sums.
bool fits_columns(const Function& body);
/// The contraction a Contract recipe is about: the one with most work. Nothing when the outputs
/// have neither its extents nor those of its gates (gates.h), when another reduction reads it, or
/// when it is a matrix times a vector.
std::optional<ValueId> main_contraction(const Function& body);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_LOOPS_H_
