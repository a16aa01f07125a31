// The linear part of a composite with a reverse rule of its own, between linearize and transpose.
#ifndef HEDDLE_GRAPH_AD_LINEAR_COMPOSITE_H_
#define HEDDLE_GRAPH_AD_LINEAR_COMPOSITE_H_

#include "heddle/graph/operation.h"

namespace heddle {

/// Operands: the composite's operands, its results, one tangent per operand. Results: one tangent
/// per result. Not in ops.def: it never leaves graph/ad. Its attributes are the composite's and
/// "composite", its name.
extern const Operation op_linear_composite;

/// Emits it; absent tangents are zeros.
MaybeValues emit_linear_composite(RuleContext& context, std::span<const MaybeValue> tangents);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_AD_LINEAR_COMPOSITE_H_
