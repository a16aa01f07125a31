#include "heddle/backends/halide/gpu/device_math.h"

#include <bit>
#include <cmath>
#include <limits>

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/rare.h"

namespace heddle::halide::gpu {

namespace HI = Halide::Internal;

Halide::Expr DeviceMath::visit(const HI::IntImm* number) {
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  if (number->type != Halide::Int(32) || number->value != kLeast) return number;
  return HI::Sub::make(Expr(kLeast + 1), Expr(1));
}

Halide::Expr DeviceMath::visit(const HI::FloatImm* number) {
  const double value = number->value;
  const auto narrow = static_cast<float>(value);
  const int bits = number->type.bits();
  const bool is_f32 = std::isfinite(value) && static_cast<double>(narrow) == value;
  if (is_f32 || bits < 32) return number;
  const std::uint64_t pattern =
      bits == 64 ? std::bit_cast<std::uint64_t>(value) : std::bit_cast<std::uint32_t>(narrow);
  return Halide::reinterpret(number->type, HI::UIntImm::make(Halide::UInt(bits), pattern));
}

Halide::Expr DeviceMath::visit(const HI::Call* call) {
  const bool larger = call->is_intrinsic(HI::Call::strict_max);
  if (larger || call->is_intrinsic(HI::Call::strict_min)) {
    const Expr a = mutate(call->args[0]), b = mutate(call->args[1]);
    return select(larger ? less(b, a) : less(a, b), a, b);
  }
  if (is_unless_rare(*call)) return mutate(call->args[1]);
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

namespace {

template <class Op>
Expr unless_by_zero(const Expr& a, const Expr& b) {
  const Expr zero = HI::make_zero(b.type()), none = b == zero;
  return select(none, zero, Op::make(a, select(none, HI::make_one(b.type()), b)));
}

}  // namespace

Halide::Expr DeviceMath::visit(const HI::Div* op) {
  if (!op->type.is_uint() || HI::is_const(op->b)) return IRMutator::visit(op);
  return unless_by_zero<HI::Div>(mutate(op->a), mutate(op->b));
}

Halide::Expr DeviceMath::visit(const HI::Mod* op) {
  if (!op->type.is_uint() || HI::is_const(op->b)) return IRMutator::visit(op);
  return unless_by_zero<HI::Mod>(mutate(op->a), mutate(op->b));
}

}  // namespace heddle::halide::gpu
