#include "heddle/backends/halide/row_blocks.h"

namespace heddle::halide {

using Halide::TailStrategy;

Func RowBlocks::products(ValueId rows, ValueId columns, const std::string& name) {
  Func packed(name + "_columns"), f(name);
  packed(lane, e_, p_, head) = b_.elements.at(columns, {head, column(p_ * r_.nr + lane), e_});
  const RDom k(0, constant(s_.depth), name + "_k");
  const Expr left = b_.elements.at(rows, {head, row_index(strip_ * r_.mr + i_), k});
  f(lane, i_, p_, strip_, block, head) = 0.f;
  f(lane, i_, p_, strip_, block, head) += left * packed(lane, k, p_, head);
  columns_.push_back(packed);
  return f;
}

Expr RowBlocks::product_at(const Func& products, const Expr& panel) const {
  return products(lane, row % r_.mr, panel, row / r_.mr, block, head);
}

Func RowBlocks::times(const Weight& weight, ValueId matrix, const std::string& name) {
  Func packed(name + "_matrix"), f(name);
  packed(lane, e_, p_, head) = b_.elements.at(matrix, {head, e_, p_ * r_.nr + lane});
  RDom k(0, constant(s_.columns), name + "_k");
  if (s_.causal) k.where(s_.by_key ? k >= block * r_.rows : k < (block + 1) * r_.rows);
  f(lane, i_, p_, strip_, block, head) = 0.f;
  f(lane, i_, p_, strip_, block, head) +=
      packed(lane, k, p_, head) * weight(k % r_.nr, k / r_.nr, strip_ * r_.mr + i_);
  matrices_.push_back(packed);
  times_.push_back(f);
  return f;
}

// By divisions alone: with a remainder, bounds inference asks for all strips.
Expr RowBlocks::times_at(const Func& times) const {
  const Expr strip = token / r_.mr, strips = r_.rows / r_.mr, of = strip / strips;
  return times(depth % r_.nr, token % r_.mr, depth / r_.nr, strip - of * strips, of, head);
}

Func RowBlocks::of_columns(ValueId v, const std::string& name) {
  Func f(name);
  f(lane, p_, head) = b_.elements.at(v, {head, column(p_ * r_.nr + lane)});
  numbers_.push_back(f);
  return f;
}

Expr RowBlocks::seen(const Expr& panel, const Expr& x, const Expr& other) const {
  const Expr c = panel * r_.nr + lane, r = block * r_.rows + row;
  const Expr inside = c < constant(s_.columns);
  const Expr causal = s_.by_key ? c >= r : c <= r;
  if (s_.causal) return select(ragged_columns() ? inside && causal : causal, x, other);
  return ragged_columns() ? select(inside, x, other) : x;
}

RDom RowBlocks::panels(const std::string& name) const {
  RDom p(0, constant(panel_count()), name);
  if (s_.causal) {
    p.where(s_.by_key ? (p + 1) * r_.nr > block * r_.rows : p * r_.nr < (block + 1) * r_.rows);
  }
  return p;
}

Expr RowBlocks::fold_lanes(const Func& f, const std::function<Expr(Expr, Expr)>& combine) const {
  std::vector<Expr> all;
  for (int l = 0; l < r_.nr; ++l) all.push_back(f(l, row, block, head));
  for (; all.size() > 1; all.resize(all.size() / 2)) {
    const std::size_t half = all.size() / 2;
    for (std::size_t l = 0; l < half; ++l) all[l] = combine(all[l], all[l + half]);
  }
  return all[0];
}

void RowBlocks::schedule_results(Func out, Func beside) {
  constexpr auto kGuard = TailStrategy::GuardWithIf;
  Var qs("qs"), qi("qi"), ds("ds"), di("di"), part("part");
  const std::int64_t blocks = (s_.rows + r_.rows - 1) / r_.rows;
  const bool cut = r_.grain < blocks;
  out_ = out;
  const auto tasks = [&](Func f) {
    if (cut) f.split(block, part, block, constant(r_.grain), kGuard).fuse(part, head, task_);
    f.parallel(task_);
  };
  if (!cut) task_ = head;
  out.split(token, block, row, r_.rows, kGuard)
      .split(row, qs, qi, r_.mr, kGuard)
      .split(depth, ds, di, r_.nr)
      .reorder(di, qi, qs, ds, block, head)
      .vectorize(di, b_.vector)
      .unroll(di)
      .unroll(qi);
  tasks(out);
  if (beside.defined()) {
    beside.split(token, block, row, r_.rows, kGuard).reorder(row, block, head);
    tasks(beside);
    beside.compute_with(out, block);
  }
  Var ei("ei");
  // Regions are said: those of causal blocks would be inferred, and may be empty.
  const Expr panels = constant(panel_count()), deep = constant(s_.depth);
  for (Func f : columns_) {  // transposed: vector loads along the depth
    f.compute_at(out, task_).bound(lane, 0, r_.nr).bound(p_, 0, panels).bound(e_, 0, deep);
    f.split(e_, e_, ei, b_.vector);
    f.reorder(ei, lane, e_, p_).vectorize(ei).unroll(lane, b_.vector);
  }
  for (Func f : numbers_) {
    f.compute_at(out, task_).bound(lane, 0, r_.nr).bound(p_, 0, panels);
    f.vectorize(lane, b_.vector);
  }
  for (Func f : matrices_) {
    f.compute_at(out, task_).bound(lane, 0, r_.nr).reorder(lane, p_, e_);
    f.bound(p_, 0, deep / r_.nr).bound(e_, 0, constant(s_.columns));
    f.vectorize(lane, b_.vector).unroll(lane);
  }
  for (Func f : times_) {
    f.compute_at(out, qs).bound(lane, 0, r_.nr).bound(i_, 0, r_.mr);
    schedule_lanes(f, f.rvars()[0], {i_});
  }
}

void RowBlocks::schedule_lanes(Func f, const Halide::RVar& over, const std::vector<Var>& between) {
  std::vector<Halide::VarOrRVar> order{lane};
  f.vectorize(lane, b_.vector).unroll(lane);
  for (const Var& v : between) {
    f.unroll(v);
    order.push_back(v);
  }
  order.push_back(over);
  f.update().reorder(order).vectorize(lane, b_.vector).unroll(lane);
  for (const Var& v : between) f.update().unroll(v);
}

void RowBlocks::schedule_strip(Func strip, const RDom& panels, const std::vector<Func>& products) {
  Var qs("qs"), qi("qi");
  strip.compute_at(out_, block).bound(lane, 0, r_.nr).bound(row, 0, r_.rows);
  strip.update()
      .split(row, qs, qi, r_.mr, TailStrategy::RoundUp)
      .reorder(lane, qi, qs, panels.x)
      .vectorize(lane, b_.vector)
      .unroll(lane)
      .unroll(qi);
  for (Func f : products) {
    f.compute_at(strip, qs).bound(lane, 0, r_.nr).bound(i_, 0, r_.mr);
    schedule_lanes(f, f.rvars()[0], {i_});
  }
}

void RowBlocks::schedule_elements(Func strip, const RDom& panels) {
  strip.compute_at(out_, block).bound(lane, 0, r_.nr).bound(row, 0, r_.rows);
  strip.update().reorder(lane, panels.x, row).vectorize(lane, b_.vector).unroll(lane);
}

void RowBlocks::schedule_fold(Func lanes, const RDom& panels, Func number) {
  at_block(number);
  lanes.compute_at(number, row).bound(lane, 0, r_.nr);
  schedule_lanes(lanes, panels.x, {});
}

void RowBlocks::at_block(Func f) { f.compute_at(out_, block).bound(row, 0, r_.rows); }

}  // namespace heddle::halide
