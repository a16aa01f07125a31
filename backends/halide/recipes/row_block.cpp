// Attention for a block of queries: its scores, their maximum, shares and sum, then the shares
// times the values. Its gradient computes scores again from the logsumexp: for blocks of keys the
// cotangents of keys and values, to which the whole gradient adds what each block gives the
// queries; else for blocks of queries those of the queries.
#include <limits>

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/math.h"
#include "heddle/backends/halide/row_blocks.h"
#include "heddle/graph/operation.h"

namespace heddle::halide {
namespace {

// All of a strip's places, of which an update fills those that are seen.
Func empty_strip(const RowBlocks& r, const std::string& name, std::size_t values) {
  Func f(name);
  Var p("p");
  define(f, {r.lane, p, r.row, r.block, r.head}, std::vector<Expr>(values, Halide::undef<float>()));
  return f;
}

void add_output(KernelBuilder& b, Func f, std::vector<Var> args, std::vector<std::size_t> ports) {
  const Extents extents = b.elements.extents(b.kernel.body.outputs[ports[0]].value);
  b.add_group({f, extents, std::move(args), std::move(ports)});
}

// One instruction. It leaves out NaN, whose share, and so the row's sum, is NaN all the same.
Expr larger_number(const Expr& a, const Expr& b) { return select(less(a, b), b, a); }

void attention(KernelBuilder& b, RowBlocks& r, const Node& node, float scale) {
  const ValueId q = node.operands[0], k = node.operands[1], v = node.operands[2];
  const float infinity = std::numeric_limits<float>::infinity();
  const Func score = r.products(q, k, "score");
  Func scores = empty_strip(r, "scores", 1), shares = empty_strip(r, "shares", 1);
  Func mosts("mosts"), most("most"), sums("sums"), sum("sum"), over("over");
  const RDom ps = r.panels("ps"), pm = r.panels("pm"), pe = r.panels("pe"), pt = r.panels("pt");
  const auto at = [&](const Func& f, const Expr& p) {
    return Expr(f(r.lane, p, r.row, r.block, r.head));
  };
  scores(r.lane, ps, r.row, r.block, r.head) = r.product_at(score, ps);
  mosts(r.lane, r.row, r.block, r.head) = -infinity;
  const Expr so_far = mosts(r.lane, r.row, r.block, r.head);
  mosts(r.lane, r.row, r.block, r.head) =
      larger_number(so_far, r.seen(pm, at(scores, pm), -infinity));
  r.fold_lanes(mosts, larger_number, most);
  const Expr below = exact_sub(at(scores, pe), most(r.row, r.block, r.head));
  shares(r.lane, pe, r.row, r.block, r.head) = r.seen(pe, math::exp(exact_mul(below, scale)), 0.f);
  sums(r.lane, r.row, r.block, r.head) = 0.f;
  sums(r.lane, r.row, r.block, r.head) =
      exact_add(sums(r.lane, r.row, r.block, r.head), at(shares, pt));
  r.fold_lanes(sums, exact_add, sum);
  over(r.row, r.block, r.head) = exact_div(1.f, sum(r.row, r.block, r.head));
  const Func product =
      r.times([&](const Expr& lane, const Expr& panel,
                  const Expr& row) { return Expr(shares(lane, panel, row, r.block, r.head)); },
              v, "product");
  Func out("y0"), logsumexp("y1");
  out(r.depth, r.token, r.head) = exact_mul(r.times_at(product), over(r.row_of_token()));
  logsumexp(r.token, r.head) =
      exact_add(exact_mul(most(r.row_of_token()), scale), math::log(sum(r.row_of_token())));
  add_output(b, out, {r.head, r.token, r.depth}, {0});
  add_output(b, logsumexp, {r.head, r.token}, {1});
  r.schedule_results(out, logsumexp);
  r.schedule_strip(scores, ps, {score});
  r.schedule_fold(mosts, pm, most);
  r.schedule_elements(shares, pe);
  r.schedule_fold(sums, pt, sum);
  r.at_block(over).vectorize(r.row, b.vector, Halide::TailStrategy::GuardWithIf);
}

// A block of keys has its own cotangents, and adds to those of all queries.
void whole_gradient(KernelBuilder& b, RowBlocks& r, const RowBlocks::Weight& change,
                    const RowBlocks::Weight& share, const Node& node) {
  const Func key = r.times(change, node.operands[0], "product0");
  const Func value = r.times(share, node.operands[4], "product1");
  const Func query = r.times_rows(change, node.operands[1], "product2");
  Func out("y0"), queries("y1");
  r.define_by_blocks(out, {key, value}, queries, query);
  add_output(b, out, {r.head, r.token, r.depth}, {1, 2});
  add_output(b, queries, {r.head, r.token, r.depth}, {0});
  r.schedule_blocks(out, queries, query);
}

// The share of each pair, and the cotangent of its product.
void attention_gradient(KernelBuilder& b, RowBlocks& r, const Node& node, float scale,
                        bool by_key) {
  const ValueId q = node.operands[0], k = node.operands[1], v = node.operands[2];
  const ValueId lse = node.operands[3], d = node.operands[4], delta = node.operands[5];
  const Func score = by_key ? r.products(k, q, "score") : r.products(q, k, "score");
  const Func drive = by_key ? r.products(v, d, "drive") : r.products(d, v, "drive");
  const RDom ps = r.panels("ps");
  Expr own_lse, own_delta;
  if (by_key) {
    own_lse = r.of_columns(lse, "lse")(r.lane, ps, r.head);
    own_delta = r.of_columns(delta, "delta")(r.lane, ps, r.head);
  } else {
    own_lse = r.of_row(lse), own_delta = r.of_row(delta);
  }
  const Expr scaled = exact_mul(r.product_at(score, ps), scale);
  const Expr share = r.seen(ps, math::exp(exact_sub(scaled, own_lse)), 0.f);
  const Expr change =
      exact_mul(exact_mul(share, exact_sub(r.product_at(drive, ps), own_delta)), scale);
  Func strip = empty_strip(r, "strip", by_key ? 2 : 1);
  define(strip, {r.lane, ps, r.row, r.block, r.head},
         by_key ? std::vector<Expr>{change, share} : std::vector<Expr>{change});
  const auto weight = [&](int value) {
    return [&r, strip, value, by_key](const Expr& lane, const Expr& panel, const Expr& row) {
      const Halide::FuncRef place = strip(lane, panel, row, r.block, r.head);
      return by_key ? Expr(place[value]) : Expr(place);
    };
  };
  if (node.op == &op_attention_gradient) {
    whole_gradient(b, r, weight(0), weight(1), node);
  } else {
    std::vector<Expr> results{r.times_at(r.times(weight(0), by_key ? q : k, "product0"))};
    if (by_key) results.push_back(r.times_at(r.times(weight(1), d, "product1")));
    Func out("y0");
    define(out, {r.depth, r.token, r.head}, results);
    add_output(b, out, {r.head, r.token, r.depth},
               by_key ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{0});
    r.schedule_results(out, Func());
  }
  r.schedule_strip(strip, ps, {score, drive});
}

}  // namespace

void apply(KernelBuilder& b, const RowBlock& recipe) {
  const Node& node = b.kernel.body.nodes.back();
  const RowBlockShape shape = row_block_shape(b.kernel.body, node);
  RowBlocks blocks(b, recipe, shape);
  const auto scale = static_cast<float>(shape.scale);
  if (node.op == &op_attention) return attention(b, blocks, node, scale);
  attention_gradient(b, blocks, node, scale, shape.by_key);
}

}  // namespace heddle::halide
