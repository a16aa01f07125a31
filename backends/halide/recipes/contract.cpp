// Contractions in register tiles. The tile is a Func of its own, `mr` rows by `nr` columns at one
// iteration of the output's tile loops; operands reach it in place or through packed panels
// (element in the tile, inner index, tile). Ragged edges read clamped rows and columns into a whole
// tile, and the store is guarded. Of a product that is read through its gates (schedule/gates.h), a
// tile of the output has one of each gate, which wait for it in scratch.
#include <algorithm>
#include <numeric>

#include "heddle/backends/halide/dot_operands.h"
#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/backends/halide/recipes/bytes.h"
#include "heddle/backends/halide/store_tiles.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/classify.h"
#include "heddle/schedule/gates.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/prepare.h"

namespace heddle::halide {
namespace {

// unflatten by remainders: of an array that lies in this order, the address is the position again,
// as Halide's simplifier sees.
Index outside_in(const Expr& position, const Extents& extents) {
  Index index;
  Expr rest = position;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    const Expr inner = constant(product(Extents(extents.begin() + a + 1, extents.end())));
    index.push_back(a + 1 < extents.size() ? rest / inner : rest);
    if (a + 1 < extents.size()) rest = rest % inner;
  }
  return index;
}

class Tiles {
 public:
  Tiles(KernelBuilder& b, ValueId dot, const Contract& c, std::optional<Gates> gates = std::nullopt)
      : b_(b),
        c_(c),
        gates_(std::move(gates)),
        product_(dot),
        dot_(b.elements, dot),
        dtype_(b.elements.type(dot).dtype),
        vector_(std::gcd(b.lanes_of(dot), c.nr)),
        name_(std::to_string(dot.index)),
        prod_("prod" + name_),
        lhs_("lhs" + name_),
        rhs_("rhs" + name_),
        part_("part" + name_),
        in_panels_(panel_width(b.kernel.body, b.node(dot).operands[1]) != 0),
        bt_(make_vars("bt", dot_.batch().size())) {
    define_funcs();
  }

  Extent m() const { return dot_.m(); }
  /// Of a gate, where there are any.
  Extent n() const { return gates_ ? Extent(gates_->width) : dot_.n(); }
  const Extents& batch() const { return dot_.batch(); }

  Expr at(const Index& batch, const Expr& row, const Expr& column) const {
    return rounded(prod_(with({column % c_.nr, row % c_.mr, column / c_.nr, row / c_.mr}, batch)),
                   dtype_);
  }
  /// An element of what the slices cut, by its place in a gate.
  Expr at_gate(std::int64_t gate, const Expr& row, const Expr& column) {
    const Expr sum = at({constant(gate)}, row, column);
    return by_pieces() ? cut(sum, row, constant(gate) * constant(n()) + column) : sum;
  }
  /// From here on `v`, which has a gate's extents, is computed for a whole group of tiles before
  /// what reads it.
  void store(ValueId v) {
    Func f("stored" + std::to_string(v.index));
    f(j_, i_) = b_.elements.at(v, {edge(i_, m(), c_.mr), edge(j_, n(), group_width())});
    stored_.push_back(f);
    b_.elements.stage(v, [f](const Index& i) { return Expr(f(i[1], i[0])); });
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
    if (by_pieces() || (c_.columns_outer && c_.panels > 1)) {
      Var group("group");
      out.split(no, group, no, c_.panels, tail(tiles, c_.panels));
      order.push_back(group);
      outer = group;
      tiles = ceil_div(tiles, c_.panels);
    }
    order.insert(order.end(), batch.begin(), batch.end());
    out.reorder(order).vectorize(ni, vector_);
    if (!symbolic()) out.unroll(ni);
    outer = fuse_batch(out, outer, batch);
    if (!batch.empty()) tiles = tiles * dot_.batches();
    if (!tiles.at_most(c_.grain)) {
      Var own("tile");
      out.split(outer, task, own, constant(c_.grain), tail(tiles, c_.grain)).parallel(task);
      if (symbolic()) out.partition(task, Halide::Partition::Never);
      outer = own;
    }
    if (symbolic()) {  // one tile of code, its stores guarded
      for (const Var& v : {outer, mid, ni}) out.partition(v, Halide::Partition::Never);
    }
    for (Func f : stored_) {
      f.compute_at(out, outer).vectorize(j_, vector_);
      if (this->n().divisible_by(group_width())) f.bound_extent(j_, group_width());
    }
    if (by_pieces() || gates_) {
      schedule_scratch(out, outer);
    } else {
      hold_tile(prod_.compute_at(out, mid));
    }
    if (places_.defined()) {
      places_.compute_root().bound(j_, 0, constant(ceil_div(this->n(), c_.nr) * c_.nr));
    }
    pack(rhs_, j_, c_.rhs, c_.nr, this->n(), dot_.rhs_contiguous(), out,
         c_.columns_outer ? outer : mid);
    pack(lhs_, i_, c_.lhs, c_.mr, this->m(), dot_.lhs_contiguous(), out,
         c_.columns_outer ? mid : outer);
  }

 private:
  bool by_pieces() const { return c_.piece > 0; }
  int group_width() const { return c_.nr * c_.panels; }
  // Sums wait in scratch while a piece of a group of panels passes, or for the other gates.
  void schedule_scratch(Func out, const Var& group) {
    prod_.compute_at(out, group).bound_extent(j_, c_.nr).bound_extent(i_, c_.mr);
    std::vector<Halide::VarOrRVar> order{j_, i_, io_, jo_};
    if (gates_) order.emplace_back(gate_);
    if (by_pieces()) {
      prod_.vectorize(j_, vector_).unroll(j_).unroll(i_);
      order.emplace_back(pieces_.x);
    }
    Halide::Stage sums = by_pieces() ? prod_.update() : Halide::Stage(prod_);
    sums.reorder(order).vectorize(j_, vector_).unroll(j_).unroll(i_);
    hold_tile(part_.compute_at(prod_, io_));
  }
  // In registers while it runs over k.
  void hold_tile(Func tile) {
    tile.bound_extent(j_, c_.nr).bound_extent(i_, c_.mr);
    tile.bound_extent(jo_, 1).bound_extent(io_, 1);  // said: symbolic edges hide it
    tile.vectorize(j_, vector_).unroll(j_).unroll(i_);
    tile.update().reorder(j_, i_, k_).vectorize(j_, vector_).unroll(j_).unroll(i_);
    if (c_.ahead > 0) b_.ahead.add_loop(k_.x.name(), c_.ahead);
  }

  bool symbolic() const { return is_symbolic(b_.kernel.body); }
  Extent k() const { return dot_.k(); }

  // Of what the slices cut, where the product's element is `sum`.
  Expr cut(const Expr& sum, const Expr& row, const Expr& column) {
    b_.elements.stage(product_, [sum](const Index&) { return sum; });
    return b_.elements.at(gates_->cut, {row, column});
  }

  // Arguments of a Func: then the batch, innermost first, or the gate.
  static std::vector<Expr> with(std::vector<Expr> arguments, const Index& batch) {
    arguments.insert(arguments.end(), batch.rbegin(), batch.rend());
    return arguments;
  }

  Expr left(const Index& batch, const Expr& row, const Index& inner) const {
    return dot_.left(batch, edge(row, m(), c_.mr), inner);
  }
  Expr right(const Index& batch, const Expr& column, const Index& inner) const {
    if (gates_) {
      const Expr own = edge(column, n(), group_width());
      return dot_.right({}, {gate_ * constant(n()) + own}, inner);
    }
    if (in_panels_) return dot_.right(batch, {column}, inner);  // zeros past the edge
    if (!places_.defined()) {
      return dot_.right(batch, unflatten(edge(column, n(), c_.nr * c_.panels), dot_.columns()),
                        inner);
    }
    const Halide::FuncRef place = places_(column);
    Index index;
    for (std::size_t a = 0; a < dot_.columns().size(); ++a) {
      index.push_back(
          unsafe_promise_clamped(place[static_cast<int>(a)], 0, constant(dot_.columns()[a] - 1)));
    }
    return dot_.right(batch, index, inner);
  }

  void define_funcs() {
    // Columns of several symbolic axes are found by divisions: once for each, not with each inner
    // index.
    if (dot_.columns().size() > 1 && !n().is_constant()) {
      places_ = Func("places" + name_);
      places_(j_) = Halide::Tuple(unflatten(min(j_, constant(n() - 1)), dot_.columns()));
    }
    k_ = RDom(0, by_pieces() ? Expr(c_.piece) : constant(k()), "k" + name_);
    const Expr q = by_pieces() ? kb_ * c_.piece + k_ : Expr(k_);
    const Index batch = gates_ ? Index{gate_} : as_index(bt_);  // of the right factor, too
    const Index left_batch = gates_ ? Index{} : dot_.left_batch(batch);
    define_panel(lhs_, i_, io_, left_batch,
                 [&](const Index& inner) { return left(left_batch, io_ * c_.mr + i_, inner); });
    define_panel(rhs_, j_, jo_, batch,
                 [&](const Index& inner) { return right(batch, jo_ * c_.nr + j_, inner); });
    const Expr a = c_.lhs == Pack::none
                       ? left(left_batch, io_ * c_.mr + i_, outside_in(q, dot_.inner()))
                       : Expr(lhs_(with({i_, q, io_}, left_batch)));
    const Expr x = c_.rhs == Pack::none ? right(batch, jo_ * c_.nr + j_, unflatten(q, dot_.inner()))
                                        : Expr(rhs_(with({j_, q, jo_}, batch)));
    const std::vector<Expr> arguments = with({j_, i_, jo_, io_}, batch);
    if (!by_pieces() && gates_) {
      define_sum(part_, arguments, a, x);
      const Expr column = gate_ * constant(n()) + edge(jo_ * c_.nr + j_, n(), group_width());
      return define(prod_, arguments,
                    {cut(part_(arguments), edge(io_ * c_.mr + i_, m(), c_.mr), column)});
    }
    if (!by_pieces()) return define_sum(prod_, arguments, a, x);
    std::vector<Expr> in_piece = arguments;
    in_piece.push_back(kb_);
    define_sum(part_, in_piece, a, x);
    pieces_ = RDom(0, constant(k()) / c_.piece, "pieces" + name_);
    in_piece.back() = pieces_;
    define(prod_, arguments, {Halide::Internal::make_zero(a.type())});
    const Expr sum = prod_(arguments), part = part_(in_piece);
    define_over(pieces_, prod_, arguments, {sum + part});
  }

  // f = the sum over k of a x, which are expressions of it.
  void define_sum(Func f, const std::vector<Expr>& arguments, const Expr& a, const Expr& x) {
    define(f, arguments, {Halide::Internal::make_zero(a.type())});
    const Expr sum = f(arguments);
    define_over(k_, f, arguments,
                {a.type().is_float() ? sum + a * x : exact_add(sum, exact_mul(a, x))});
  }

  // Inner indices of several axes are packed axis by axis: their place in the panel is a product,
  // where a place's axes would be divisions.
  bool by_axes() const { return dot_.inner().size() > 1; }
  void define_panel(Func f, Var free, Var panel, const Index& batch,
                    const std::function<Expr(const Index&)>& element) {
    if (!by_axes()) return define(f, with({free, q_, panel}, batch), {element({q_})});
    std::vector<Halide::Range> ranges;  // innermost first
    for (const Extent& e : dot_.inner()) ranges.insert(ranges.begin(), {0, constant(e)});
    const RDom taps(ranges, "taps" + f.name());
    Index inner;
    for (int d = taps.dimensions(); d-- > 0;) inner.push_back(taps[d]);
    const Expr value = element(inner);
    Expr place = flatten(inner, dot_.inner());
    for (std::size_t a = 1; a < dot_.inner().size(); ++a) {
      if (!dot_.inner()[a].is_constant()) place = clamp(place, 0, constant(k() - 1));
    }
    define(f, with({free, q_, panel}, batch), {Halide::undef(value.type())});
    define(f, with({free, place, panel}, batch), {value});
  }

  // Loads past the end are left out; what is stored there is not read.
  static constexpr auto kMasked = Halide::TailStrategy::PredicateLoads;

  void pack(Func f, Var free, Pack kind, int width, const Extent& extent, bool contiguous, Func out,
            Var at) {
    if (kind == Pack::none) return;
    f.bound_extent(free, width);
    Halide::Stage loops = by_axes() ? f.update() : Halide::Stage(f);
    const int side = kind == Pack::whole && contiguous ? panels_of_a_line(extent, width) : 1;
    if (free.same_as(j_) && places_.defined()) {
      // Neighbours may be in different rows: column by column, whose loads do not wait for each
      // other.
      std::vector<Halide::VarOrRVar> order = inner_loops(f);
      order.insert(order.end(), {free, f.args()[2]});
      loops.reorder(order);
    } else if (contiguous || by_axes()) {
      order_panel(loops, f, free, kind == Pack::panel && c_.panels > 1);
      if (side > 1) {
        Var beside("beside");
        loops.split(f.args()[2], f.args()[2], beside, side).reorder(free, beside, q_);
      }
      if (contiguous && width % vector_ == 0) loops.vectorize(free, vector_);
      if (contiguous && width < vector_ && !symbolic()) loops.vectorize(free);
      if (!symbolic() || width <= vector_) loops.unroll(free);
    } else {  // transposing: vector loads along k, scattered stores
      Var qi("qi"), fi("fi");
      Var rows = free;
      if (!k().below(vector_)) {
        std::vector<Halide::VarOrRVar> order{qi, free, q_};
        loops.split(q_, q_, qi, vector_, symbolic() ? kMasked : tail(k(), vector_)).vectorize(qi);
        if (symbolic() && width % vector_ == 0) {  // square by square: less code
          loops.split(free, free, fi, vector_);
          rows = fi, order = {qi, fi, free, q_};
        }
        loops.reorder(order);
        if (symbolic()) loops.partition(q_, Halide::Partition::Never);
      }
      loops.unroll(rows);
    }
    if (kind == Pack::panel && by_pieces()) {
      f.compute_at(prod_, pieces_.x);
    } else if (kind == Pack::panel && gates_) {
      f.compute_at(prod_, jo_).bound_extent(f.args()[2], 1);
    } else if (kind == Pack::panel) {
      f.compute_at(out, at);
      if (c_.panels == 1) f.bound_extent(f.args()[2], 1);
    } else {
      f.compute_root();
      split_panels(loops, f.args()[2], free.same_as(j_) ? dot_.shape().n() : dot_.shape().m(),
                   width * side, ceil_div(extent, width * side));
    }
  }

  // Whole lines of the operand are read once, for as many panels as have part of one.
  int panels_of_a_line(const Extent& extent, int width) const {
    constexpr int kLine = 64;
    const int side = kLine / (width * static_cast<int>(size_of(dtype_)));
    return side > 1 && !by_axes() && !symbolic() && ceil_div(extent, width).divisible_by(side)
               ? side
               : 1;
  }

  std::vector<Halide::VarOrRVar> inner_loops(const Func& f) const {
    if (!by_axes()) return {q_};
    const std::vector<Halide::RVar> taps = f.rvars();
    return {taps.begin(), taps.end()};
  }

  void order_panel(Halide::Stage& loops, const Func& f, const Var& free, bool panels_inside) const {
    std::vector<Halide::VarOrRVar> order{free};
    if (panels_inside) order.push_back(f.args()[2]);
    const std::vector<Halide::VarOrRVar> inner = inner_loops(f);
    order.insert(order.end(), inner.begin(), inner.end());
    if (!panels_inside) order.push_back(f.args()[2]);
    loops.reorder(order);
  }

  void split_panels(Halide::Stage& loops, const Var& panel, std::int64_t hinted, int width,
                    const Extent& panels) const {
    Var task("task"), own("panel");
    const double bytes = static_cast<double>(hinted) * static_cast<double>(dot_.shape().k()) * 4.0;
    const std::int64_t grain = choose_grain(bytes * 0.15, (hinted + width - 1) / width);
    if (!panels.at_most(grain)) {
      loops.split(panel, task, own, constant(grain), tail(panels, grain)).parallel(task);
      if (symbolic()) loops.partition(task, Halide::Partition::Never);
    } else {
      own = panel;
    }
    if (symbolic()) loops.partition(own, Halide::Partition::Never);
  }

  KernelBuilder& b_;
  const Contract c_;
  const std::optional<Gates> gates_;
  const ValueId product_;
  std::vector<Func> stored_;
  const DotOperands dot_;
  DType dtype_;
  int vector_;
  std::string name_;
  Func prod_, lhs_, rhs_;
  Func part_;    ///< what a piece adds to prod_, or a gate's tile
  Func places_;  ///< of columns, along each of their axes; undefined: found in place
  Var i_{"i"}, j_{"j"}, q_{"q"}, io_{"io"}, jo_{"jo"}, kb_{"kb"}, gate_{"gate"};
  const bool in_panels_;  ///< the right factor
  std::vector<Var> bt_;   ///< of each axis of the batch
  RDom k_, pieces_;
};

}  // namespace

Contract with_tasks(Contract c, const Function& body, const DotShape& s) {
  const std::int64_t outer =
      c.columns_outer ? (s.n() + c.nr - 1) / c.nr : (s.m() + c.mr - 1) / c.mr;
  c.grain = choose_grain(estimated_ns(body), outer * s.batches());
  return c;
}

void stage_contraction(KernelBuilder& b, ValueId v, const Contract& c) {
  Tiles tiles(b, v, with_tasks(c, b.kernel.body, dot_shape(b.kernel.body, b.node(v))));
  Func whole("dot" + std::to_string(v.index));
  Var n("n"), m("m");
  const std::vector<Var> batch = make_vars("batch", tiles.batch().size());
  std::vector<Expr> arguments{n, m};
  arguments.insert(arguments.end(), batch.rbegin(), batch.rend());
  whole(arguments) = tiles.at(as_index(batch), m, n);
  whole.compute_root();
  // Said, not inferred from how it is read: that would be divisions.
  whole.bound(n, 0, constant(tiles.n())).bound(m, 0, constant(tiles.m()));
  for (std::size_t a = 0; a < batch.size(); ++a) {
    whole.bound(batch[a], 0, constant(tiles.batch()[a]));
  }
  tiles.schedule(whole, m, n, {batch.rbegin(), batch.rend()});
  stage_dot(b.elements, v, [whole](Index at, const Expr& row, const Expr& column) {
    at.insert(at.end(), {row, column});
    return Expr(whole(reversed(at)));
  });
}

void store_contraction(KernelBuilder& b, ValueId v, const Contract& c, std::size_t row_axis) {
  Tiles tiles(b, v, c);
  store_tiles(b, v, tiles, row_axis);
}

namespace {

void store_gates(KernelBuilder& b, ValueId v, const Contract& c, const Gates& gates) {
  Tiles tiles(b, v, c, gates);
  for (const auto& [slice, gate] : gates.slices) {
    b.elements.stage(
        slice, [&tiles, gate = gate](const Index& i) { return tiles.at_gate(gate, i[0], i[1]); });
  }
  // One function at a time over a group of tiles: a chain of them would fill the machine with what
  // waits.
  for (ValueId made : gates.made) {
    if (is_costly(b.node(made))) tiles.store(made);
  }
  store_tiles(b, v, tiles, 0);
}

}  // namespace

void apply(KernelBuilder& b, const Contract& c) {
  const ValueId dot = *main_contraction(b.kernel.body);
  for (const Stage& stage : b.kernel.stages) {
    if (stage.values[0] != dot) b.make_stage_once(stage);
  }
  const std::size_t row_axis = dot_shape(b.kernel.body, b.node(dot)).batch.size();
  if (const auto gates = gates_of(b.kernel.body, dot)) return store_gates(b, dot, c, *gates);
  if (c.dots) return store_dots(b, dot, c, row_axis);
  if (const auto bytes = byte_factors(b.kernel.body, b.node(dot), b.kernel.target)) {
    return store_bytes(b, dot, c, *bytes, row_axis);
  }
  store_contraction(b, dot, c, row_axis);
}

}  // namespace heddle::halide
