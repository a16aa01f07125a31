// What records of elementwise operations of one operand are written with.
#ifndef HEDDLE_GRAPH_OPS_UNARY_H_
#define HEDDLE_GRAPH_OPS_UNARY_H_

#include "heddle/graph/emit.h"
#include "heddle/graph/ops/record.h"

namespace heddle::ops {

inline constexpr int kCheap = kElementwise | kFusable;

/// What a record of one operand says for itself; the rest follows from the kinds of its dtypes.
struct Unary {
  std::string_view name;
  Evaluate evaluate;
  Linearize linearize = nullptr;
  Rows rows;
  Surface surface;
  double rtol = 1e-6;
  Roofline roofline = nullptr;
  std::string_view text;
};
template <int kKinds>
consteval Operation unary(Unary u) {
  return define_op({.name = u.name,
                    .strict = {.roles = u.linearize ? first<1>(kSmooth) : first<1>(kNoGrad),
                               .traits = kCheap,
                               .infer = infer_same<1, kKinds>,
                               .evaluate = u.evaluate,
                               .linearize = u.linearize,
                               .workloads = u.rows,
                               .rtol = u.rtol,
                               .atol = u.rtol == 0 ? 0 : 1e-6,
                               .roofline = u.roofline,
                               .text = u.text},
                    .surface = u.surface});
}

/// A derivative rule of one operand: `kFactor(builder, x, y)` emits dy/dx.
template <auto kFactor>
MaybeValues times_factor(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  return {emit::mul(c.build, *t[0], kFactor(c.build, c.primal_in[0], c.primal_out[0]))};
}
/// The same by a division: `kDivisor(builder, x, y)` emits 1 / (dy/dx).
template <auto kDivisor>
MaybeValues by_divisor(RuleContext& c, Tangents t) {
  if (!t[0]) return {std::nullopt};
  return {emit::div(c.build, *t[0], kDivisor(c.build, c.primal_in[0], c.primal_out[0]))};
}

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_UNARY_H_
