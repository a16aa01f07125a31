// Contractions in register tiles. The tile is a Func of its own, `mr` rows by `nr` columns at one
// iteration of the output's tile loops; operands reach it in place or through packed panels
// (element in the tile, inner index, tile). Ragged edges read clamped rows and columns into a whole
// tile, and the store is guarded.
#include <algorithm>
#include <numeric>

#include "heddle/backends/halide/dot_operands.h"
#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {
namespace {

class Tiles {
 public:
  Tiles(KernelBuilder& b, ValueId dot, const Contract& c)
      : b_(b),
        c_(c),
        dot_(b.elements, dot),
        dtype_(b.elements.type(dot).dtype),
        vector_(std::gcd(b.lanes_of(dot), c.nr)),
        name_(std::to_string(dot.index)),
        prod_("prod" + name_),
        lhs_("lhs" + name_),
        rhs_("rhs" + name_) {
    define_funcs();
  }

  /// Element of the product; batch indices flattened.
  Expr at(const Expr& batch, const Expr& row, const Expr& column) const {
    return rounded(prod_(column % c_.nr, row % c_.mr, column / c_.nr, row / c_.mr, batch), dtype_);
  }

  /// `out` is a Func over (column, row, batch ...).
  void schedule(Func out, Var m, Var n, std::vector<Var> batch) {
    Var mo("mo"), no("no"), mi("mi"), ni("ni"), task("task"), all("all");
    out.split(n, no, ni, c_.nr, tail(this->n(), c_.nr))
        .split(m, mo, mi, c_.mr, tail(this->m(), c_.mr));
    Var outer = c_.columns_outer ? no : mo;
    const Var mid = c_.columns_outer ? mo : no;
    std::vector<Halide::VarOrRVar> order{ni, mi, mid, outer};
    Extent tiles = c_.columns_outer ? ceil_div(this->n(), c_.nr) : ceil_div(this->m(), c_.mr);
    if (c_.columns_outer && c_.panels > 1) {
      Var group("group");
      out.split(no, group, no, c_.panels, tail(tiles, c_.panels));
      order.push_back(group);
      outer = group;
      tiles = ceil_div(tiles, c_.panels);
    }
    order.insert(order.end(), batch.begin(), batch.end());
    out.reorder(order).vectorize(ni, vector_).unroll(ni);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      Var fused("tiles" + std::to_string(i));
      out.fuse(outer, batch[i], fused);
      outer = fused;
    }
    if (!batch.empty()) tiles = tiles * dot_.batches();
    if (!tiles.at_most(c_.grain)) {
      Var own("tile");
      out.split(outer, task, own, constant(c_.grain), tail(tiles, c_.grain)).parallel(task);
      outer = own;
    }
    if (is_symbolic(b_.kernel.body)) {  // one tile of code, its stores guarded
      out.partition(outer, Halide::Partition::Never).partition(mid, Halide::Partition::Never);
    }
    prod_.compute_at(out, mid).bound_extent(j_, c_.nr).bound_extent(i_, c_.mr);
    prod_.vectorize(j_, vector_).unroll(j_).unroll(i_);
    prod_.update().reorder(j_, i_, k_).vectorize(j_, vector_).unroll(j_).unroll(i_);
    pack(rhs_, j_, c_.rhs, c_.nr, this->n(), dot_.rhs_contiguous(), out,
         c_.columns_outer ? outer : mid);
    pack(lhs_, i_, c_.lhs, c_.mr, this->m(), dot_.lhs_contiguous(), out,
         c_.columns_outer ? mid : outer);
  }

 private:
  Extent m() const { return dot_.m(); }
  Extent n() const { return dot_.n(); }
  Extent k() const { return dot_.k(); }

  // Rows and columns past the edge are copies of the last one. Likely: the loops over whole tiles
  // get code of their own, with plain vector loads.
  static Expr edge(const Expr& i, const Extent& extent, std::int64_t factor) {
    return extent.divisible_by(factor) ? i : min(likely(i), constant(extent - 1));
  }
  Expr left(const Expr& batch, const Expr& row, const Expr& inner) const {
    return dot_.left(batch, edge(row, m(), c_.mr), inner);
  }
  Expr right(const Expr& batch, const Expr& column, const Expr& inner) const {
    // Columns of several symbolic axes are found by divisions: no plain loads to be had.
    const bool divided = dot_.is_conv() && dot_.shape().columns.size() > 1 && !n().is_constant();
    return dot_.right(
        batch, divided ? min(column, constant(n() - 1)) : edge(column, n(), c_.nr * c_.panels),
        inner);
  }

  void define_funcs() {
    k_ = RDom(0, constant(k()), "k" + name_);
    lhs_(i_, q_, io_, bt_) = left(bt_, io_ * c_.mr + i_, q_);
    rhs_(j_, q_, jo_, bt_) = right(bt_, jo_ * c_.nr + j_, q_);
    const Expr a = c_.lhs == Pack::none ? left(dot_.left_batch(bt_), io_ * c_.mr + i_, k_)
                                        : Expr(lhs_(i_, k_, io_, dot_.left_batch(bt_)));
    const Expr x =
        c_.rhs == Pack::none ? right(bt_, jo_ * c_.nr + j_, k_) : Expr(rhs_(j_, k_, jo_, bt_));
    prod_(j_, i_, jo_, io_, bt_) = Halide::Internal::make_zero(a.type());
    const Expr sum = prod_(j_, i_, jo_, io_, bt_);
    define_over(k_, prod_, {j_, i_, jo_, io_, bt_},
                {a.type().is_float() ? sum + a * x : exact_add(sum, exact_mul(a, x))});
  }

  void pack(Func f, Var free, Pack kind, int width, const Extent& extent, bool contiguous, Func out,
            Var at) {
    if (kind == Pack::none) return;
    f.bound_extent(free, width);
    if (kind == Pack::panel) {
      f.compute_at(out, at);
    } else {
      f.compute_root();
      const std::int64_t hinted = free.same_as(j_) ? dot_.shape().n() : dot_.shape().m();
      const double bytes =
          static_cast<double>(hinted) * static_cast<double>(dot_.shape().k()) * 4.0;
      const Extent panels = ceil_div(extent, width);
      const std::int64_t grain = choose_grain(bytes * 0.15, (hinted + width - 1) / width);
      Var panel = f.args()[2], task("task"), own("panel");
      if (!panels.at_most(grain)) {
        f.split(panel, task, own, constant(grain), tail(panels, grain)).parallel(task);
      }
    }
    if (contiguous) {
      if (width % vector_ == 0) f.vectorize(free, vector_);
      f.unroll(free);
      if (kind == Pack::panel && c_.panels > 1) f.reorder(free, f.args()[2], q_);
    } else {  // transposing: vector loads along k, scattered stores
      Var qi("qi");
      if (!k().below(vector_)) {
        f.split(q_, q_, qi, vector_, tail(k(), vector_)).reorder(qi, free, q_).vectorize(qi);
      }
      // Taps are found by divisions when strides are symbols: much code for each.
      if (!dot_.is_conv() || !is_symbolic(b_.kernel.body)) f.unroll(free);
    }
  }

  KernelBuilder& b_;
  const Contract c_;
  const DotOperands dot_;
  DType dtype_;
  int vector_;
  std::string name_;
  Func prod_, lhs_, rhs_;
  Var i_{"i"}, j_{"j"}, q_{"q"}, io_{"io"}, jo_{"jo"}, bt_{"bt"};
  RDom k_;
};

}  // namespace

void stage_contraction(KernelBuilder& b, ValueId v, const Contract& c) {
  const DotShape s = dot_shape(b.kernel.body, b.node(v));
  Contract own = c;
  const std::int64_t outer =
      own.columns_outer ? (s.n() + c.nr - 1) / c.nr : (s.m() + c.mr - 1) / c.mr;
  own.grain = choose_grain(estimated_ns(b.kernel.body), outer * s.batches());
  Tiles tiles(b, v, own);
  Func whole("dot" + std::to_string(v.index));
  Var n("n"), m("m"), batch("batch");
  whole(n, m, batch) = tiles.at(batch, m, n);
  whole.compute_root();
  tiles.schedule(whole, m, n, {batch});
  stage_dot(b.elements, v, [whole](const Expr& batch_index, const Expr& row, const Expr& column) {
    return Expr(whole(column, row, batch_index));
  });
}

void apply(KernelBuilder& b, const Contract& c) {
  const ValueId dot = *main_contraction(b.kernel.body);
  const DotShape s = dot_shape(b.kernel.body, b.node(dot));
  for (const Stage& stage : b.kernel.stages) {
    if (stage.values[0] != dot) b.make_stage_once(stage);
  }
  Tiles tiles(b, dot, c);
  const std::size_t batches = s.batch.size();
  const Extents batch_extents = b.elements.extents(s.batch);
  b.elements.stage(dot, [&](const Index& i) {
    const Index batch(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(batches));
    return tiles.at(flatten(batch, batch_extents), i[batches], i[batches + 1]);
  });
  b.make_outputs();
  OutputGroup& out = b.outputs[0];
  const std::vector<Var> batch(out.args.rend() - static_cast<std::ptrdiff_t>(batches),
                               out.args.rend());
  tiles.schedule(out.f, out.args[batches], out.args[batches + 1], batch);
}

}  // namespace heddle::halide
