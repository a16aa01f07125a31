#include "heddle/backends/halide/fetch_ahead.h"

#include <vector>

namespace heddle::halide {

namespace HI = Halide::Internal;

namespace {

// For reading, into all levels: LLVM's intrinsic, whose result nobody takes. (What Halide has for
// it passes the second level by.)
constexpr char kPrefetch[] = "llvm.prefetch.p0";

// What a statement fetches: an element of each line that it reads of the inputs.
class Lines final : public HI::IRVisitor {
 public:
  explicit Lines(const std::map<std::string, std::int64_t>& distances) : distances_(distances) {}
  std::vector<HI::Stmt> fetches;

 protected:
  using HI::IRVisitor::visit;
  void visit(const HI::Load* load) override {
    HI::IRVisitor::visit(load);
    const auto found = distances_.find(load->name);
    const auto* ramp = load->index.as<HI::Ramp>();
    if (found == distances_.end() || ramp == nullptr || !HI::is_const_one(ramp->stride)) return;
    const Halide::Expr begin =
        Halide::reinterpret<std::uint64_t>(HI::Variable::make(Halide::Handle(), load->name));
    const Halide::Expr offset =
        (Halide::cast<std::int64_t>(ramp->base) + Halide::Expr(found->second)) *
        load->type.element_of().bytes();
    const Halide::Expr address =
        Halide::reinterpret(Halide::Handle(), begin + Halide::reinterpret<std::uint64_t>(offset));
    fetches.push_back(HI::Evaluate::make(
        HI::Call::make(Halide::Int(32), kPrefetch, {address, 0, 3, 1}, HI::Call::Extern)));
  }

 private:
  const std::map<std::string, std::int64_t>& distances_;
};

}  // namespace

HI::Stmt FetchAhead::visit(const HI::ProducerConsumer* op) {
  const auto found = op->is_producer ? distances_.find(op->name) : distances_.end();
  if (found == distances_.end()) return HI::IRMutator::visit(op);
  inside_ = &found->second;
  const HI::Stmt body = mutate(op->body);
  inside_ = nullptr;
  return HI::ProducerConsumer::make(op->name, true, body);
}

HI::Stmt FetchAhead::behind_fetches(const Halide::Expr& read, const HI::Stmt& statement) const {
  Lines lines(*inside_);
  read.accept(&lines);
  lines.fetches.push_back(statement);
  return HI::Block::make(lines.fetches);
}

HI::Stmt FetchAhead::visit(const HI::LetStmt* let) {
  const HI::Stmt same = HI::IRMutator::visit(let);
  return inside_ == nullptr ? same : behind_fetches(let->value, same);
}
HI::Stmt FetchAhead::visit(const HI::Store* store) {
  return inside_ == nullptr ? HI::Stmt(store) : behind_fetches(store->value, store);
}

}  // namespace heddle::halide
