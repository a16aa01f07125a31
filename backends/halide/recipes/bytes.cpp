// Contractions of bytes, summed in i32. One instruction multiplies `depth` neighbours along the
// inner axis and adds them up, in every lane: bytes without sign by bytes with one (depth 4), or
// pairs of i16 (depth 2). No sum on the way leaves i32 (schedule/narrow_factors.h), and none
// saturates. Where both factors are of one kind, 128 is taken from or added to the right one while
// it is packed, and the sums along the left one's rows make up for it.
#include "heddle/backends/halide/recipes/bytes.h"

#include <numeric>

#include "heddle/backends/halide/dot_operands.h"
#include "heddle/backends/halide/store_tiles.h"

namespace heddle::halide {
namespace {

using Halide::Type;

class ByteTiles {
 public:
  ByteTiles(KernelBuilder& b, ValueId dot, const Contract& c, const ByteFactors& factors)
      : c_(c),
        dot_(b.elements, dot),
        vector_(b.lanes_of(dot)),
        steps_(ceil_div(dot_.k(), factors.depth)),
        in_place_(c.lhs == Pack::none && dot_.k().divisible_by(factors.depth)),
        factors_(factors),
        turned_(factors.depth == 4 && factors.left == factors.right),
        bt_(make_vars("bt", dot_.batch().size())) {
    define_panel(lhs_, i_, [&](const Expr& row, const Expr& inner) {
      return left(as_index(bt_), edge(io_ * kRows + row, dot_.m(), kRows), inner);
    });
    define_panel(rhs_, j_, [&](const Expr& column, const Expr& inner) {
      return right(as_index(bt_), jo_ * c_.nr + column, inner);
    });
    if (turned_) define_sums();
    define_product();
  }

  Expr at(const Index& batch, const Expr& row, const Expr& column) const {
    return prod_(with({column % c_.nr, row % c_.mr, column / c_.nr, row / c_.mr}, batch));
  }

  /// `out` is a Func over (column, row, batch ...).
  void schedule(Func out, Var m, Var n, const std::vector<Var>& batch) {
    Var mo("mo"), no("no"), mi("mi"), ni("ni"), task("task"), own("own");
    out.split(n, no, ni, c_.nr, tail(dot_.n(), c_.nr))
        .split(m, mo, mi, c_.mr, tail(dot_.m(), c_.mr));
    std::vector<Halide::VarOrRVar> order{ni, mi, mo, no};
    order.insert(order.end(), batch.begin(), batch.end());
    out.reorder(order).vectorize(ni, vector_).unroll(ni);
    Var outer = fuse_batch(out, no, batch);
    const Extent tiles = ceil_div(dot_.n(), c_.nr) * dot_.batches();
    if (!tiles.at_most(c_.grain)) {
      out.split(outer, task, own, constant(c_.grain), tail(tiles, c_.grain)).parallel(task);
      outer = own;
    }
    schedule_product(out, mo);
    rhs_.compute_at(out, outer).bound_extent(j_, c_.nr).bound_extent(jo_, 1);
    pack(rhs_, j_, c_.nr, dot_.rhs_contiguous());
    schedule_left();
  }

 private:
  static constexpr int kRows = 16;  // of a panel of the left factor

  // Arguments of a Func: then the batch, innermost first.
  static std::vector<Expr> with(std::vector<Expr> arguments, const Index& batch) {
    arguments.insert(arguments.end(), batch.rbegin(), batch.rend());
    return arguments;
  }

  Type left_type() const {
    return factors_.depth == 2 ? Halide::Int(16) : expression_type(factors_.left);
  }
  Expr left(const Index& batch, const Expr& row, const Expr& inner) const {
    return Halide::cast(left_type(), dot_.left(batch, row, {inner}));
  }
  // Behind the inner axis the left factor has zeros, this one anything.
  Expr right(const Index& batch, const Expr& column, const Expr& inner) const {
    const Index place = unflatten(edge(column, dot_.n(), c_.nr), dot_.columns());
    const Expr element = dot_.right(batch, place, {inner});
    if (factors_.depth == 2) return Halide::cast(Halide::Int(16), element);
    const Expr byte = Halide::cast<std::uint8_t>(element);
    const Expr kept = turned_ ? byte ^ Expr(std::uint8_t{0x80}) : byte;
    return factors_.left == DType::u8 ? Halide::reinterpret(Halide::Int(8), kept) : kept;
  }

  template <class Element>
  void define_panel(Func f, const Var& free, Element element) {
    const Expr inner = q_ * factors_.depth + e_;
    Expr value = element(free, edge(inner, dot_.k(), factors_.depth));
    if (free.same_as(i_) && !dot_.k().divisible_by(factors_.depth)) {
      value = select(likely(inner < constant(dot_.k())), value,
                     Halide::Internal::make_zero(value.type()));
    }
    define(f, with({e_, free, q_, free.same_as(i_) ? io_ : jo_}, as_index(bt_)), {value});
  }

  Expr packed_left(const Index& batch, const Expr& row, const Expr& step, const Expr& e) const {
    if (in_place_) return left(batch, row, step * factors_.depth + e);
    return lhs_(with({e, row % kRows, step, row / kRows}, batch));
  }

  // Along the rows of the left factor, which are whole panels where it is packed.
  void define_sums() {
    const Index batch = as_index(bt_);
    const int width =
        in_place_ ? static_cast<int>(std::gcd(dot_.k().number(), 64)) : factors_.depth;
    const RDom r(0, width, 0, constant(ceil_div(dot_.k(), width)), "sum");
    const std::vector<Expr> arguments = with({i_}, batch);
    const Expr element =
        in_place_ ? left(batch, i_, r.y * width + r.x) : packed_left(batch, i_, r.y, r.x);
    define(sums_, arguments, {Expr(0)});
    define_over(r, sums_, arguments, {sums_(arguments) + Halide::cast<std::int32_t>(element)});
  }

  void define_product() {
    const Index batch = as_index(bt_);
    const std::vector<Expr> arguments = with({j_, i_, jo_, io_}, batch);
    const Expr row = edge(io_ * c_.mr + i_, dot_.m(), c_.mr);
    Expr first = 0;
    if (turned_) first = sums_(with({row}, batch)) * (factors_.left == DType::u8 ? 128 : -128);
    const RDom k(0, factors_.depth, 0, constant(steps_), "k");
    const Expr a = packed_left(batch, row, k.y, k.x), x = rhs_(with({k.x, j_, k.y, jo_}, batch));
    define(prod_, arguments, {first});
    define_over(k, prod_, arguments,
                {prod_(arguments) + Halide::cast<std::int32_t>(a) * Halide::cast<std::int32_t>(x)});
  }

  void schedule_product(Func out, const Var& at) {
    prod_.compute_at(out, at).bound_extent(j_, c_.nr).bound_extent(i_, c_.mr);
    prod_.bound_extent(jo_, 1).bound_extent(io_, 1);
    prod_.vectorize(j_, vector_).unroll(j_).unroll(i_);
    const std::vector<Halide::RVar> k = prod_.rvars();
    prod_.update().reorder({k[0], j_, i_, k[1]}).vectorize(j_, vector_).unroll(j_).unroll(i_);
    prod_.update().atomic().vectorize(k[0]);
  }

  void schedule_left() {
    const Extent panels = ceil_div(dot_.m(), kRows);
    if (!in_place_) {
      lhs_.compute_root().bound(i_, 0, kRows).bound(io_, 0, constant(panels));
      lhs_.bound(q_, 0, constant(steps_));
      pack(lhs_, i_, kRows, dot_.lhs_contiguous());
    }
    if (!turned_) return;
    sums_.compute_root().bound(i_, 0, constant(in_place_ ? dot_.m() : panels * kRows));
    const std::vector<Halide::RVar> k = sums_.rvars();
    Halide::Stage loops = sums_.update();
    if (in_place_) {
      loops.reorder({k[0], k[1], i_});
    } else {
      Var row("row");
      loops.split(i_, i_, row, kRows).reorder({k[0], row, k[1], i_}).vectorize(row);
    }
    loops.atomic().vectorize(k[0]);
  }

  void pack(Func f, const Var& free, int width, bool contiguous) {
    f.bound(e_, 0, factors_.depth);
    const Var panel = free.same_as(i_) ? io_ : jo_;
    if (!contiguous) {
      f.reorder(e_, free, q_, panel).vectorize(e_).unroll(free, 4);
      return;
    }
    const int side = std::gcd(width, 64);
    Var inner("inner");
    f.split(free, free, inner, side).reorder(inner, e_, free, q_, panel);
    f.vectorize(inner).unroll(e_).unroll(free);
  }

  const Contract c_;
  const DotOperands dot_;
  const int vector_;
  const Extent steps_;  ///< along the inner axis
  const bool in_place_;
  const ByteFactors factors_;
  const bool turned_;  ///< the right factor's bytes are of the other kind in its panels
  Func prod_{"prod"}, lhs_{"lhs"}, rhs_{"rhs"}, sums_{"sums"};
  Var e_{"e"}, i_{"i"}, j_{"j"}, q_{"q"}, io_{"io"}, jo_{"jo"};
  std::vector<Var> bt_;
};

}  // namespace

void store_bytes(KernelBuilder& b, ValueId v, const Contract& c, const ByteFactors& factors,
                 std::size_t row_axis) {
  ByteTiles tiles(b, v, c, factors);
  store_tiles(b, v, tiles, row_axis);
}

}  // namespace heddle::halide
