#include "heddle/backends/halide/gpu/thread_registers.h"

#include "heddle/graph/error.h"

namespace heddle::halide::gpu {

namespace HI = Halide::Internal;

namespace {

class InThreadZero final : public HI::IRMutator {
 public:
  explicit InThreadZero(const std::map<std::string, Halide::Expr>& lets) : lets_(lets) {}

 protected:
  using HI::IRMutator::visit;
  Halide::Expr visit(const HI::Variable* v) override {
    if (v->name.find(".thread_id_") != std::string::npos) return HI::make_zero(v->type);
    const auto let = lets_.find(v->name);
    return let != lets_.end() ? let->second : Halide::Expr(v);
  }

 private:
  const std::map<std::string, Halide::Expr>& lets_;
};

}  // namespace

int ThreadRegisters::own_elements(const std::string& name) const {
  for (const auto& [func, own] : own_) {
    if (name == func || name.starts_with(func + ".")) return own;
  }
  return 0;
}

Halide::Expr ThreadRegisters::without_thread(const Halide::Expr& index) const {
  return HI::simplify(InThreadZero(lets_).mutate(index));
}

HI::Stmt ThreadRegisters::visit(const HI::Allocate* op) {
  const int own = own_elements(op->name);
  if (own == 0 || op->memory_type != Halide::MemoryType::Register) return IRMutator::visit(op);
  return HI::Allocate::make(op->name, op->type, op->memory_type, {Halide::Expr(own)}, op->condition,
                            mutate(op->body));
}

HI::Stmt ThreadRegisters::visit(const HI::LetStmt* op) {
  if (op->value.type() == Halide::Int(32)) lets_[op->name] = without_thread(op->value);
  return IRMutator::visit(op);
}

Halide::Expr ThreadRegisters::visit(const HI::Let* op) {
  if (op->value.type() == Halide::Int(32)) lets_[op->name] = without_thread(op->value);
  return IRMutator::visit(op);
}

HI::Stmt ThreadRegisters::visit(const HI::Store* op) {
  if (own_elements(op->name) == 0) return IRMutator::visit(op);
  return HI::Store::make(op->name, mutate(op->value), without_thread(op->index), op->param,
                         mutate(op->predicate), HI::ModulusRemainder());
}

Halide::Expr ThreadRegisters::visit(const HI::Load* op) {
  if (own_elements(op->name) == 0) return IRMutator::visit(op);
  return HI::Load::make(op->type, op->name, without_thread(op->index), op->image, op->param,
                        mutate(op->predicate), HI::ModulusRemainder());
}

}  // namespace heddle::halide::gpu
