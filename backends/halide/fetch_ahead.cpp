#include "heddle/backends/halide/fetch_ahead.h"

#include <vector>

namespace heddle::halide {

namespace HI = Halide::Internal;

namespace {

// Into all levels: LLVM's intrinsic, whose result nobody takes. (What Halide has for it passes the
// second level by.)
constexpr char kPrefetch[] = "llvm.prefetch.p0";

// An element of a buffer whose elements have that many bytes; it is not looked at there.
HI::Stmt fetch(const std::string& buffer, const Halide::Expr& element, int bytes,
               bool for_writing = false) {
  const Halide::Expr begin =
      Halide::reinterpret<std::uint64_t>(HI::Variable::make(Halide::Handle(), buffer));
  const Halide::Expr offset = Halide::cast<std::int64_t>(element) * bytes;
  const Halide::Expr address =
      Halide::reinterpret(Halide::Handle(), begin + Halide::reinterpret<std::uint64_t>(offset));
  return HI::Evaluate::make(HI::Call::make(Halide::Int(32), kPrefetch,
                                           {address, for_writing ? 1 : 0, 3, 1}, HI::Call::Extern));
}

// The first element of a vector of neighbours; undefined for others.
Halide::Expr begin_of(const HI::Load* load) {
  const auto* ramp = load->index.as<HI::Ramp>();
  return ramp != nullptr && HI::is_const_one(ramp->stride) ? ramp->base : Halide::Expr();
}

// What a statement fetches: an element for each line that it reads of the inputs. `last`: where the
// statements before it began to read each; a line is fetched once.
class Lines final : public HI::IRVisitor {
 public:
  Lines(const FetchAhead::Fetches& wanted, std::map<std::string, Halide::Expr>& last)
      : wanted_(wanted), last_(last) {}
  std::vector<HI::Stmt> fetches;

 protected:
  using HI::IRVisitor::visit;
  void visit(const HI::Load* load) override {
    HI::IRVisitor::visit(load);
    const auto found = wanted_.find(load->name);
    const Halide::Expr begin = begin_of(load);
    if (found == wanted_.end() || !begin.defined() || is_in_last_line(load, begin)) return;
    last_[load->name] = begin;
    for (const FetchAhead::Fetch& f : found->second) {
      const Halide::Expr element = Halide::cast<std::int64_t>(begin) + Halide::Expr(f.distance);
      fetches.push_back(fetch(f.buffer, element, load->type.element_of().bytes(), f.for_writing));
    }
  }

 private:
  bool is_in_last_line(const HI::Load* load, const Halide::Expr& begin) const {
    constexpr std::int64_t kLine = 64;
    const auto last = last_.find(load->name);
    if (last == last_.end()) return false;
    const auto off = HI::as_const_int(HI::simplify(begin - last->second));
    return off && *off >= 0 && *off * load->type.element_of().bytes() < kLine;
  }

  const FetchAhead::Fetches& wanted_;
  std::map<std::string, Halide::Expr>& last_;
};

// The vectors that a loop's body loads, each once; running sums, which stay in registers, are the
// same in each iteration.
class LoopLoads final : public HI::IRVisitor {
 public:
  explicit LoopLoads(const std::string& loop) : loop_(loop) {}
  std::vector<const HI::Load*> found;

 protected:
  using HI::IRVisitor::visit;
  void visit(const HI::Load* load) override {
    HI::IRVisitor::visit(load);
    const Halide::Expr begin = begin_of(load);
    if (!begin.defined() || !HI::expr_uses_var(begin, loop_)) return;
    for (const HI::Load* other : found) {
      if (other->name == load->name && HI::equal(other->index, load->index)) return;
    }
    found.push_back(load);
  }

 private:
  const std::string& loop_;
};

}  // namespace

HI::Stmt FetchAhead::visit(const HI::ProducerConsumer* op) {
  const auto found = op->is_producer ? stages_.find(op->name) : stages_.end();
  if (found == stages_.end()) return HI::IRMutator::visit(op);
  inside_ = &found->second;
  last_.clear();
  const HI::Stmt body = mutate(op->body);
  inside_ = nullptr;
  return HI::ProducerConsumer::make(op->name, true, body);
}

HI::Stmt FetchAhead::visit(const HI::For* loop) {
  last_.clear();
  const auto known = loops_.find(loop->name.substr(loop->name.rfind('.') + 1));
  if (known == loops_.end()) return HI::IRMutator::visit(loop);
  LoopLoads loads(loop->name);
  loop->body.accept(&loads);
  const Halide::Expr later = HI::Variable::make(Halide::Int(32), loop->name) + known->second;
  std::vector<HI::Stmt> body;
  for (const HI::Load* load : loads.found) {
    const Halide::Expr element = HI::substitute(loop->name, later, begin_of(load));
    body.push_back(fetch(load->name, element, load->type.element_of().bytes()));
  }
  body.push_back(loop->body);
  return HI::For::make(loop->name, loop->min, loop->extent, loop->for_type, loop->partition_policy,
                       loop->device_api, HI::Block::make(body));
}

std::vector<HI::Stmt> FetchAhead::fetches_of(const Halide::Expr& read) {
  Lines lines(*inside_, last_);
  read.accept(&lines);
  return std::move(lines.fetches);
}

HI::Stmt FetchAhead::visit(const HI::LetStmt* let) {
  if (inside_ == nullptr) return HI::IRMutator::visit(let);
  std::vector<HI::Stmt> all = fetches_of(let->value);
  all.push_back(HI::IRMutator::visit(let));
  return HI::Block::make(all);
}
HI::Stmt FetchAhead::visit(const HI::Store* store) {
  if (inside_ == nullptr) return store;
  std::vector<HI::Stmt> all = fetches_of(store->value);
  all.push_back(store);
  return HI::Block::make(all);
}

}  // namespace heddle::halide
