// The loops over blocks of rows, and what is computed where in them.
#include "heddle/backends/halide/row_blocks.h"

namespace heddle::halide {

using Halide::TailStrategy;

void RowBlocks::schedule_results(Func out, Func beside) {
  constexpr auto kGuard = TailStrategy::GuardWithIf;
  Var qs("qs"), qi("qi"), ds("ds"), di("di"), part("part");
  const bool cut = r_.grain < block_count();
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
    beside.vectorize(row, b_.vector, kGuard);
    tasks(beside);
    beside.compute_with(out, block);
  }
  schedule_operands();
}

// What a block adds to sums is added right after its own results.
void RowBlocks::schedule_blocks(Func out, Func sums, Func of_columns) {
  Var qs("qs"), qi("qi"), ds("ds"), di("di");
  RVar rs("qs"), ri("qi"), by_block("block");
  out_ = out;
  task_ = head;
  Halide::Stage own = out.update(), added = sums.update();
  for (Halide::Stage* s : {&own, &added}) {
    s->rename(blocks_, by_block).split(depth, ds, di, r_.nr).parallel(head);
  }
  own.split(rows_, rs, ri, r_.mr).reorder({di, ri, rs, ds, by_block, head}).unroll(ri);
  added.split(token, qs, qi, r_.mr, TailStrategy::GuardWithIf)
      .reorder({di, qi, once_, ds, qs, by_block, head})
      .unroll(qi);
  for (Halide::Stage* s : {&own, &added}) s->vectorize(di, b_.vector).unroll(di);
  added.compute_with(own, block);
  sums.vectorize(depth, b_.vector).parallel(head);
  of_columns.compute_at(sums, ds).bound(lane, 0, r_.nr).bound(i_, 0, r_.mr);
  schedule_lanes(of_columns, of_columns.rvars()[0], {i_});
  schedule_operands();
}

void RowBlocks::schedule_operands() {
  Var ei("ei"), qs("qs");
  // Regions are said: those of causal blocks would be inferred, and may be empty.
  const Expr panels = constant(panel_count()), deep = constant(s_.depth);
  for (Func f : columns_) {  // transposed: vector loads along the depth
    f.compute_at(out_, task_).bound(lane, 0, r_.nr).bound(p_, 0, panels).bound(e_, 0, deep);
    f.split(e_, e_, ei, b_.vector);
    f.reorder(ei, lane, e_, p_).vectorize(ei).unroll(lane, b_.vector);
  }
  for (Func f : numbers_) {
    f.compute_at(out_, task_).bound(lane, 0, r_.nr).bound(p_, 0, panels);
    f.vectorize(lane, b_.vector);
  }
  const auto matrix = [&](Func f, std::int64_t tokens) {
    f.compute_at(out_, task_).bound(lane, 0, r_.nr).reorder(lane, p_, e_);
    f.bound(p_, 0, deep / r_.nr).bound(e_, 0, constant(tokens));
    f.vectorize(lane, b_.vector).unroll(lane);
  };
  for (const Func& f : matrices_) matrix(f, s_.columns);
  for (const Func& f : row_matrices_) matrix(f, s_.rows);
  for (Func f : times_) {
    f.compute_at(out_, qs).bound(lane, 0, r_.nr).bound(i_, 0, r_.mr);
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

Func RowBlocks::at_block(Func f) { return f.compute_at(out_, block).bound(row, 0, r_.rows); }

}  // namespace heddle::halide
