#include "heddle/backends/halide/gpu/whole_updates.h"

#include <set>

namespace heddle::halide::gpu {

namespace HI = Halide::Internal;
using Halide::Expr;

namespace {

void flatten(const HI::Stmt& s, std::vector<HI::Stmt>& parts) {
  if (const auto* block = s.as<HI::Block>()) {
    flatten(block->first, parts), flatten(block->rest, parts);
  } else {
    parts.push_back(s);
  }
}

// Definitions and stores in their order.
struct Sequence {
  std::vector<std::pair<std::string, Halide::Expr>> lets;
  std::vector<const HI::Store*> stores;
};

// Appends what `s` does; false when it does anything else.
bool append(const HI::Stmt& s, Sequence& sequence) {
  if (const auto* let = s.as<HI::LetStmt>()) {
    sequence.lets.emplace_back(let->name, let->value);
    return append(let->body, sequence);
  }
  if (const auto* block = s.as<HI::Block>()) {
    return append(block->first, sequence) && append(block->rest, sequence);
  }
  const auto* store = s.as<HI::Store>();
  if (store == nullptr) return false;
  sequence.lets.emplace_back(store->name + ".value", store->value);
  sequence.stores.push_back(store);
  return true;
}

// All values, then all stores.
HI::Stmt together(const Sequence& sequence) {
  std::vector<HI::Stmt> stores;
  for (const HI::Store* s : sequence.stores) {
    const Expr value = HI::Variable::make(s->value.type(), s->name + ".value");
    stores.push_back(
        HI::Store::make(s->name, value, s->index, s->param, s->predicate, s->alignment));
  }
  HI::Stmt result = HI::Block::make(stores);
  for (std::size_t i = sequence.lets.size(); i-- > 0;) {
    result = HI::LetStmt::make(sequence.lets[i].first, sequence.lets[i].second, result);
  }
  return result;
}

}  // namespace

bool WholeUpdates::is_one_update(const std::vector<const HI::Store*>& stores) const {
  std::set<std::string> seen;
  for (const HI::Store* s : stores) {
    const auto found = tuple_of_.find(s->name), first = tuple_of_.find(stores[0]->name);
    if (found == tuple_of_.end() || found->second != first->second) return false;
    if (!seen.insert(s->name).second) return false;
  }
  return true;
}

HI::Stmt WholeUpdates::visit(const HI::Block* op) {
  std::vector<HI::Stmt> parts, result;
  flatten(op, parts);
  for (std::size_t i = 0; i < parts.size();) {
    Sequence sequence;
    std::size_t end = i;
    for (Sequence next; end < parts.size(); ++end, sequence = next) {
      next = sequence;
      if (!append(parts[end], next) || !is_one_update(next.stores)) break;
    }
    if (sequence.stores.size() > 1) {
      result.push_back(together(sequence));
      i = end;
    } else {
      result.push_back(mutate(parts[i++]));
    }
  }
  return HI::Block::make(result);
}

}  // namespace heddle::halide::gpu
