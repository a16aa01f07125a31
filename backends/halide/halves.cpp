#include "heddle/backends/halide/halves.h"

#include "heddle/backends/halide/rare.h"

namespace heddle::halide {

namespace HI = Halide::Internal;

using Halide::Expr;

namespace {
constexpr char kNativeHalf[] = "heddle_native_half";
}

Expr native_half(const Expr& native, const Expr& otherwise, const Expr& rare) {
  std::vector<Expr> arguments{native, otherwise};
  if (rare.defined()) arguments.push_back(rare);
  return HI::Call::make(native.type(), kNativeHalf, arguments, HI::Call::PureExtern);
}

Expr native_half_of(const Expr& x) {
  const auto* call = x.as<HI::Call>();
  const bool always = call != nullptr && call->name == kNativeHalf && call->args.size() == 2;
  return always ? call->args[0] : Expr();
}

Expr without_native_half(const HI::Call& call) {
  return call.name == kNativeHalf ? call.args[1] : Expr();
}

Expr NativeHalves::visit(const HI::Call* call) {
  const Expr otherwise = without_native_half(*call);
  if (!otherwise.defined()) return IRMutator::visit(call);
  if (!native_) return mutate(otherwise);
  const Expr native = mutate(call->args[0]);
  if (call->args.size() == 2) return native;
  return unless_rare(mutate(call->args[2]), mutate(otherwise), native);
}

}  // namespace heddle::halide
