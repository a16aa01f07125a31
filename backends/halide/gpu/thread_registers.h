// Accumulators of a block as registers of its threads.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_THREAD_REGISTERS_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_THREAD_REGISTERS_H_

#include <Halide.h>

#include <map>
#include <string>

namespace heddle::halide::gpu {

/// A Func with store_in(MemoryType::Register) that is computed at a block gets its whole size in
/// every thread. Where a thread touches only the elements of its own thread index, and the axes of
/// that index are the Func's last, the elements of thread 0 are storage enough: this pass leaves
/// these, by taking the thread's index for 0 in the places they are read and written.
///
class ThreadRegisters final : public Halide::Internal::IRMutator {
 public:
  /// The number of elements of one thread, by the Func's name.
  explicit ThreadRegisters(std::map<std::string, int> own) : own_(std::move(own)) {}

 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;
  Halide::Expr visit(const Halide::Internal::Load* op) override;
  Halide::Expr visit(const Halide::Internal::Let* op) override;

 private:
  int own_elements(const std::string& name) const;
  Halide::Expr without_thread(const Halide::Expr& index) const;

  const std::map<std::string, int> own_;
  std::map<std::string, Halide::Expr> lets_;  ///< values with thread index 0
};

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_THREAD_REGISTERS_H_
