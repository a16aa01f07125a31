#include "heddle/backends/halide/gpu/row_tiles.h"

#include <algorithm>

#include "heddle/backends/halide/gpu/launch.h"

namespace heddle::halide::gpu {
namespace {

constexpr int kSide = RowTiles::kSide;
static_assert(kSide * kSide == kThreads);
constexpr int kMostSums = 32;  // of one thread

int ceil_div(std::int64_t extent, std::int64_t tile) {
  return static_cast<int>((extent + tile - 1) / tile);
}

// Sums of one thread along an axis.
int sums_of(std::int64_t extent) { return extent < 2 * kSide ? 1 : extent < 4 * kSide ? 2 : 4; }

// Of a wide result, a thread has fewer rows.
int rows_of(std::int64_t rows, std::int64_t width) {
  const int most = kMostSums / ceil_div(width, kSide);
  return std::min(sums_of(rows), most >= 4 ? 4 : most >= 2 ? 2 : 1);
}

}  // namespace

RowTiles::RowTiles(KernelBuilder& b, const RowBlockShape& shape, std::string name,
                   std::int64_t width)
    : b_(b),
      s_(shape),
      name_(std::move(name)),
      width_(width),
      scores_{kSide, kSide, rows_of(shape.rows, width), sums_of(shape.columns)},
      result_{kSide, kSide, scores_.tm, ceil_div(width, kSide)} {}

Expr RowTiles::row_index(const Expr& at) const {
  return inside(rows * scores_.rows() + at, s_.rows, scores_.rows());
}
Expr RowTiles::column_index(const Expr& at, const Expr& tile) const {
  return inside(tile * scores_.columns() + at, s_.columns, scores_.columns());
}

RowTiles::At RowTiles::read(const BlockProduct& product) {
  products_.push_back(product);
  return
      [product, rows = rows, head = head](const Expr& row, const Expr& column, const Expr& tile) {
        return product.at(row, column, {tile, rows, head});
      };
}

RowTiles::At RowTiles::products(ValueId left, ValueId right, const std::string& name) {
  const auto of_left = [&](const Expr& at, const Expr& d) {
    return b_.elements.at(left, {head, row_index(at), d});
  };
  const auto of_right = [&](const Expr& at, const Expr& d) {
    return b_.elements.at(right, {head, column_index(at, columns), d});
  };
  return read(BlockProduct(b_, name + name_, scores_, b_.elements.extents(left)[2],
                           {columns, rows, head}, {of_left}, {of_right}));
}

RowTiles::At RowTiles::times(const Func& weights, ValueId matrix) {
  const auto weight = [&](const Expr& at, const Expr& of) {
    return Expr(weights(of, at, columns, rows, head));
  };
  const auto element = [&](const Expr& at, const Expr& of) {
    return b_.elements.at(matrix,
                          {head, column_index(of, columns), inside(at, width_, result_.columns())});
  };
  return read(BlockProduct(b_, "times" + name_, result_, scores_.columns(), {columns, rows, head},
                           {.at = weight, .is_tile = true}, {.at = element, .along_places = true}));
}

Expr RowTiles::seen(const Expr& at, const Expr& of, const Expr& x, const Expr& other) const {
  const Expr row = rows * scores_.rows() + at, column = columns * scores_.columns() + of;
  const bool ragged = s_.columns % scores_.columns() != 0;
  const Expr inside = column < constant(s_.columns),
             causal = s_.by_key ? column >= row : column <= row;
  if (s_.causal) return select(ragged ? inside && causal : causal, x, other);
  return ragged ? select(inside, x, other) : x;
}

Expr RowTiles::kept(const Func& f, const Expr& at, const Expr& thread) const {
  const Expr row = token % scores_.rows();
  return f(at, row / kSide, thread, row % kSide, token / scores_.rows(), head);
}

RDom RowTiles::steps(int count) const {
  RDom k(0, count, 0, ceil_div(s_.columns, scores_.columns()), "steps" + name_);
  if (!s_.causal) return k;
  // In u32: bounds inference takes numbers of i32 apart, and asks for other rows than the block's.
  const auto tile_of = [&](const Expr& at) {
    const Expr width = Halide::cast<std::uint32_t>(scores_.columns());
    return Halide::cast<std::int32_t>(Halide::cast<std::uint32_t>(at) / width);
  };
  const Expr first = rows * scores_.rows(), last = first + (scores_.rows() - 1);
  k.where(s_.by_key ? k.y >= tile_of(first) : k.y <= tile_of(last));
  return k;
}

void RowTiles::schedule_kept(Func f, const RDom& steps, int places) {
  kept_ = f;
  at_tile_ = Halide::LoopLevel(f, steps.y);
  b_.thread_registers[f.name()] = places * scores_.tm;
  f.store_in(Halide::MemoryType::Register);
  f.bound(place, 0, places).bound(i, 0, scores_.tm).bound(nx, 0, kSide).bound(mx, 0, kSide);
  f.unroll(place).unroll(i).gpu_threads(nx, mx);
  f.update().reorder(steps.x, i, nx, mx, steps.y).unroll(steps.x).unroll(i).gpu_threads(nx, mx);
  for (BlockProduct& p : products_) p.compute_at(at_tile_);
}

Func RowTiles::in_shared_memory(Func f) {
  f.compute_at(at_tile_).store_in(Halide::MemoryType::GPUShared);
  return f.bound(r, 0, scores_.rows());
}

void RowTiles::schedule_tile(Func f) {
  Var j("j");
  in_shared_memory(f).bound(c, 0, scores_.columns()).align_storage(c, scores_.columns() + 1);
  f.split(c, j, nx, kSide).split(r, i, mx, kSide);
  f.reorder(j, i, nx, mx).unroll(j).unroll(i).gpu_threads(nx, mx);
}

void RowTiles::schedule_fold(Func f, Func all) {
  in_shared_memory(f).bound(nx, 0, kSide).align_storage(nx, kSide + 1);
  f.split(r, i, mx, kSide).reorder(i, nx, mx).unroll(i).gpu_threads(nx, mx);
  Var rx("rx"), ry("ry");
  in_shared_memory(all).split(r, ry, rx, kSide).gpu_threads(rx, ry);
}

void RowTiles::split_tokens(Func f) {
  f.split(token, rows, r, scores_.rows(), tail(s_.rows, scores_.rows())).split(r, i, mx, kSide);
}

void RowTiles::schedule_results(Func out, Func beside) {
  Var j("j");
  split_tokens(out);
  out.split(depth, j, nx, kSide, tail(width_, kSide));
  out.reorder(j, i, nx, mx, rows, head).unroll(j).unroll(i);
  out.gpu_threads(nx, mx).gpu_blocks(rows, head);
  kept_.compute_at(out, rows);
  if (!beside.defined()) return;
  split_tokens(beside);
  beside.split(mx, mx, nx, 1);  // one of a row's threads
  beside.reorder(i, nx, mx, rows, head).unroll(i).gpu_threads(nx, mx).gpu_blocks(rows, head);
  beside.compute_with(out, rows);
}

}  // namespace heddle::halide::gpu
