// Blocks that are read along one axis and written along another: loaded along the first, turned
// around in registers.
#ifndef HEDDLE_BACKENDS_HALIDE_ACROSS_H_
#define HEDDLE_BACKENDS_HALIDE_ACROSS_H_

#include <Halide.h>

namespace heddle::halide {

/// A custom lowering pass, for loops that were vectorised along both axes: vectors of elements far
/// apart, each begun one element behind the one before, become vectors of neighbours, interleaved.
class BlocksAcross final : public Halide::Internal::IRMutator {
 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Shuffle* shuffle) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* store) override;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_ACROSS_H_
