#include "heddle/backends/halide/tail_masks.h"

namespace heddle::halide {

namespace HI = Halide::Internal;

namespace {

// No memory begins there, which nobody but us knows. (The user context would be unknown, too; but
// naming it would hand the caller's to the tasks.)
Halide::Expr always_true(const std::string& buffer) {
  constexpr std::uint64_t kNowhere = 0x5555555555555540;
  const Halide::Expr port =
      HI::Variable::make(Halide::type_of<halide_buffer_t*>(), buffer + ".buffer");
  const Halide::Expr host =
      HI::Call::make(Halide::Handle(), HI::Call::buffer_get_host, {port}, HI::Call::Extern);
  return Halide::reinterpret<std::uint64_t>(host) != HI::make_const(Halide::UInt(64), kNowhere);
}

}  // namespace

HI::Stmt TailMasks::visit(const HI::Store* store) {
  const int lanes = store->predicate.type().lanes();
  if (lanes == 1 || HI::is_const_one(store->predicate)) return HI::IRMutator::visit(store);
  return HI::Store::make(
      store->name, mutate(store->value), mutate(store->index), store->param,
      HI::And::make(store->predicate, HI::Broadcast::make(always_true(buffer_), lanes)),
      store->alignment);
}

}  // namespace heddle::halide
