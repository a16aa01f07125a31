// Cotangents that a select has masked. A factor in a branch that was not taken may be infinite
// (sqrt at 0), and 0 * inf would be NaN where the derivative is 0. So the mask stays outermost: a
// linear elementwise function of select(p, c, 0) is emitted as select(p, f(c), 0).
#ifndef HEDDLE_GRAPH_OPS_COTANGENT_H_
#define HEDDLE_GRAPH_OPS_COTANGENT_H_

#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"

namespace heddle::ops {

/// f(ct) for an `f` that is linear in its argument, keeping the masks of `ct` outermost. `move`
/// takes a predicate to where f takes elements: the identity for elementwise functions.
template <class F, class Move>
ValueId through_masks(Builder& b, ValueId ct, F f, Move move) {
  const Node* node = b.definition(ct);
  if (node == nullptr || node->op != &op_select) return f(ct);
  const Values o = node->operands;  // a copy: the node moves as the builder grows
  const bool yes_zero = emit::is_zero(b, o[1]);
  if (!yes_zero && !emit::is_zero(b, o[2])) return f(ct);
  const ValueId inner = through_masks(b, o[yes_zero ? 2 : 1], f, move);
  const ValueId predicate = move(o[0]);
  const ValueId zero = emit::zeros_like(b, inner);
  return yes_zero ? emit::select(b, predicate, zero, inner)
                  : emit::select(b, predicate, inner, zero);
}
template <class F>
ValueId through_masks(Builder& b, ValueId ct, F f) {
  return through_masks(b, ct, f, [](ValueId p) { return p; });
}

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_COTANGENT_H_
