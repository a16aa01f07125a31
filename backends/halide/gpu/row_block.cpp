// Attention and the halves of its gradient in tiles of rows and columns: scores are never stored.
#include <limits>

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/row_tiles.h"
#include "heddle/backends/halide/math.h"
#include "heddle/graph/operation.h"

namespace heddle::halide::gpu {
namespace {

constexpr int kSide = RowTiles::kSide;

std::int64_t width_of(const KernelBuilder& b, ValueId matrix) {
  return b.kernel.body.type(matrix).dims[2].constant();
}

void add_output(KernelBuilder& b, const Func& f, std::vector<Var> args, std::size_t port) {
  b.add_group({f, b.elements.extents(b.kernel.body.outputs[port].value), std::move(args), {port}});
}

// One launch. The tiles' parts of a row are put together by their greatest scores: of what there
// was and what a tile adds, the part with the lesser one counts less, by the exponential of their
// distance.
class Attention {
 public:
  Attention(KernelBuilder& b, const Node& node, const RowBlockShape& shape)
      : b_(b),
        t_(b, shape, "0", width_of(b, node.operands[2])),
        scale_(static_cast<float>(shape.scale)),
        dtype_(b.elements.type(node.operands[0]).dtype),
        product_(t_.products(node.operands[0], node.operands[1], "score")) {
    define_shares();
    value_ = t_.times(share_, node.operands[2]);
  }

  void launch() {
    const int places = values + t_.own_places();
    const RDom steps = t_.steps(places);
    define_kept(steps);
    t_.schedule_kept(kept_, steps, places);
    t_.schedule_fold(own_top_, top_);
    t_.schedule_tile(share_);
    t_.schedule_fold(own_sum_, sum_);
    add_results();
  }

 private:
  // What a thread keeps of a row, in the order of its steps: the lesser part's factor, those of
  // both parts, the greatest score, the sum of the shares, and the sums of its columns.
  enum Place { factor, of_kept, of_added, greatest, total, values };
  using Combine = std::function<Expr(Expr, Expr)>;

  Expr score(const Expr& r, const Expr& c) const {
    return exact_mul(product_(r, c, t_.columns), scale_);
  }
  Expr least() const { return std::numeric_limits<float>::lowest(); }
  static Expr fold(int count, const std::function<Expr(int)>& at, const Combine& combine) {
    Expr all = at(0);
    for (int x = 1; x < count; ++x) all = combine(all, at(x));
    return all;
  }

  // Of a tile's columns for each row: first each thread's own.
  void define_fold(Func own, Func all, const std::function<Expr(const Expr& c)>& at,
                   const Combine& combine) {
    own(t_.nx, t_.r, t_.columns, t_.rows, t_.head) = fold(
        t_.own_columns(), [&](int x) { return at(t_.own_column(x)); }, combine);
    all(t_.r, t_.columns, t_.rows, t_.head) = fold(
        kSide, [&](int x) { return Expr(own(x, t_.r, t_.columns, t_.rows, t_.head)); }, combine);
  }

  void define_shares() {
    define_fold(
        own_top_, top_, [&](const Expr& c) { return t_.seen(t_.r, c, score(t_.r, c), least()); },
        larger);
    const Expr less = exact_sub(score(t_.r, t_.c), top_(t_.r, t_.columns, t_.rows, t_.head));
    share_(t_.c, t_.r, t_.columns, t_.rows, t_.head) = t_.seen(t_.r, t_.c, math::exp(less), 0.f);
    define_fold(
        own_sum_, sum_,
        [&](const Expr& c) { return Expr(share_(c, t_.r, t_.columns, t_.rows, t_.head)); },
        exact_add);
  }

  Expr now(const Expr& place) const { return kept_(place, t_.i, t_.nx, t_.mx, t_.rows, t_.head); }
  Expr joined(const Expr& kept, const Expr& added) const {
    return exact_add(exact_mul(kept, now(of_kept)), exact_mul(added, now(of_added)));
  }

  void define_kept(const RDom& steps) {
    kept_(t_.place, t_.i, t_.nx, t_.mx, t_.rows, t_.head) =
        select(t_.place == greatest, least(), 0.f);
    const Expr row = t_.own_row(), tile = steps.y, one = 1.f;
    const Expr before = now(greatest), here = top_(row, tile, t_.rows, t_.head);
    const Expr rises = less(before, here);
    const Expr column = t_.own_column(clamp(steps.x - values, 0, t_.own_places() - 1));
    kept_(steps.x, t_.i, t_.nx, t_.mx, t_.rows, t_.head) = mux(
        steps.x, {math::exp(exact_sub(select(rises, before, here), select(rises, here, before))),
                  select(rises, now(factor), one), select(rises, one, now(factor)),
                  larger(before, here), joined(now(total), sum_(row, tile, t_.rows, t_.head)),
                  joined(now(steps.x), value_(row, column, tile))});
  }

  void add_results() {
    Func out("y0"), logsumexp("y1");
    const Expr place = values + t_.depth / kSide, thread = t_.depth % kSide;
    out(t_.depth, t_.token, t_.head) =
        stored(exact_div(t_.kept(kept_, place, thread), t_.kept(kept_, total, thread)));
    logsumexp(t_.token, t_.head) =
        stored(exact_add(t_.kept(kept_, greatest, 0), math::log(t_.kept(kept_, total, 0))));
    add_output(b_, out, {t_.head, t_.token, t_.depth}, 0);
    add_output(b_, logsumexp, {t_.head, t_.token}, 1);
    t_.schedule_results(out, logsumexp);
  }
  Expr stored(const Expr& x) const { return to_storage(rounded(x, dtype_), dtype_); }

  KernelBuilder& b_;
  RowTiles t_;
  const Expr scale_;
  const DType dtype_;
  const RowTiles::At product_;
  RowTiles::At value_;
  Func own_top_{"own_top"}, top_{"top"}, share_{"share"}, own_sum_{"own_sum"}, sum_{"sum"};
  Func kept_{"kept"};
};

// One launch for each result: weights of all pairs, a tile at a time, times a matrix. A weight is
// the pair's share, by the logsumexp, or the cotangent of its product.
class AttentionGradient {
 public:
  AttentionGradient(KernelBuilder& b, const Node& node, const RowBlockShape& shape, ValueId matrix,
                    std::size_t port)
      : b_(b),
        node_(node),
        by_key_(shape.by_key),
        scale_(static_cast<float>(shape.scale)),
        matrix_(matrix),
        port_(port),
        name_(std::to_string(port)),
        t_(b, shape, name_, width_of(b, matrix)) {}

  void launch(bool cotangents) {
    weights_(t_.c, t_.r, t_.columns, t_.rows, t_.head) =
        t_.seen(t_.r, t_.c, cotangents ? cotangent() : share(), 0.f);
    const RowTiles::At added = t_.times(weights_, matrix_);
    const RDom steps = t_.steps(t_.own_places());
    kept_(t_.place, t_.i, t_.nx, t_.mx, t_.rows, t_.head) = 0.f;
    kept_(steps.x, t_.i, t_.nx, t_.mx, t_.rows, t_.head) =
        exact_add(kept_(steps.x, t_.i, t_.nx, t_.mx, t_.rows, t_.head),
                  added(t_.own_row(), t_.own_column(steps.x), steps.y));
    t_.schedule_kept(kept_, steps, t_.own_places());
    t_.schedule_tile(weights_);
    add_result();
  }

 private:
  // queries times keys, whichever the rows are.
  Expr product(std::size_t queries, std::size_t keys, const std::string& name) {
    const ValueId q = node_.operands[queries], k = node_.operands[keys];
    return (by_key_ ? t_.products(k, q, name) : t_.products(q, k, name))(t_.r, t_.c, t_.columns);
  }
  Expr of_query(std::size_t operand) const {
    return by_key_ ? t_.of_column(node_.operands[operand]) : t_.of_row(node_.operands[operand]);
  }

  Expr share() {
    return math::exp(exact_sub(exact_mul(product(0, 1, "score"), scale_), of_query(3)));
  }
  Expr cotangent() {
    const Expr drive = exact_sub(product(4, 2, "drive"), of_query(5));
    return exact_mul(exact_mul(share(), drive), scale_);
  }

  void add_result() {
    Func out("y" + name_);
    const DType dtype = b_.elements.type(matrix_).dtype;
    const Expr x = t_.kept(kept_, t_.depth / kSide, t_.depth % kSide);
    out(t_.depth, t_.token, t_.head) = to_storage(rounded(x, dtype), dtype);
    add_output(b_, out, {t_.head, t_.token, t_.depth}, port_);
    t_.schedule_results(out, Func());
  }

  KernelBuilder& b_;
  const Node& node_;
  const bool by_key_;
  const Expr scale_;
  const ValueId matrix_;
  const std::size_t port_;
  const std::string name_;
  RowTiles t_;
  Func weights_{"weights" + name_}, kept_{"kept" + name_};
};

}  // namespace

void apply_row_block(KernelBuilder& b) {
  const Node& node = b.kernel.body.nodes.back();
  const RowBlockShape shape = row_block_shape(b.kernel.body, node);
  if (node.op == &op_attention) return Attention(b, node, shape).launch();
  const auto gradient = [&](std::size_t matrix, std::size_t port, bool cotangents) {
    AttentionGradient(b, node, shape, node.operands[matrix], port).launch(cotangents);
  };
  if (!shape.by_key) return gradient(1, 0, true);
  gradient(0, 0, true);
  gradient(4, 1, false);
}

}  // namespace heddle::halide::gpu
