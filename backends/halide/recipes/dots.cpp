// Contractions of few rows whose operands both lie along the inner axis: nothing is packed. A tile
// is mr x nr elements, each a vector of partial sums along the inner axis, folded at the end.
#include "heddle/backends/halide/dot_operands.h"
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/backends/halide/store_tiles.h"

namespace heddle::halide {
namespace {

class DotTiles {
 public:
  DotTiles(KernelBuilder& b, ValueId dot, const Contract& c)
      : b_(b), c_(c), dot_(b.elements, dot), lanes_(b.lanes_of(dot)) {
    const RDom steps(0, constant(dot_.k() / lanes_), "steps"), lanes(0, lanes_, "lanes");
    const Expr inner = steps * lanes_ + l_;
    const Expr left = dot_.left(batch(), edge(io_ * c_.mr + i_, dot_.m(), c_.mr), {inner});
    const Expr column = edge(jo_ * c_.nr + j_, dot_.n(), c_.nr);
    const Expr right = dot_.right(batch(), unflatten(column, dot_.columns()), {inner});
    part_(l_, j_, i_, jo_, io_, bt_) = Halide::Internal::make_zero(left.type());
    part_(l_, j_, i_, jo_, io_, bt_) += left * right;
    sum_(j_, i_, jo_, io_, bt_) = Halide::Internal::make_zero(left.type());
    sum_(j_, i_, jo_, io_, bt_) += part_(lanes, j_, i_, jo_, io_, bt_);
  }

  Expr at(const Index& batch, const Expr& row, const Expr& column) const {
    return sum_(column % c_.nr, row % c_.mr, column / c_.nr, row / c_.mr,
                flatten(batch, dot_.batch()));
  }

  /// `out` is a Func over (column, row, batch ...). A group of tiles' columns meets all rows while
  /// it is in the cache.
  void schedule(Func out, Var m, Var n, const std::vector<Var>& batch) {
    Var mo("mo"), no("no"), mi("mi"), ni("ni"), group("group"), task("task");
    const Extent tiles = ceil_div(dot_.n(), c_.nr);
    out.split(n, no, ni, c_.nr, tail(dot_.n(), c_.nr))
        .split(m, mo, mi, c_.mr, tail(dot_.m(), c_.mr))
        .split(no, group, no, c_.panels, tail(tiles, c_.panels));
    std::vector<Halide::VarOrRVar> order{ni, mi, no, mo, group};
    order.insert(order.end(), batch.begin(), batch.end());
    out.reorder(order).unroll(ni).unroll(mi);
    Extent groups = ceil_div(tiles, c_.panels);
    const Var outer = fuse_batch(out, group, batch);
    if (!batch.empty()) groups = groups * dot_.batches();
    if (!groups.at_most(c_.grain)) {
      Var own("own");
      out.split(outer, task, own, constant(c_.grain), tail(groups, c_.grain)).parallel(task);
    }
    sum_.compute_at(out, no).bound_extent(j_, c_.nr).bound_extent(i_, c_.mr).unroll(j_).unroll(i_);
    const Halide::RVar lane = sum_.rvars()[0];
    sum_.update().reorder(lane, j_, i_).atomic().vectorize(lane).unroll(j_).unroll(i_);
    part_.compute_at(out, no).bound_extent(l_, lanes_);
    part_.bound_extent(j_, c_.nr).bound_extent(i_, c_.mr).vectorize(l_).unroll(j_).unroll(i_);
    part_.update().reorder(l_, j_, i_, part_.rvars()[0]).vectorize(l_).unroll(j_).unroll(i_);
  }

 private:
  Index batch() const { return unflatten(bt_, dot_.batch()); }

  KernelBuilder& b_;
  const Contract c_;
  const DotOperands dot_;
  const int lanes_;
  Func part_{"part"}, sum_{"sum"};
  Var l_{"l"}, i_{"i"}, j_{"j"}, io_{"io"}, jo_{"jo"}, bt_{"bt"};
};

}  // namespace

void store_dots(KernelBuilder& b, ValueId v, const Contract& c, std::size_t row_axis) {
  DotTiles tiles(b, v, c);
  store_tiles(b, v, tiles, row_axis);
}

}  // namespace heddle::halide
