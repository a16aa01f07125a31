// What grouping asks of a node: derived from its pattern, attributes and extents, never from a list
// of names.
#ifndef HEDDLE_SCHEDULE_CLASSIFY_H_
#define HEDDLE_SCHEDULE_CLASSIFY_H_

#include <vector>

#include "heddle/schedule/external.h"

namespace heddle {

enum class NodeClass : std::uint8_t {
  constant,  ///< printed into the kernels that read it, or a constant buffer when large
  free,      ///< an index map or a fill: repeated in every kernel that reads it
  view,      ///< a reshape, or a range of leading axes: another type for the same storage (layout)
  inlined,   ///< computed element by element: elementwise, gather, pad, concatenate, very short
             ///< reductions and windows, random bits
  rows,      ///< a reduction of trailing axes
  columns,   ///< a reduction of leading axes
  general,   ///< a reduction of any other kind
  contract,
  scatter,
  row_block,  ///< a composite that is computed whole
  fibres,     ///< a scan or a sort along one axis
  external    ///< a kernel from outside
};

/// Class of each node. A free node that something needs in memory (an output, the operand of a
/// view or of a kernel from outside) is `inlined` instead. slices: of those, which may be views
/// (view_nodes).
std::vector<NodeClass> classify(const Function& function, const ExternalKernels& external = nullptr,
                                bool slices = false);

/// Short reductions (coordinates, a few channels) are written out where they are read.
inline constexpr std::int64_t kInlineReduction = 4;
/// Windows of so many elements at most are written out.
inline constexpr std::int64_t kInlineWindow = 32;
/// Whether a window or convolution is written out where it is read: it has few elements, and few
/// results read the same ones. `last`: the type of its last operand.
bool is_inline_window(const Node& node, const Type& last);
/// Larger constants are buffers.
inline constexpr std::int64_t kInlineConstant = 16;

/// A kept part and a reduced part of an operand's extents, for a reduction of rows or columns.
struct ReductionDomain {
  Dims kept, reduced;
  bool operator==(const ReductionDomain&) const = default;
};
ReductionDomain reduction_domain(const Function& function, const Node& node);

/// An operation worth storing rather than computing again: a division, a transcendental function.
bool is_costly(const Node& node);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_CLASSIFY_H_
