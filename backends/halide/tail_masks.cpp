#include "heddle/backends/halide/tail_masks.h"

namespace heddle::halide {

namespace HI = Halide::Internal;

namespace {

// The context is never null, which nobody but us knows.
Halide::Expr always_true() {
  const Halide::Expr context = HI::Variable::make(Halide::Handle(), "__user_context");
  return Halide::reinterpret<std::uint64_t>(context) != HI::make_const(Halide::UInt(64), 0);
}

}  // namespace

HI::Stmt TailMasks::visit(const HI::Store* store) {
  const int lanes = store->predicate.type().lanes();
  if (lanes == 1 || HI::is_const_one(store->predicate)) return HI::IRMutator::visit(store);
  return HI::Store::make(store->name, mutate(store->value), mutate(store->index), store->param,
                         HI::And::make(store->predicate, HI::Broadcast::make(always_true(), lanes)),
                         store->alignment);
}

}  // namespace heddle::halide
