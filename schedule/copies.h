// Kernels that only move elements, as copies between parts of their ports: nothing to compile,
// whatever the extents.
#ifndef HEDDLE_SCHEDULE_COPIES_H_
#define HEDDLE_SCHEDULE_COPIES_H_

#include <optional>
#include <vector>

#include "heddle/schedule/kernel.h"

namespace heddle {

/// Where a part of a port begins, in elements, and its strides.
struct PortPart {
  std::int64_t offset = 0;
  Dims strides;
};
struct PortCopy {
  std::size_t in = 0;             ///< the input port
  std::optional<Literal> scalar;  ///< in its place: a padding's value
  PortPart from, to;              ///< of that port, of the output port
  Dims dims;
};

/// Of a body that is one slice, pad, broadcast or concatenate of its inputs, in the order in which
/// they are made; nothing for any other.
std::optional<std::vector<PortCopy>> as_copies(const Kernel& kernel);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_COPIES_H_
