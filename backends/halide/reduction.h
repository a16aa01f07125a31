// A reduction as a fold: initial state, one step per element, and how two states become one. The
// state is one expression, or two (value and index) for argmax and argmin.
#ifndef HEDDLE_BACKENDS_HALIDE_REDUCTION_H_
#define HEDDLE_BACKENDS_HALIDE_REDUCTION_H_

#include "heddle/backends/halide/elements.h"

namespace heddle::halide {

using State = std::vector<Expr>;

/// What any element is above or below: infinity for floats, the farthest integer else.
Expr lowest(Halide::Type t);
Expr highest(Halide::Type t);

class Reduction {
 public:
  /// `value` is made by a reduce operation, argmax, argmin, a contraction or a window.
  Reduction(Elements& elements, ValueId value);

  ValueId value() const { return value_; }
  const Extents& kept() const { return kept_; }        ///< the result's extents
  const Extents& reduced() const { return reduced_; }  ///< outermost first
  State initial() const;
  /// `state` and the element at reduced index `r` of result element `kept`. Sums are exact
  /// additions, so that nothing reorders them; only a product at the top may be fused with its sum.
  State step(const State& state, const Index& kept, const Index& r) const;
  /// Two partial states; associative and commutative but for rounding.
  State combine(const State& a, const State& b) const;
  /// The total in its dtype: narrow floats are added up in f32 and rounded once.
  Expr result(const State& state) const;

 private:
  Expr operand(const Index& kept, const Index& r) const;
  Index operand_index(const Index& kept, const Index& r) const;
  State step_conv(const State& state, const Index& kept, const Index& r) const;
  State better(const State& a, const State& b) const;

  Elements* elements_;
  ValueId value_;
  const Node* node_;
  Extents kept_, reduced_;
  std::vector<std::int64_t> axes_;
};

/// The sum over all reduced indices written out: for short reductions that are no stage.
Expr written_out(Elements& elements, ValueId value, const Index& kept);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_REDUCTION_H_
