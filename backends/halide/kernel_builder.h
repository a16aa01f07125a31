// One kernel on its way to a Halide pipeline: its ports, the elements of its values, its output
// Funcs; and the stages that any recipe may use.
#ifndef HEDDLE_BACKENDS_HALIDE_KERNEL_BUILDER_H_
#define HEDDLE_BACKENDS_HALIDE_KERNEL_BUILDER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "heddle/backends/halide/fetch_ahead.h"
#include "heddle/backends/halide/loops.h"
#include "heddle/schedule/kernel.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {

/// Outputs of equal extents: one Tuple Func, so one loop nest. That is also what makes an update of
/// several arrays in place right: all values exist before the first is stored.
struct OutputGroup {
  Func f;
  Extents extents;
  std::vector<Var> args;           ///< outermost first
  std::vector<std::size_t> ports;  ///< output port of each Tuple element
};

class KernelBuilder {
 public:
  /// The kernel's axes must be collapsed; it outlives the builder.
  explicit KernelBuilder(const Kernel& kernel);

  const Kernel& kernel;
  const int vector;  ///< f32 lanes
  const int lanes;   ///< of the widest values in the body: what loops over outputs take
  Elements elements;
  std::vector<Halide::ImageParam> inputs;
  std::vector<OutputGroup> outputs;
  FetchAhead ahead;
  std::map<std::string, int> thread_registers;  ///< see gpu/thread_registers.h

  const Node& node(ValueId v) const { return *elements.maker(v); }
  int lanes_of(ValueId v) const;  ///< vector length for the value's element type

  /// After all stages: outputs of more axes come first.
  void make_outputs();
  /// Outputs that are defined elsewhere.
  void add_group(OutputGroup group);
  /// Loops over the outputs of `group` as a Map has them.
  void schedule_map(OutputGroup& group, const Map& map);
  /// Every stage placed `once`, in order; the others are the recipe's.
  void make_stage_once(const Stage& stage);
  /// Sums of columns as one task.
  Columns plain_columns() const;

 private:
  void make_input(std::size_t port);
  void bind_symbols(const Halide::ImageParam& p, const Dims& dims);
  void set_layout(Halide::OutputImageParam p, const Extents& extents, const Dims& strides,
                  bool bounds);
  void set_layouts(const OutputGroup& group);
  void store_value(ValueId v);
  Elements::Reader store_places(const Node& window);
};

// Each gives the stage's values a home before the outputs' loops.

/// A sum over everything: `split` pieces in parallel, added in their order.
void stage_total(KernelBuilder& b, const Stage& stage, std::int64_t split, int lanes);
/// Sums along the innermost axis, one per kept index.
void stage_lanes(KernelBuilder& b, const Stage& stage);
/// Sums with vectors across a kept axis; the first `base` kept axes are loops, the last of them the
/// vector's.
void stage_columns(KernelBuilder& b, const Stage& stage, const Columns& columns);
void stage_scatter(KernelBuilder& b, ValueId v, const Scatter& scatter);
/// A contraction in register tiles, stored whole.
void stage_contraction(KernelBuilder& b, ValueId v, const Contract& contract);
/// The same in the outputs' own loops: they are made of its elements, by their index. `row_axis` of
/// the outputs is the rows, the last one the columns, the others are the batch.
void store_contraction(KernelBuilder& b, ValueId v, const Contract& contract, std::size_t row_axis);
/// The same, of few rows and nothing packed: see Contract::dots.
void store_dots(KernelBuilder& b, ValueId v, const Contract& contract, std::size_t row_axis);
/// With its tasks cut by the work.
Contract with_tasks(Contract contract, const Function& body, const DotShape& shape);
/// A convolution that is not written out.
void stage_conv(KernelBuilder& b, const Stage& stage);
/// Whether the outputs are a convolution's elements, so that its tiles need not be stored before:
/// then the kernel is one.
bool conv_is_stored_once(const KernelBuilder& b);
void store_conv(KernelBuilder& b);

/// The axis of a Map's outputs, not the last, along which one of its inputs lies in memory; and its
/// loops in tiles of both.
std::optional<std::size_t> transposed_axis(const Kernel& kernel, const OutputGroup& group);
void schedule_transposed(const KernelBuilder& b, OutputGroup& group, const Map& map,
                         std::size_t across);

/// Outputs along one axis of a concatenation: part by part, instead of make_outputs.
struct Joined {
  const Node* node;
  std::size_t axis;  ///< of the outputs
};
/// Nothing when there is none, or too many parts.
std::optional<Joined> joined_outputs(const Kernel& kernel);
void store_parts(KernelBuilder& b, const Map& map, const Joined& joined);

/// A value of rows, stored row by row: its Func's arguments are its own axes, innermost first, then
/// the row. From here on it is read from there.
struct RowValue {
  Func f;
  std::vector<Var> wide;  ///< its own axes, outermost first
  Extents lengths;        ///< theirs
};
/// `axes` axes are rows; `kept` is the index of a row, `row_of` the row of an index.
RowValue store_row_value(KernelBuilder& b, ValueId v, std::size_t axes,
                         const std::function<Index(const Var&)>& kept,
                         const std::function<Expr(const Index&)>& row_of);

// The recipes.
void apply(KernelBuilder& b, const Map& map);
void apply(KernelBuilder& b, const Rows& rows);
void apply(KernelBuilder& b, const Columns& columns);
void apply(KernelBuilder& b, const Contract& contract);
void apply(KernelBuilder& b, const Scatter& scatter);
void apply(KernelBuilder& b, const Fibres& fibres);
void apply(KernelBuilder& b, const RowBlock& rows);
void apply(KernelBuilder& b, const Winograd& winograd);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_KERNEL_BUILDER_H_
