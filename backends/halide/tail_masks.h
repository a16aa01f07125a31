// Masks of stores at the ends of rows, hidden from LLVM's constant folding.
#ifndef HEDDLE_BACKENDS_HALIDE_TAIL_MASKS_H_
#define HEDDLE_BACKENDS_HALIDE_TAIL_MASKS_H_

#include <Halide.h>

namespace heddle::halide {

/// With a constant mask LLVM leaves the masked lanes of constants undefined. Of two copies of a
/// polynomial one then has such a constant and the other not, and LLVM 21 adds it twice when it
/// makes FMAs of them: wrong results in a tail of two or more outputs. A mask that it does not know
/// keeps the copies equal.
class TailMasks final : public Halide::Internal::IRMutator {
 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* store) override;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_TAIL_MASKS_H_
