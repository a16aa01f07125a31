// The passes: each takes a program and gives a new one that computes the same results, bit for bit.
#ifndef HEDDLE_GRAPH_PASSES_PASSES_H_
#define HEDDLE_GRAPH_PASSES_PASSES_H_

#include <functional>

#include "heddle/graph/operation.h"

namespace heddle {

/// Drops what changes nothing: convert to the same dtype, broadcast, reshape, transpose, slice and
/// pad that keep the type and the order, chains of reshapes, of transposes and of broadcasts,
/// neg(neg(x)); a product of matrices reads a transposed factor along its own axes. Never touches
/// arithmetic on values (x*0, x+0 stay).
Program canonicalize(const Program& program);
/// Types are inferred again and compared: InternalError where one differs.
Program shape_inference(const Program& program);
/// Nodes whose operands are all constants are interpreted, results up to 64 KB; iota and broadcasts
/// stay as they are.
Program constant_folding(const Program& program);
/// Equal nodes (operation, operands, attributes; operands of commutative ones in either order)
/// become one.
Program common_subexpression_elimination(const Program& program);
/// Nodes that no output needs go, those with side effects stay. Inputs stay.
Program dead_node_elimination(const Program& program);
/// Composites become their decompositions, at any depth. `keep` says which stay.
Program expand_composites(const Program& program,
                          const std::function<bool(const NodeContext&)>& keep = nullptr);

/// Every `narrow` becomes a conversion, and functions that had one get a last output "@fault", an
/// i32 scalar: not 0 when some value did not fit. A plan makes it a step's fault flag.
Program lower_faults(const Program& program);
bool has_fault_output(const Function& function);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_PASSES_PASSES_H_
