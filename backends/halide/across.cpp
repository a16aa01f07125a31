#include "heddle/backends/halide/across.h"

#include <array>
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

constexpr int kFour = 4;

// Neighbours in four rows of those that a load across reads, each of the vector's fours another's.
Expr row_fours(const HI::Load& across, int first) {
  const HI::Ramp& ramp = *ramp_of(across.index);
  std::vector<Expr> fours;
  for (int row = first; row < ramp.lanes; row += kFour) {
    const Expr index = HI::Ramp::make(HI::simplify(ramp.base + ramp.stride * row),
                                      HI::make_one(ramp.base.type()), kFour);
    fours.push_back(HI::Load::make(across.type.with_lanes(kFour), across.name, index, across.image,
                                   across.param, HI::const_true(kFour), {}));
  }
  return fours.size() == 1 ? fours[0] : HI::Shuffle::make_concat(fours);
}

// Of each four of a and the four of b at its side (4 to 7), those elements.
Expr of_fours(const Expr& a, const Expr& b, const std::array<int, kFour>& elements) {
  const int lanes = a.type().lanes();
  std::vector<int> indices;
  for (int four = 0; four < lanes; four += kFour) {
    for (const int e : elements) indices.push_back(four + (e < kFour ? e : lanes + e - kFour));
  }
  return HI::Shuffle::make({a, b}, indices);
}

// What four loads across would give, the first of which is that: 4 x 4 elements are turned around
// within each 16 bytes of a register, by instructions that every machine has. (Of one interleaving
// of all rows LLVM makes three times as many.)
std::array<Expr, kFour> four_columns(const HI::Load& across) {
  const Expr row0 = row_fours(across, 0), row1 = row_fours(across, 1), row2 = row_fours(across, 2),
             row3 = row_fours(across, 3);
  const std::array<int, kFour> low{0, 4, 1, 5}, high{2, 6, 3, 7}, begin{0, 1, 4, 5},
      end{2, 3, 6, 7};
  const Expr low01 = of_fours(row0, row1, low), low23 = of_fours(row2, row3, low);
  const Expr high01 = of_fours(row0, row1, high), high23 = of_fours(row2, row3, high);
  return {of_fours(low01, low23, begin), of_fours(low01, low23, end),
          of_fours(high01, high23, begin), of_fours(high01, high23, end)};
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
  if (loads.empty() || loads.size() % kFour != 0 || loads[0]->type.lanes() % kFour != 0)
    return HI::IRMutator::visit(shuffle);
  std::vector<Expr> columns;
  for (std::size_t first = 0; first < loads.size(); first += kFour) {
    for (const Expr& column : four_columns(*loads[first])) columns.push_back(column);
  }
  return HI::Shuffle::make_concat(columns);
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
