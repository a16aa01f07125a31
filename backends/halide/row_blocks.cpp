#include "heddle/backends/halide/row_blocks.h"

namespace heddle::halide {

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

Func RowBlocks::times_rows(const Weight& weight, ValueId matrix, const std::string& name) {
  Func packed(name + "_matrix"), f(name);
  packed(lane, e_, p_, head) = b_.elements.at(matrix, {head, e_, p_ * r_.nr + lane});
  RDom k(0, constant(r_.rows), name + "_k");
  if (ragged_rows()) k.where(block * r_.rows + k < constant(s_.rows));
  if (s_.causal) k.where(block * r_.rows + k < (strip_ + 1) * r_.mr);  // else nothing is there
  const Expr c = strip_ * r_.mr + i_;
  f(lane, i_, p_, strip_, block, head) = 0.f;
  f(lane, i_, p_, strip_, block, head) +=
      packed(lane, in_block(block, k), p_, head) * weight(c % r_.nr, c / r_.nr, k);
  row_matrices_.push_back(packed);
  return f;
}

// Loops that are fused have one name, and are of reductions: those over the blocks of both domains.
void RowBlocks::define_by_blocks(Func out, const std::vector<Func>& of_rows, Func sums,
                                 const Func& of_columns) {
  const Expr blocks = constant(block_count());
  const RDom rows(0, r_.rows, 0, blocks, "blocks"), all(0, 1, 0, blocks, "blocks");
  std::vector<Expr> values;
  for (const Func& f : of_rows) {
    values.push_back(f(depth % r_.nr, rows.x % r_.mr, depth / r_.nr, rows.x / r_.mr, rows.y, head));
  }
  define(out, {depth, token, head}, std::vector<Expr>(values.size(), Halide::undef<float>()));
  define(out, {depth, in_block(rows.y, rows.x), head}, values);
  sums(depth, token, head) = 0.f;
  sums(depth, token, head) +=
      of_columns(depth % r_.nr, token % r_.mr, depth / r_.nr, token / r_.mr, all.y, head);
  rows_ = rows.x;
  once_ = all.x;
  blocks_ = all.y;
}

Func RowBlocks::of_columns(ValueId v, const std::string& name) {
  Func f(name);
  f(lane, p_, head) = b_.elements.at(v, {head, column(p_ * r_.nr + lane)});
  numbers_.push_back(f);
  return f;
}

// Rows past the end see what the last one sees: results by blocks store them over it.
Expr RowBlocks::seen(const Expr& panel, const Expr& x, const Expr& other) const {
  const Expr c = panel * r_.nr + lane, r = row_index(row);
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

// Vectors into one, that into halves: Funcs, for vectors are what is stored.
void RowBlocks::fold_lanes(const Func& f, const std::function<Expr(Expr, Expr)>& combine,
                           Func number) {
  const auto at = [&](const Func& from, const Expr& l) { return from(l, row, block, head); };
  Func one(f.name() + "_one");
  Expr all = at(f, lane);
  for (int l = b_.vector; l < r_.nr; l += b_.vector) all = combine(all, at(f, lane + l));
  one(lane, row, block, head) = all;
  one.compute_at(number, row).bound(lane, 0, b_.vector).vectorize(lane);
  for (int half = b_.vector / 2; half > 1; half /= 2) {
    Func next(f.name() + "_" + std::to_string(half));
    next(lane, row, block, head) = combine(at(one, lane), at(one, lane + half));
    next.compute_at(number, row).bound(lane, 0, half).vectorize(lane);
    one = next;
  }
  number(row, block, head) = combine(at(one, 0), at(one, 1));
}

}  // namespace heddle::halide
