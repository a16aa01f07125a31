#include "heddle/backends/halide/gpu/device_math.h"

#include "heddle/backends/halide/exact.h"

namespace heddle::halide::gpu {

namespace HI = Halide::Internal;

Halide::Expr DeviceMath::visit(const HI::Call* call) {
  const bool larger = call->is_intrinsic(HI::Call::strict_max);
  if (larger || call->is_intrinsic(HI::Call::strict_min)) {
    const Expr a = mutate(call->args[0]), b = mutate(call->args[1]);
    return select(larger ? less(b, a) : less(a, b), a, b);
  }
  if (call->call_type == HI::Call::PureExtern && call->name == "fmodf") {
    return HI::Call::make(call->type, "fmod", {mutate(call->args[0]), mutate(call->args[1])},
                          HI::Call::PureExtern);
  }
  return IRMutator::visit(call);
}

Halide::Expr DeviceMath::visit(const HI::Select* choice) {
  if (!choice->type.is_bool()) return IRMutator::visit(choice);
  const Expr c = mutate(choice->condition), yes = mutate(choice->true_value),
             no = mutate(choice->false_value);
  return (c && yes) || (!c && no);
}

}  // namespace heddle::halide::gpu
