// Branches over whole vectors: what few arguments need is computed when some lane has one.
#ifndef HEDDLE_BACKENDS_HALIDE_RARE_H_
#define HEDDLE_BACKENDS_HALIDE_RARE_H_

#include <Halide.h>

namespace heddle::halide {

/// `usual`, and where `rare` holds `other`, which is right everywhere. A call that RareLanes
/// replaces; devices take `other` alone (gpu/device_math.h).
Halide::Expr unless_rare(const Halide::Expr& rare, const Halide::Expr& other,
                         const Halide::Expr& usual);
bool is_unless_rare(const Halide::Internal::Call& call);

/// After vectorisation: `other` stands behind a branch, taken when `rare` holds in any lane.
class RareLanes final : public Halide::Internal::IRMutator {
 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* call) override;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_RARE_H_
