// Contractions in register tiles. The tile is a Func of its own, `mr` rows by `nr` columns at one
// iteration of the output's tile loops; operands reach it in place or through packed panels
// (element in the tile, inner index, tile). Ragged edges read clamped rows and columns into a whole
// tile, and the store is guarded.
#include <algorithm>
#include <numeric>

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/backends/halide/window.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {
namespace {

class Tiles {
 public:
  Tiles(KernelBuilder& b, ValueId dot, const Contract& c)
      : b_(b),
        c_(c),
        node_(b.node(dot)),
        dtype_(b.elements.type(dot).dtype),
        conv_(node_.op == &op_conv_general),
        s_(dot_shape(b.kernel.body, node_)),
        batch_(b.elements.extents(s_.batch)),
        rows_(b.elements.extents(s_.rows)),
        columns_(b.elements.extents(s_.columns)),
        inner_(b.elements.extents(s_.inner)),
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
    if (!batch.empty()) tiles = tiles * product(batch_);
    if (!tiles.at_most(c_.grain)) {
      Var own("tile");
      out.split(outer, task, own, constant(c_.grain), tail(tiles, c_.grain)).parallel(task);
      outer = own;
    }
    prod_.compute_at(out, mid).bound_extent(j_, c_.nr).bound_extent(i_, c_.mr);
    prod_.vectorize(j_, vector_).unroll(j_).unroll(i_);
    prod_.update().reorder(j_, i_, k_).vectorize(j_, vector_).unroll(j_).unroll(i_);
    pack(rhs_, j_, c_.rhs, c_.nr, this->n(), rhs_contiguous(), out, c_.columns_outer ? outer : mid);
    pack(lhs_, i_, c_.lhs, c_.mr, this->m(), lhs_contiguous(), out, c_.columns_outer ? mid : outer);
  }

 private:
  using Axes = std::vector<std::int64_t>;
  Extent m() const { return product(rows_); }
  Extent n() const { return product(columns_); }
  Extent k() const { return product(inner_); }

  // Rows and columns past the edge are copies of the last one. Likely: the loops over whole tiles
  // get code of their own, with plain vector loads.
  static Expr edge(const Expr& i, const Extent& extent, std::int64_t factor) {
    return extent.divisible_by(factor) ? i : min(likely(i), constant(extent - 1));
  }
  Expr left(const Expr& batch, const Expr& row, const Expr& inner) const {
    if (conv_) {
      Index index = unflatten(inner, inner_);
      index.insert(index.begin(), batch * constant(m()) + edge(row, m(), c_.mr));
      return b_.elements.at(node_.operands[1], index);
    }
    return operand(0, s_.lhs_batch, s_.lhs_rows, rows_, s_.lhs_inner, batch, edge(row, m(), c_.mr),
                   inner);
  }
  Expr right(const Expr& batch, const Expr& column, const Expr& inner) const {
    if (conv_) return patch(batch, edge(column, n(), c_.nr * c_.panels), inner);
    return operand(1, s_.rhs_batch, s_.rhs_columns, columns_, s_.rhs_inner, batch,
                   edge(column, n(), c_.nr * c_.panels), inner);
  }
  // The images of a convolution are batches, or columns (see DotShape).
  bool by_image() const { return batch_.size() > 1; }
  Expr patch(const Expr& batch, const Expr& column, const Expr& inner) const {
    const Index outer = unflatten(batch, batch_), at = unflatten(column, columns_),
                tap = unflatten(inner, inner_);
    const std::ptrdiff_t skip = by_image() ? 0 : 1;
    Index result;
    if (by_image()) result.assign(outer.begin() + 2, outer.end());
    result.insert(result.end(), at.begin() + skip, at.end());
    const Expr image = by_image() ? outer[0] : at[0], group = by_image() ? outer[1] : outer[0];
    return conv_element(b_.elements, node_, image, group * constant(inner_[0]) + tap[0], result,
                        Index(tap.begin() + 1, tap.end()));
  }
  // The kernel is packed once for all images.
  Expr left_batch() const {
    if (!conv_ || !by_image()) return bt_;
    const Extent places = product(Extents(batch_.begin() + 2, batch_.end()));
    return bt_ / constant(places) % constant(batch_[1]);
  }
  Expr operand(std::size_t k, const Axes& batch_axes, const Axes& free_axes, const Extents& free,
               const Axes& inner_axes, const Expr& batch, const Expr& position,
               const Expr& inner) const {
    Index index(batch_axes.size() + free_axes.size() + inner_axes.size());
    auto put = [&](const Axes& axes, const Expr& flat, const Extents& extents) {
      const Index i = unflatten(flat, extents);
      for (std::size_t a = 0; a < axes.size(); ++a) index[static_cast<std::size_t>(axes[a])] = i[a];
    };
    put(batch_axes, batch, batch_);
    put(free_axes, position, free);
    put(inner_axes, inner, inner_);
    return b_.elements.at(node_.operands[k], index);
  }
  // Whether the free axis is the operand's contiguous one.
  static bool last(const Axes& axes, std::size_t rank) {
    return !axes.empty() && axes.back() + 1 == static_cast<std::int64_t>(rank);
  }
  bool lhs_contiguous() const {
    return last(s_.lhs_rows, b_.elements.type(node_.operands[0]).rank());
  }
  bool rhs_contiguous() const {
    if (conv_) {
      const auto a = node_.attributes.as<ConvAttributes>();
      return by_image() && a.strides.back() == 1 && a.lhs_dilation.back() == 1;
    }
    return last(s_.rhs_columns, b_.elements.type(node_.operands[1]).rank());
  }

  void define_funcs() {
    k_ = RDom(0, constant(k()), "k" + name_);
    lhs_(i_, q_, io_, bt_) = left(bt_, io_ * c_.mr + i_, q_);
    rhs_(j_, q_, jo_, bt_) = right(bt_, jo_ * c_.nr + j_, q_);
    const Expr a = c_.lhs == Pack::none ? left(left_batch(), io_ * c_.mr + i_, k_)
                                        : Expr(lhs_(i_, k_, io_, left_batch()));
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
      const std::int64_t hinted = free.same_as(j_) ? s_.n() : s_.m();
      const double bytes = static_cast<double>(hinted) * static_cast<double>(s_.k()) * 4.0;
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
      f.unroll(free);
    }
  }

  KernelBuilder& b_;
  const Contract c_;
  const Node& node_;
  DType dtype_;
  const bool conv_;
  DotShape s_;
  Extents batch_, rows_, columns_, inner_;
  int vector_;
  std::string name_;
  Func prod_, lhs_, rhs_;
  Var i_{"i"}, j_{"j"}, q_{"q"}, io_{"io"}, jo_{"jo"}, bt_{"bt"};
  RDom k_;
};

}  // namespace

namespace {

// An index of the result as batch, rows, columns.
Index arranged(const Node& node, const DotShape& s, const Index& i) {
  if (node.op != &op_conv_general) return i;
  const Expr group = i[1] / constant(s.m()), row = i[1] % constant(s.m());
  Index spatial(i.begin() + 2, i.end()), result;
  if (s.batch.size() == 1) {
    result = {group, row, i[0]};
  } else {
    const auto split = spatial.begin() + static_cast<std::ptrdiff_t>(s.batch.size() - 2);
    result = {i[0], group};
    result.insert(result.end(), spatial.begin(), split);
    result.push_back(row);
    spatial.erase(spatial.begin(), split);
  }
  result.insert(result.end(), spatial.begin(), spatial.end());
  return result;
}

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
  const Extents batches = b.elements.extents(s.batch), row_extents = b.elements.extents(s.rows),
                column_extents = b.elements.extents(s.columns);
  b.elements.stage(v, [=, &node = b.node(v)](const Index& index) {
    const Index i = arranged(node, s, index);
    const auto rows = i.begin() + static_cast<std::ptrdiff_t>(s.batch.size());
    const auto columns = rows + static_cast<std::ptrdiff_t>(s.rows.size());
    return Expr(whole(flatten(Index(columns, i.end()), column_extents),
                      flatten(Index(rows, columns), row_extents),
                      flatten(Index(i.begin(), rows), batches)));
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
