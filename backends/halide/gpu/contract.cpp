// Contractions in tiles of a block. Ragged edges: tiles are filled with clamped rows and columns,
// so the loop of products asks nothing; stores are guarded.
#include <algorithm>

#include "heddle/backends/halide/dot_operands.h"
#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/block_product.h"
#include "heddle/backends/halide/gpu/launch.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide::gpu {
namespace {

// Sums of one thread along an axis: what is loaded is used so many times.
int sums_of(const Extent& extent, int threads) {
  if (extent.below(2 * threads)) return 1;
  return extent.below(4 * threads) ? 2 : 4;
}

class BlockTiles {
 public:
  BlockTiles(KernelBuilder& b, ValueId dot)
      : dot_(b.elements, dot),
        dtype_(b.elements.type(dot).dtype),
        tile_(tile_for(dot_.m(), dot_.n())),
        prod_(b, std::to_string(dot.index), tile_, product(dot_.inner()), {jo_, io_, bt_}, left(),
              right()) {}

  /// Element of the product.
  Expr at(const Index& batch, const Expr& row, const Expr& column) const {
    const int bm = tile_.rows(), bn = tile_.columns();
    return rounded(
        prod_.at(row % bm, column % bn, {column / bn, row / bm, flatten(batch, dot_.batch())}),
        dtype_);
  }

  /// `out` is a Func over (column, row, batch ...).
  void schedule(Func out, Var m, Var n, const std::vector<Var>& batch) {
    Var mo("mo"), no("no"), mi("mi"), ni("ni"), mx("mx"), nx("nx");
    out.split(n, no, ni, tile_.columns(), tail(dot_.n(), tile_.columns()))
        .split(ni, ni, nx, tile_.nt);
    out.split(m, mo, mi, tile_.rows(), tail(dot_.m(), tile_.rows())).split(mi, mi, mx, tile_.mt);
    std::vector<Halide::VarOrRVar> order{ni, mi, nx, mx, no, mo};
    order.insert(order.end(), batch.rbegin(), batch.rend());
    out.reorder(order).unroll(ni).unroll(mi).gpu_threads(nx, mx);
    if (batch.empty()) {
      out.gpu_blocks(no, mo);
    } else {
      out.gpu_blocks(no, mo, fuse_all(out, batch, "batches"));
    }
    prod_.compute_at({out, no});
  }

 private:
  static BlockTile tile_for(const Extent& m, const Extent& n) {
    const int mt = m.at_most(4) ? 4 : n.at_most(4) ? 64 : 16, nt = kThreads / mt;
    return {mt, nt, sums_of(m, mt), sums_of(n, nt)};
  }

  BlockProduct::Side left() const {
    return {[this](const Expr& row, const Expr& inner) {
              return dot_.left(dot_.left_batch(unflatten(bt_, dot_.batch())),
                               inside(io_ * tile_.rows() + row, dot_.m(), tile_.rows()),
                               unflatten(inner, dot_.inner()));
            },
            dot_.lhs_contiguous()};
  }
  BlockProduct::Side right() const {
    return {[this](const Expr& place, const Expr& inner) {
              const Expr column = inside(jo_ * tile_.columns() + place, dot_.n(), tile_.columns());
              return dot_.right(unflatten(bt_, dot_.batch()), unflatten(column, dot_.columns()),
                                unflatten(inner, dot_.inner()));
            },
            dot_.rhs_contiguous()};
  }

  const DotOperands dot_;
  const DType dtype_;
  const BlockTile tile_;
  Var io_{"io"}, jo_{"jo"}, bt_{"bt"};
  BlockProduct prod_;
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
