// How much memory a kernel asks its core for: the sum of what is alive at once, seen on the
// lowered statement.
#ifndef HEDDLE_BACKENDS_HALIDE_SCRATCH_H_
#define HEDDLE_BACKENDS_HALIDE_SCRATCH_H_

#include <Halide.h>

namespace heddle::halide {

/// A custom lowering pass that changes nothing. Each allocation counts as its bytes rounded up to
/// 64; allocations of at most 16 KB and constant size are on the stack and do not count.
class ScratchCounter : public Halide::Internal::IRMutator {
 public:
  std::int64_t once() const { return once_; }  ///< outside parallel loops
  std::int64_t task() const { return task_; }  ///< inside one task

 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override;

 private:
  std::int64_t bytes_of(const Halide::Internal::Allocate* op);

  Halide::Internal::Scope<Halide::Internal::Interval> bounds_;
  std::int64_t once_ = 0, task_ = 0, held_ = 0, held_in_task_ = 0;
  int tasks_ = 0;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_SCRATCH_H_
