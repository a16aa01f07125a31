#include "heddle/backends/halide/across.h"

#include <vector>

namespace heddle::halide {

namespace HI = Halide::Internal;

using Halide::Expr;

namespace {

const HI::Ramp* ramp_of(const Expr& index) { return index.as<HI::Ramp>(); }

// Loads from one buffer at ramps of one stride, each an element behind the one before; else empty.
std::vector<const HI::Load*> loads_across(const HI::Shuffle* shuffle) {
  std::vector<const HI::Load*> loads;
  if (!shuffle->is_concat() || shuffle->vectors.size() < 2) return {};
  for (const Expr& part : shuffle->vectors) {
    const auto* load = part.as<HI::Load>();
    const HI::Ramp* ramp = load != nullptr ? ramp_of(load->index) : nullptr;
    if (ramp == nullptr || !ramp->base.type().is_scalar() || !HI::is_const_one(load->predicate)) {
      return {};
    }
    if (!loads.empty()) {
      const HI::Ramp* first = ramp_of(loads[0]->index);
      const Expr behind = HI::simplify(ramp->base - first->base);
      if (load->name != loads[0]->name || ramp->lanes != first->lanes ||
          !HI::equal(ramp->stride, first->stride) ||
          !HI::is_const(behind, static_cast<std::int64_t>(loads.size())))
        return {};
    }
    loads.push_back(load);
  }
  return loads;
}

// The places of a store to several runs of neighbours, equally long; else empty.
std::vector<Expr> runs_of(const Expr& index) {
  const auto* shuffle = index.as<HI::Shuffle>();
  if (shuffle == nullptr || !shuffle->is_concat()) return {};
  for (const Expr& part : shuffle->vectors) {
    const HI::Ramp* ramp = ramp_of(part);
    if (ramp == nullptr || !HI::is_const_one(ramp->stride) || !ramp->base.type().is_scalar() ||
        ramp->lanes != shuffle->vectors[0].type().lanes())
      return {};
  }
  return shuffle->vectors;
}

}  // namespace

Expr BlocksAcross::visit(const HI::Shuffle* shuffle) {
  const std::vector<const HI::Load*> loads = loads_across(shuffle);
  if (loads.empty()) return HI::IRMutator::visit(shuffle);
  const HI::Load* first = loads[0];
  const HI::Ramp* ramp = ramp_of(first->index);
  const int neighbours = static_cast<int>(loads.size());
  std::vector<Expr> rows;
  for (int i = 0; i < ramp->lanes; ++i) {
    const Expr index = HI::Ramp::make(HI::simplify(ramp->base + ramp->stride * i),
                                      HI::make_one(ramp->base.type()), neighbours);
    rows.push_back(HI::Load::make(first->type.with_lanes(neighbours), first->name, index,
                                  first->image, first->param, HI::const_true(neighbours), {}));
  }
  return HI::Shuffle::make_interleave(rows);
}

// Halide stores to anything but one run element by element.
HI::Stmt BlocksAcross::visit(const HI::Store* store) {
  const std::vector<Expr> runs = runs_of(store->index);
  if (runs.empty() || !HI::is_const_one(store->predicate)) return HI::IRMutator::visit(store);
  const std::string name = HI::unique_name("block");
  const Expr block = HI::Variable::make(store->value.type(), name);
  const int lanes = runs[0].type().lanes();
  std::vector<HI::Stmt> stores;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Expr part = HI::Shuffle::make_slice(block, static_cast<int>(i) * lanes, 1, lanes);
    stores.push_back(
        HI::Store::make(store->name, part, runs[i], store->param, HI::const_true(lanes), {}));
  }
  return HI::LetStmt::make(name, mutate(store->value), HI::Block::make(stores));
}

}  // namespace heddle::halide
