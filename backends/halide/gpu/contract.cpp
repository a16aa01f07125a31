// Contractions in tiles of a block. Tiles of both sides lie in shared memory, kInner inner indices
// at a time; each thread keeps tm x tn sums in registers, and loads tm + tn numbers for as many
// products. A thread's columns are nt apart, so that
// threads side by side read neighbouring words of a tile: no two of them the same bank. The rows'
// tile has an odd pitch for the same reason. Ragged edges: tiles are filled with clamped rows and
// columns, and with zeros beyond the inner extent, so the loop of products asks nothing; stores are
// guarded.
#include <algorithm>

#include "heddle/backends/halide/dot_operands.h"
#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/launch.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide::gpu {
namespace {

constexpr int kInner = 16;

// Sums of one thread along an axis: what is loaded is used so many times.
int sums_of(const Extent& extent, int threads) {
  if (extent.below(2 * threads)) return 1;
  return extent.below(4 * threads) ? 2 : 4;
}

// a b + sum, rounded once: both languages call it fma, and their compilers fuse nothing by
// themselves without fast maths.
Expr fused(const Expr& a, const Expr& b, const Expr& sum) {
  return Halide::Internal::Call::make(a.type(), "fma", {a, b, sum},
                                      Halide::Internal::Call::PureExtern);
}

class BlockTiles {
 public:
  BlockTiles(KernelBuilder& b, ValueId dot)
      : b_(b),
        dot_(b.elements, dot),
        dtype_(b.elements.type(dot).dtype),
        mt_(dot_.m().at_most(4)   ? 4
            : dot_.n().at_most(4) ? 64
                                  : 16),
        nt_(kThreads / mt_),
        tm_(sums_of(dot_.m(), mt_)),
        tn_(sums_of(dot_.n(), nt_)),
        name_(std::to_string(dot.index)),
        prod_("prod" + name_),
        lhs_("lhs" + name_),
        rhs_("rhs" + name_),
        row_("row" + name_),
        column_("column" + name_) {
    define_funcs();
    b.thread_registers[prod_.name()] = tm_ * tn_;
  }

  /// Element of the product.
  Expr at(const Index& batch, const Expr& row, const Expr& column) const {
    const int bm = mt_ * tm_, bn = nt_ * tn_;
    return rounded(prod_(column % bn / nt_, row % bm / mt_, column % nt_, row % mt_, column / bn,
                         row / bm, flatten(batch, dot_.batch())),
                   dtype_);
  }

  /// `out` is a Func over (column, row, batch ...).
  void schedule(Func out, Var m, Var n, const std::vector<Var>& batch) {
    Var mo("mo"), no("no"), mi("mi"), ni("ni"), mx("mx"), nx("nx");
    out.split(n, no, ni, nt_ * tn_, tail(dot_.n(), nt_ * tn_)).split(ni, ni, nx, nt_);
    out.split(m, mo, mi, mt_ * tm_, tail(dot_.m(), mt_ * tm_)).split(mi, mi, mx, mt_);
    std::vector<Halide::VarOrRVar> order{ni, mi, nx, mx, no, mo};
    order.insert(order.end(), batch.rbegin(), batch.rend());
    out.reorder(order).unroll(ni).unroll(mi).gpu_threads(nx, mx);
    if (batch.empty()) {
      out.gpu_blocks(no, mo);
    } else {
      out.gpu_blocks(no, mo, fuse_all(out, batch, "batches"));
    }
    prod_.compute_at(out, no).store_in(Halide::MemoryType::Register);
    prod_.bound(j_, 0, tn_).bound(i_, 0, tm_).bound(nx_, 0, nt_).bound(mx_, 0, mt_);
    prod_.gpu_threads(nx_, mx_).unroll(j_).unroll(i_);
    prod_.update()
        .reorder(j_, i_, k_.x, nx_, mx_, k_.y)
        .gpu_threads(nx_, mx_)
        .unroll(j_)
        .unroll(i_);
    row_.compute_at(prod_, k_.x).bound(i_, 0, tm_).unroll(i_);
    column_.compute_at(prod_, k_.x).bound(j_, 0, tn_).unroll(j_);
    fill(lhs_, i_, mt_ * tm_, dot_.lhs_contiguous());
    fill(rhs_, j_, nt_ * tn_, dot_.rhs_contiguous());
  }

 private:
  // Beyond the last inner index both sides are zero.
  Expr padded(const Expr& element, const Expr& inner) const {
    if (dot_.k().divisible_by(kInner)) return element;
    return select(inner < constant(dot_.k()), element, Halide::Internal::make_zero(element.type()));
  }

  void define_funcs() {
    const Extent k = dot_.k();
    k_ = RDom(0, kInner, 0, constant(ceil_div(k, kInner)), "k" + name_);
    const Expr inner = ko_ * kInner + q_;
    const Index last = unflatten(inside(inner, k, kInner), dot_.inner());
    const Expr column = inside(jo_ * (nt_ * tn_) + j_, dot_.n(), nt_ * tn_);
    const Index batch = unflatten(bt_, dot_.batch());
    lhs_(i_, q_, ko_, io_, bt_) =
        padded(dot_.left(unflatten(bt_, dot_.left_batch()),
                         inside(io_ * (mt_ * tm_) + i_, dot_.m(), mt_ * tm_), last),
               inner);
    rhs_(j_, q_, ko_, jo_, bt_) =
        padded(dot_.right(batch, unflatten(column, dot_.columns()), last), inner);
    row_(i_, mx_, q_, ko_, io_, bt_) =
        lhs_(i_ * mt_ + mx_, q_, ko_, io_, flatten(dot_.left_batch(batch), dot_.left_batch()));
    column_(j_, nx_, q_, ko_, jo_, bt_) = rhs_(j_ * nt_ + nx_, q_, ko_, jo_, bt_);
    const Expr a = row_(i_, mx_, k_.x, k_.y, io_, bt_), x = column_(j_, nx_, k_.x, k_.y, jo_, bt_);
    const std::vector<Expr> arguments{j_, i_, nx_, mx_, jo_, io_, bt_};
    prod_(arguments) = Halide::Internal::make_zero(a.type());
    const Expr sum = prod_(arguments);
    prod_(arguments) = a.type().is_float() ? fused(a, x, sum) : exact_add(sum, exact_mul(a, x));
  }

  // All threads fill a tile, along what is contiguous in memory.
  void fill(Func f, Var free, int width, bool contiguous) {
    f.compute_at(prod_, k_.y).store_in(Halide::MemoryType::GPUShared);
    f.bound(free, 0, width).bound(q_, 0, kInner).align_storage(free, width + 1);
    Var all("all"), round("round"), thread("thread"), tx("tx"), ty("ty");
    if (contiguous) {
      f.fuse(free, q_, all);
    } else {
      f.reorder(q_, free).fuse(q_, free, all);
    }
    f.split(all, round, thread, kThreads, tail(Extent(kInner * width), kThreads))
        .split(thread, ty, tx, nt_)
        .reorder(tx, ty, round)
        .gpu_threads(tx, ty);
  }

  KernelBuilder& b_;
  const DotOperands dot_;
  const DType dtype_;
  const int mt_, nt_;  ///< threads along rows and columns
  const int tm_, tn_;  ///< sums of a thread
  const std::string name_;
  Func prod_, lhs_, rhs_, row_, column_;
  Var i_{"i"}, j_{"j"}, mx_{"mx"}, nx_{"nx"}, q_{"q"}, ko_{"ko"}, io_{"io"}, jo_{"jo"}, bt_{"bt"};
  RDom k_;
};

}  // namespace

void launch_contraction(KernelBuilder& b, ValueId v) {
  BlockTiles tiles(b, v);
  Func whole("dot" + std::to_string(v.index));
  Var n("n"), m("m"), batch("batch");
  const Extents batches = b.elements.extents(dot_shape(b.kernel.body, b.node(v)).batch);
  whole(n, m, batch) = tiles.at(unflatten(batch, batches), m, n);
  whole.compute_root();
  tiles.schedule(whole, m, n, {batch});
  stage_dot(b.elements, v, [=](const Index& at, const Expr& row, const Expr& column) {
    return Expr(whole(column, row, flatten(at, batches)));
  });
}

void apply_contract(KernelBuilder& b) {
  const ValueId dot = *main_contraction(b.kernel.body);
  for (const Stage& stage : b.kernel.stages) {
    if (stage.values[0] != dot) launch_stage(b, stage);
  }
  BlockTiles tiles(b, dot);
  const std::size_t batches = dot_shape(b.kernel.body, b.node(dot)).batch.size();
  b.elements.stage(dot, [&](const Index& i) {
    const Index batch(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(batches));
    return tiles.at(batch, i[batches], i[batches + 1]);
  });
  b.make_outputs();
  OutputGroup& out = b.outputs[0];
  const std::vector<Var> batch(out.args.begin(),
                               out.args.begin() + static_cast<std::ptrdiff_t>(batches));
  tiles.schedule(out.f, out.args[batches], out.args[batches + 1], batch);
}

}  // namespace heddle::halide::gpu
