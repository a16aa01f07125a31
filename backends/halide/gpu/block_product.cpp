#include "heddle/backends/halide/gpu/block_product.h"

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/gpu/launch.h"

namespace heddle::halide::gpu {
namespace {

// a b + sum, rounded once: both languages call it fma, and their compilers fuse nothing by
// themselves without fast maths.
Expr fused(const Expr& a, const Expr& b, const Expr& sum) {
  return Halide::Internal::Call::make(a.type(), "fma", {a, b, sum},
                                      Halide::Internal::Call::PureExtern);
}

}  // namespace

BlockProduct::BlockProduct(KernelBuilder& b, std::string name, const BlockTile& tile,
                           const Extent& inner, std::vector<Var> outer, const Side& left,
                           const Side& right)
    : name_(std::move(name)),
      t_(tile),
      inner_(inner),
      outer_(std::move(outer)),
      prod_("prod" + name_),
      row_("row" + name_),
      column_("column" + name_),
      k_(0, kInner, 0, constant(ceil_div(inner, kInner)), "k" + name_) {
  b.thread_registers[prod_.name()] = t_.tm * t_.tn;
  const auto left_at = tile_of(left, "lhs", i_, t_.rows());
  const auto right_at = tile_of(right, "rhs", j_, t_.columns());
  row_(with_outer({i_, mx_, q_, ko_})) = left_at(i_ * t_.mt + mx_);
  column_(with_outer({j_, nx_, q_, ko_})) = right_at(j_ * t_.nt + nx_);
  const Expr a = row_(with_outer({i_, mx_, k_.x, k_.y})),
             x = column_(with_outer({j_, nx_, k_.x, k_.y}));
  const std::vector<Expr> arguments = with_outer({j_, i_, nx_, mx_});
  prod_(arguments) = Halide::Internal::make_zero(a.type());
  const Expr sum = prod_(arguments);
  prod_(arguments) = a.type().is_float() ? fused(a, x, sum) : exact_add(sum, exact_mul(a, x));
}

std::vector<Expr> BlockProduct::with_outer(std::vector<Expr> arguments) const {
  arguments.insert(arguments.end(), outer_.begin(), outer_.end());
  return arguments;
}

// Beyond the last inner index both sides are zero.
Expr BlockProduct::padded(const Expr& element, const Expr& inner) const {
  if (inner_.divisible_by(kInner)) return element;
  return select(inner < constant(inner_), element, Halide::Internal::make_zero(element.type()));
}

// The side's element at a place, and the inner index that q_ and ko_ name.
std::function<Expr(const Expr&)> BlockProduct::tile_of(const Side& side, const std::string& stem,
                                                       Var place, int width) {
  const Expr inner = ko_ * kInner + q_;
  if (side.is_tile) return [=](const Expr& p) { return side.at(p, inner); };
  Func f(stem + name_);
  f(with_outer({place, q_, ko_})) = padded(side.at(place, inside(inner, inner_, kInner)), inner);
  fills_.push_back({f, place, width, side.along_places});
  return [=, this](const Expr& p) { return Expr(f(with_outer({p, q_, ko_}))); };
}

Expr BlockProduct::at(const Expr& row, const Expr& column, const std::vector<Expr>& outer) const {
  std::vector<Expr> arguments{column / t_.nt, row / t_.mt, column % t_.nt, row % t_.mt};
  arguments.insert(arguments.end(), outer.begin(), outer.end());
  return prod_(arguments);
}

void BlockProduct::compute_at(const Halide::LoopLevel& at) {
  prod_.compute_at(at).store_in(Halide::MemoryType::Register);
  prod_.bound(j_, 0, t_.tn).bound(i_, 0, t_.tm).bound(nx_, 0, t_.nt).bound(mx_, 0, t_.mt);
  prod_.gpu_threads(nx_, mx_).unroll(j_).unroll(i_);
  prod_.update().reorder(j_, i_, k_.x, nx_, mx_, k_.y).gpu_threads(nx_, mx_).unroll(j_).unroll(i_);
  row_.compute_at(prod_, k_.x).bound(i_, 0, t_.tm).unroll(i_);
  column_.compute_at(prod_, k_.x).bound(j_, 0, t_.tn).unroll(j_);
  for (const Fill& f : fills_) fill(f);
}

// All threads fill a tile, along what is contiguous in memory.
void BlockProduct::fill(const Fill& fill) {
  Func f = fill.f;
  f.compute_at(prod_, k_.y).store_in(Halide::MemoryType::GPUShared);
  f.bound(fill.place, 0, fill.width).bound(q_, 0, kInner).align_storage(fill.place, fill.width + 1);
  Var all("all"), round("round"), thread("thread"), tx("tx"), ty("ty");
  if (fill.along_places) {
    f.fuse(fill.place, q_, all);
  } else {
    f.reorder(q_, fill.place).fuse(q_, fill.place, all);
  }
  const int threads = t_.mt * t_.nt;
  f.split(all, round, thread, threads, tail(Extent(kInner * fill.width), threads))
      .split(thread, ty, tx, t_.nt)
      .reorder(tx, ty, round)
      .gpu_threads(tx, ty);
}

}  // namespace heddle::halide::gpu
