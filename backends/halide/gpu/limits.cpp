#include "heddle/backends/halide/gpu/limits.h"

#include <algorithm>

#include "heddle/graph/error.h"
#include "heddle/schedule/memory.h"

namespace heddle::halide::gpu {

namespace HI = Halide::Internal;

void Limits::fail(const std::string& what, const std::string& found,
                  const std::string& needed) const {
  throw CompileError(
      {.message = "launch '" + launch_ + "' asks for more than carrier " + carrier_ + " has",
       .field = what,
       .found = found,
       .needed = needed});
}

void Limits::check(std::int64_t found, std::int64_t most, const std::string& what) const {
  if (found > most) fail(what, std::to_string(found), "at most " + std::to_string(most));
}

void Limits::touch(const std::string& buffer) {
  if (!launch_.empty() && own_.count(buffer) == 0) buffers_.insert(buffer);
}

// Index arithmetic and addresses of the host's side are none of the device's.
Halide::Expr Limits::mutate(const Halide::Expr& e) {
  if (!launch_.empty() && e.defined()) {
    check(e.type().lanes(), kMostLanes, "vector lanes");
    if (!wide_ && !e.type().is_handle() && e.type().bits() == 64) {
      fail("dtype", e.type().is_float() ? "f64" : "i64", "at most 32 bits");
    }
  }
  return IRMutator::mutate(e);
}

HI::Stmt Limits::visit_launch(const HI::For* op) {
  launch_ = op->name.substr(0, op->name.find('.'));
  own_.clear(), buffers_.clear();
  own_threads_ = 1, own_shared_ = 0;
  HI::Stmt result = IRMutator::visit(op);
  check(own_threads_, kMostThreads, "threads of a block");
  check(own_shared_, kMostShared, "bytes of shared memory");
  check(static_cast<std::int64_t>(buffers_.size()) + 1, kMostBuffers, "buffers");
  ++launches_;
  threads_ = std::max(threads_, own_threads_);
  shared_ = std::max(shared_, own_shared_);
  launch_.clear();
  return result;
}

HI::Stmt Limits::visit(const HI::For* op) {
  if (launch_.empty() && op->for_type == HI::ForType::GPUBlock) return visit_launch(op);
  if (op->for_type == HI::ForType::GPUThread) {
    const auto extent = HI::as_const_int(op->extent);
    if (!extent) fail("threads of a block", "a number that depends on data", "a constant");
    own_threads_ *= *extent;
  }
  return IRMutator::visit(op);
}

HI::Stmt Limits::visit(const HI::Allocate* op) {
  const std::int64_t elements = op->constant_allocation_size();
  if (launch_.empty()) {
    allocated_ +=
        (elements * op->type.bytes() + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
    return IRMutator::visit(op);
  }
  own_.insert(op->name);
  if (elements == 0)
    fail("a block's array " + op->name, "a size that is no constant", "a constant");
  if (op->memory_type == Halide::MemoryType::GPUShared) own_shared_ += elements * op->type.bytes();
  return IRMutator::visit(op);
}

HI::Stmt Limits::visit(const HI::Store* op) {
  touch(op->name);
  return IRMutator::visit(op);
}

Halide::Expr Limits::visit(const HI::Load* op) {
  touch(op->name);
  return IRMutator::visit(op);
}

}  // namespace heddle::halide::gpu
