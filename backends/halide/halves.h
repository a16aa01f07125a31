// Conversions of f16 that many targets have instructions for.
#ifndef HEDDLE_BACKENDS_HALIDE_HALVES_H_
#define HEDDLE_BACKENDS_HALIDE_HALVES_H_

#include <Halide.h>

namespace heddle::halide {

/// `native` where the target converts f16 itself and `rare` (if given) does not hold, else
/// `otherwise`, which is right everywhere. A call that NativeHalves replaces; devices take
/// `otherwise` (gpu/device_math.h).
Halide::Expr native_half(const Halide::Expr& native, const Halide::Expr& otherwise,
                         const Halide::Expr& rare = {});
/// The native value that `x` is, if it is a choice that nothing rare limits; else undefined.
Halide::Expr native_half_of(const Halide::Expr& x);
/// What `call` is where f16 is not native; undefined: `call` is no such choice.
Halide::Expr without_native_half(const Halide::Internal::Call& call);

/// After vectorisation, before RareLanes.
class NativeHalves final : public Halide::Internal::IRMutator {
 public:
  explicit NativeHalves(bool native) : native_(native) {}

 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* call) override;

 private:
  bool native_;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_HALVES_H_
