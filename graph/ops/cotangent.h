// Cotangents that a select has masked. A factor in a branch that was not taken may be infinite
// (sqrt at 0), and 0 * inf would be NaN where the derivative is 0. So the mask stays outermost: a
// linear elementwise function of select(p, c, 0) is emitted as select(p, f(c), 0).
#ifndef HEDDLE_GRAPH_OPS_COTANGENT_H_
#define HEDDLE_GRAPH_OPS_COTANGENT_H_

#include <optional>

#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"

namespace heddle::ops {

/// A cotangent that is `inner` where the predicate equals `holds`, and 0 elsewhere.
struct Masked {
  ValueId predicate, inner;
  bool holds;
};
inline std::optional<Masked> masked(const Builder& b, ValueId ct) {
  const Node* node = b.definition(ct);
  if (node == nullptr || node->op != &op_select) return std::nullopt;
  const Values& o = node->operands;
  if (emit::is_zero(b, o[1])) return Masked{o[0], o[2], false};
  if (emit::is_zero(b, o[2])) return Masked{o[0], o[1], true};
  return std::nullopt;
}
inline ValueId mask(Builder& b, const Masked& m) {
  const ValueId zero = emit::zeros_like(b, m.inner);
  return m.holds ? emit::select(b, m.predicate, m.inner, zero)
                 : emit::select(b, m.predicate, zero, m.inner);
}

/// f(ct) for an `f` that is linear in its argument, keeping the masks of `ct` outermost. `move`
/// takes a predicate to where f takes elements: the identity for elementwise functions.
template <class F, class Move>
ValueId through_masks(Builder& b, ValueId ct, F f, Move move) {
  const std::optional<Masked> m = masked(b, ct);
  if (!m) return f(ct);
  const ValueId inner = through_masks(b, m->inner, f, move);
  return mask(b, {move(m->predicate), inner, m->holds});
}
template <class F>
ValueId through_masks(Builder& b, ValueId ct, F f) {
  return through_masks(b, ct, f, [](ValueId p) { return p; });
}

/// The mask of a sum of masked cotangents: it is 0 where all it sums is masked. (The derivative of
/// where(n > 0, x / n, 0) with n = norm(x) divides such a sum by 0.)
inline std::optional<Masked> masked_sum(Builder& b, ValueId ct) {
  const Node* node = b.definition(ct);
  if (node != nullptr && node->op == &op_reshape) node = b.definition(node->operands[0]);
  if (node == nullptr || node->op != &op_reduce_sum) return std::nullopt;
  const auto axes = node->attributes.as<AxesAttributes>().axes;
  const std::optional<Masked> m = masked(b, node->operands[0]);
  if (!m) return std::nullopt;
  const Dims dims = b.type(ct).dims;
  const ValueId flows = m->holds ? m->predicate : emit::logical_not(b, m->predicate);
  return Masked{emit::reshape(b, emit::reduce_any(b, flows, axes), dims), ct, true};
}

/// x + y of two cotangents; a mask that both have stays outermost.
inline ValueId sum_of_cotangents(Builder& b, ValueId x, ValueId y) {
  const std::optional<Masked> m = masked(b, x), n = masked(b, y);
  if (!m || !n || m->predicate != n->predicate || m->holds != n->holds) return emit::add(b, x, y);
  return mask(b, {m->predicate, sum_of_cotangents(b, m->inner, n->inner), m->holds});
}

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_COTANGENT_H_
