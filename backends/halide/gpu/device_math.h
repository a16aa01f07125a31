// Operations whose form in a device's language means something else than here.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_DEVICE_MATH_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_DEVICE_MATH_H_

#include <Halide.h>

namespace heddle::halide::gpu {

/// A pass over the final statement. A device's max and min give the number when the other argument
/// is NaN (Metal) or anything (OpenCL): strict ones become comparisons, which keep the second
/// argument's NaN. A choice between booleans becomes one of conditions: the devices' select is for
/// numbers. Divisions of unsigned numbers ask for zero: x / 0 = x % 0 = 0, as everywhere else.
/// fmodf is called fmod there. The least i32 is written as a difference, since its text alone would
/// be a wider number; constants of f64 as their bits, since Halide 21 rounds them to f32, and so
/// are infinities and NaN, whose names it spoils where they are stored.
class DeviceMath final : public Halide::Internal::IRMutator {
 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::IntImm* number) override;
  Halide::Expr visit(const Halide::Internal::FloatImm* number) override;
  Halide::Expr visit(const Halide::Internal::Call* call) override;
  Halide::Expr visit(const Halide::Internal::Select* choice) override;
  Halide::Expr visit(const Halide::Internal::Div* op) override;
  Halide::Expr visit(const Halide::Internal::Mod* op) override;
};

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_DEVICE_MATH_H_
