#include "heddle/backends/halide/scratch.h"

#include <algorithm>

#include "heddle/graph/error.h"

namespace heddle::halide {

namespace HI = Halide::Internal;

std::int64_t ScratchCounter::bytes_of(const HI::Allocate* op) {
  constexpr std::int64_t kStackBytes = 16 * 1024;
  if (op->new_expr.defined() || op->memory_type == Halide::MemoryType::Stack ||
      op->memory_type == Halide::MemoryType::Register) {
    return 0;
  }
  bool constant = true;
  std::int64_t elements = 1;
  for (const Halide::Expr& e : op->extents) {
    std::optional<std::int64_t> size = HI::as_const_int(e);
    if (!size) {
      constant = false;
      size = HI::as_const_int(HI::simplify(HI::bounds_of_expr_in_scope(e, bounds_).max));
    }
    internal_check(size.has_value(), "scratch of '" + op->name + "' has no known bound");
    elements *= *size;
  }
  const std::int64_t bytes = (elements + op->padding) * op->type.bytes();
  if (constant && elements * op->type.bytes() <= kStackBytes) return 0;
  return (bytes + 63) / 64 * 64;
}

HI::Stmt ScratchCounter::visit(const HI::Allocate* op) {
  const std::int64_t bytes = bytes_of(op);
  std::int64_t& held = tasks_ > 0 ? held_in_task_ : held_;
  std::int64_t& most = tasks_ > 0 ? task_ : once_;
  held += bytes;
  most = std::max(most, held);
  HI::Stmt result = HI::IRMutator::visit(op);
  held -= bytes;
  return result;
}

HI::Stmt ScratchCounter::visit(const HI::For* op) {
  const HI::Interval min = HI::bounds_of_expr_in_scope(op->min, bounds_);
  const HI::Interval max = HI::bounds_of_expr_in_scope(op->min + op->extent - 1, bounds_);
  HI::ScopedBinding<HI::Interval> bind(bounds_, op->name, HI::Interval(min.min, max.max));
  const bool parallel = op->for_type == HI::ForType::Parallel;
  tasks_ += parallel;
  HI::Stmt result = HI::IRMutator::visit(op);
  tasks_ -= parallel;
  return result;
}

HI::Stmt ScratchCounter::visit(const HI::LetStmt* op) {
  HI::ScopedBinding<HI::Interval> bind(bounds_, op->name,
                                       HI::bounds_of_expr_in_scope(op->value, bounds_));
  return HI::IRMutator::visit(op);
}

}  // namespace heddle::halide
