// Kernels from outside inside a plan: one node each, computed by a function of an object file.
#ifndef HEDDLE_SCHEDULE_EXTERNAL_H_
#define HEDDLE_SCHEDULE_EXTERNAL_H_

#include <functional>
#include <optional>
#include <vector>

#include "heddle/graph/operation.h"
#include "heddle/schedule/recipe.h"

namespace heddle {

/// The kernel from outside that computes a node, or nothing. The same answer for the same node,
/// whenever it is asked. An empty function: there are none.
using ExternalKernels = std::function<std::optional<External>(const NodeContext&)>;

std::optional<External> external_of(const ExternalKernels& kernels, const Function& function,
                                    const Node& node);

/// What a kernel is told besides its tensors: the node's attributes in the order of their names,
/// each as a tensor: i64[], f64[], bool[], i64[n], f64[n]; a dtype its number, extents i64[n], text
/// u8[n].
std::vector<Literal> option_literals(const Attributes& attributes);

/// The node as a function: its operands, then one input per option, which nothing reads.
Function external_body(const Function& function, const Node& node,
                       const std::vector<Literal>& options);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_EXTERNAL_H_
