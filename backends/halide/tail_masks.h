// Masks of stores at the ends of rows, hidden from LLVM's constant folding.
#ifndef HEDDLE_BACKENDS_HALIDE_TAIL_MASKS_H_
#define HEDDLE_BACKENDS_HALIDE_TAIL_MASKS_H_

#include <Halide.h>

#include <string>

namespace heddle::halide {

/// With a constant mask LLVM leaves the masked lanes of constants undefined. Of two copies of a
/// polynomial one then has such a constant and the other not, and LLVM 21 adds it twice when it
/// makes FMAs of them: wrong results in a tail of two or more outputs. A mask that it does not know
/// keeps the copies equal.
class TailMasks final : public Halide::Internal::IRMutator {
 public:
  /// `buffer`: the name of a port, whose address makes the mask unknown.
  explicit TailMasks(std::string buffer) : buffer_(std::move(buffer)) {}

 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* store) override;

 private:
  std::string buffer_;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_TAIL_MASKS_H_
