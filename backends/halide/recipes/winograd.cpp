// Convolutions of 3x3 taps in Winograd's form (schedule/winograd.h), strip by strip of tiles. Of a
// strip, the transformed image and, for one panel of output channels after the other, the sums of
// its products and the results lie in the task's scratch. The image's vectors lie along rows, the
// products' along output channels: results are turned where the outputs read them.
#include "heddle/schedule/winograd.h"

#include <algorithm>

#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/backends/halide/store_tiles.h"

namespace heddle::halide {
namespace {

using Four = std::array<Expr, 4>;

// B^T d, and the rows of A^T m.
Four image_transform(const Four& d) { return {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]}; }
std::array<Expr, 2> result_transform(const Four& m) {
  return {m[0] + m[1] + m[2], m[1] - m[2] - m[3]};
}
// G g.
Four weight_transform(const std::array<Expr, 3>& g) {
  const Expr ends = g[0] + g[2];
  return {g[0], (ends + g[1]) * 0.5f, (ends - g[1]) * 0.5f, g[2]};
}

// The value of the index, which the schedule makes a constant.
template <std::size_t N>
Expr chosen(const Expr& index, const std::array<Expr, N>& values) {
  return Halide::mux(index, std::vector<Expr>(values.begin(), values.end()));
}

// The longest vector that a loop has room for.
int fitting_vector(std::int64_t extent, int vector) {
  while (vector > extent) vector /= 2;
  return vector;
}

class WinogradTiles {
 public:
  WinogradTiles(KernelBuilder& b, const Node& conv, const Winograd& w)
      : b_(b),
        conv_(conv),
        w_(w),
        s_(winograd_shape(b.kernel.body, conv)),
        attributes_(conv.attributes.as<ConvAttributes>()),
        image_(b.kernel.body.type(conv.operands[0]).dims),
        sum_over_(0, constant(s_.channels), "channels") {
    define_weights();
    define_image();
    define_products();
    define_results();
  }

  Expr at(const Index& i) const {
    const Expr row = i[2] / 2, strip = row / constant(w_.rows);
    return results_(i[1] % w_.nr, i[3] % 2, i[3] / 2, i[2] % 2, row - strip * constant(w_.rows),
                    i[1] / w_.nr, strip, i[0]);
  }

  /// `out` over images, output channels, rows and columns.
  void schedule(const OutputGroup& out);

 private:
  std::int64_t tiles() const { return w_.rows * s_.tile_columns; }

  void define_weights();
  void define_image();
  void define_edges(int parity, std::int64_t first, std::int64_t end);
  void define_elements(int parity, std::int64_t first, std::int64_t end);
  Expr element(const Expr& row, const Expr& column) const;
  void define_products();
  void define_results();
  void schedule_weights();
  void schedule_image(Func out, const Var& strip);
  void schedule_products(Func out, const Var& panel);

  KernelBuilder& b_;
  const Node& conv_;
  const Winograd w_;
  const WinogradShape s_;
  const ConvAttributes attributes_;
  const Dims image_;
  Func weights_;  ///< undefined: they lie as panels
  Func weight_columns_{"weight_columns"};
  Func columns_{"image_columns"};   ///< B^T d, even and odd columns of the image apart
  Func tiles_{"image_tiles"};       ///< B^T d B
  Func sum_{"sum"}, sums_{"sums"};  ///< of products: a register tile, and those of a panel
  Func result_columns_{"result_columns"}, results_{"results"};
  RDom sum_over_;
  Var j_{"j"}, i_{"i"}, c_{"c"}, t_{"t"}, p_{"p"}, a_{"a"}, e_{"e"}, x_{"x"}, y_{"y"};
  Var px_{"px"}, py_{"py"}, tile_{"tile"}, panel_{"panel"}, strip_{"strip"}, n_{"n"};
};

// ---- weights: (output in the panel, channel, 4 x 4, panel) ----

void WinogradTiles::define_weights() {
  if (panels_of_weights(b_.kernel.body, conv_.operands[1])) return;
  const Expr output = edge(panel_ * w_.nr + j_, s_.outputs, w_.nr);
  const auto tap = [&](int row, int column) {
    return b_.elements.at(conv_.operands[1], {output, c_, constant(row), constant(column)});
  };
  Four columns[3];
  for (int x = 0; x < 3; ++x) columns[x] = weight_transform({tap(0, x), tap(1, x), tap(2, x)});
  weight_columns_(j_, c_, x_, a_, panel_) =
      Halide::mux(x_, {chosen(a_, columns[0]), chosen(a_, columns[1]), chosen(a_, columns[2])});
  const auto column = [&](int x) { return Expr(weight_columns_(j_, c_, x, a_, panel_)); };
  weights_ = Func("weights");
  weights_(j_, c_, e_, a_, panel_) =
      chosen(e_, weight_transform({column(0), column(1), column(2)}));
}

// ---- image ----

// Zeros outside.
Expr WinogradTiles::element(const Expr& row, const Expr& column) const {
  const Expr last = constant(image_[2].constant() - 1);
  const Expr value = b_.elements.at(conv_.operands[0], {n_, c_, clamp(row, 0, last), column});
  return select(row >= 0 && row <= last, value, 0.f);
}

// Columns 2 t + p of the padded image; those that are not in the image are zeros, written alone.
void WinogradTiles::define_image() {
  columns_(t_, p_, a_, y_, c_, n_) = Halide::undef<float>();
  const std::int64_t low = attributes_.low[1], width = image_[3].constant();
  const std::int64_t all = s_.tile_columns + 1;
  for (int p = 0; p < 2; ++p) {
    const auto place = [&](std::int64_t column) {  // the first one not before the column
      return std::clamp<std::int64_t>((column + low - p + 1) >> 1, 0, all);
    };
    const std::int64_t first = place(0), end = place(width);
    define_edges(p, 0, first);
    define_edges(p, end, all);
    define_elements(p, first, end);
  }
  const Expr row = strip_ * constant(w_.rows) + y_;
  const auto d = [&](const Expr& t, int p) { return Expr(columns_(t, p, a_, row, c_, n_)); };
  tiles_(x_, y_, c_, e_, a_, strip_, n_) =
      chosen(e_, image_transform({d(x_, 0), d(x_, 1), d(x_ + 1, 0), d(x_ + 1, 1)}));
}

void WinogradTiles::define_edges(int parity, std::int64_t first, std::int64_t end) {
  if (first == end) return;
  const RDom r(constant(first), constant(end - first), "edge");
  columns_(r, parity, a_, y_, c_, n_) = 0.f;
}

// Vectors: the last one begins early enough to end with the row, and stores what the one before it
// has stored, too.
void WinogradTiles::define_elements(int parity, std::int64_t first, std::int64_t end) {
  if (first == end) return;
  const std::int64_t count = end - first;
  const int vector = fitting_vector(count, b_.vector);
  const RDom r(0, vector, 0, constant((count + vector - 1) / vector), "row");
  const Expr start = min(r.y * vector, constant(count - vector));
  const Expr t = constant(first) + start + r.x;
  Four d;
  for (int k = 0; k < 4; ++k) {
    d[static_cast<std::size_t>(k)] = element(2 * y_ + constant(k - attributes_.low[0]),
                                             2 * t + constant(parity - attributes_.low[1]));
  }
  columns_(t, parity, a_, y_, c_, n_) = chosen(a_, image_transform(d));
  columns_.update(columns_.num_update_definitions() - 1).allow_race_conditions().vectorize(r.x);
}

// ---- products, and their way back ----

void WinogradTiles::define_products() {
  const Expr t = edge(tile_ * w_.mr + i_, tiles(), w_.mr), columns = constant(s_.tile_columns);
  const Expr x = w_.rows == 1 ? t : t % columns, y = w_.rows == 1 ? Expr(0) : t / columns;
  const Expr image = tiles_(x, y, sum_over_, e_ % 4, e_ / 4, strip_, n_);
  const Expr weight = weights_.defined()
                          ? Expr(weights_(j_, sum_over_, e_ % 4, e_ / 4, panel_))
                          : b_.elements.at(*panels_of_weights(b_.kernel.body, conv_.operands[1]),
                                           {panel_, e_, sum_over_, j_});
  sum_(j_, i_, tile_, e_, panel_, strip_, n_) = 0.f;
  sum_(j_, i_, tile_, e_, panel_, strip_, n_) += weight * image;
  sums_(j_, i_, tile_, e_, panel_, strip_, n_) = sum_(j_, i_, tile_, e_, panel_, strip_, n_);
}

void WinogradTiles::define_results() {
  const Expr t = y_ * constant(s_.tile_columns) + x_;
  const auto m = [&](int row) {
    return Expr(sums_(j_, t % w_.mr, t / w_.mr, row * 4 + e_, panel_, strip_, n_));
  };
  result_columns_(j_, e_, py_, x_, y_, panel_, strip_, n_) =
      chosen(py_, result_transform({m(0), m(1), m(2), m(3)}));
  const auto column = [&](int e) {
    return Expr(result_columns_(j_, e, py_, x_, y_, panel_, strip_, n_));
  };
  results_(j_, px_, x_, py_, y_, panel_, strip_, n_) =
      chosen(px_, result_transform({column(0), column(1), column(2), column(3)}));
}

// ---- loops ----

void WinogradTiles::schedule(const OutputGroup& group) {
  Func out = group.f;
  const Var n = group.args[0], o = group.args[1], y = group.args[2], x = group.args[3];
  Var strip("strip"), row("row"), panel("panel"), channel("channel"), task("task"), own("own");
  const std::int64_t height = 2 * w_.rows, strips = (s_.tile_rows + w_.rows - 1) / w_.rows;
  out.split(y, strip, row, constant(height), tail(group.extents[2], height))
      .split(o, panel, channel, w_.nr, tail(group.extents[1], w_.nr))
      .reorder({x, row, channel, panel, strip, n});
  vectorize(out, x, group.extents[3], b_.lanes, 1);
  Var outer = fuse_batch(out, strip, {n});
  if (strips * s_.images > w_.grain) {
    out.split(outer, task, own, constant(w_.grain), tail(strips * s_.images, w_.grain))
        .parallel(task);
    outer = own;
  }
  schedule_weights();
  schedule_image(out, outer);
  schedule_products(out, panel);
}

void WinogradTiles::schedule_weights() {
  if (!weights_.defined()) return;
  const std::int64_t panels = (s_.outputs + w_.nr - 1) / w_.nr;
  constexpr double kTransformNs = 4;  // of the weights of one pair of channels
  const std::int64_t grain =
      choose_grain(kTransformNs * static_cast<double>(s_.channels * s_.outputs), panels);
  Var lanes("lanes"), task("task"), own("own");
  weights_.compute_root().bound(j_, 0, w_.nr).bound(c_, 0, constant(s_.channels));
  weights_.bound(e_, 0, 4).bound(a_, 0, 4).bound(panel_, 0, constant(panels));
  weights_.split(j_, j_, lanes, b_.vector).reorder(lanes, e_, a_, j_, c_, panel_);
  weights_.vectorize(lanes).unroll(e_).unroll(a_);
  if (grain < panels) {
    weights_.split(panel_, task, own, constant(grain), tail(panels, grain)).parallel(task);
  }
  weight_columns_.compute_at(weights_, j_).vectorize(j_, b_.vector);
  weight_columns_.bound(x_, 0, 3).bound(a_, 0, 4).reorder(j_, x_, a_).unroll(x_).unroll(a_);
}

void WinogradTiles::schedule_image(Func out, const Var& strip) {
  const int vector = fitting_vector(s_.tile_columns, b_.vector);
  Var lanes("lanes");
  tiles_.compute_at(out, strip).bound(x_, 0, constant(s_.tile_columns));
  tiles_.bound(y_, 0, constant(w_.rows)).bound(c_, 0, constant(s_.channels));
  tiles_.bound(e_, 0, 4).bound(a_, 0, 4).bound_extent(strip_, 1).bound_extent(n_, 1);
  // Four of the sixteen at a time: fewer lines of the cache are written side by side. The last
  // vector begins early enough to end with the row: nothing is read in place.
  tiles_.split(x_, x_, lanes, vector, Halide::TailStrategy::ShiftInwards)
      .reorder(lanes, e_, x_, y_, c_, a_, strip_, n_)
      .vectorize(lanes)
      .unroll(e_)
      .unroll(a_);
  columns_.compute_at(tiles_, y_).bound(t_, 0, constant(s_.tile_columns + 1));
  columns_.bound(p_, 0, 2);
  for (int u = 0; u < columns_.num_update_definitions(); ++u) {
    Halide::Stage update = columns_.update(u);
    std::vector<Halide::VarOrRVar> order{a_};
    for (const Halide::RVar& r : columns_.rvars(u)) order.push_back(r);
    update.reorder(order).unroll(a_);
  }
}

void WinogradTiles::schedule_products(Func out, const Var& panel) {
  const int vector = std::min(b_.vector, w_.nr);
  Var lanes("lanes");
  for (Func f : {sums_, sum_}) {
    f.bound(j_, 0, w_.nr).bound(i_, 0, w_.mr);
    f.bound_extent(panel_, 1).bound_extent(strip_, 1).bound_extent(n_, 1);
    f.vectorize(j_, vector).unroll(j_).unroll(i_);
  }
  sums_.compute_at(out, panel).bound(e_, 0, 16);
  sum_.compute_at(sums_, tile_).update().reorder(j_, i_, sum_over_).vectorize(j_, vector);
  sum_.update().unroll(j_).unroll(i_);
  results_.compute_at(out, panel).bound(j_, 0, w_.nr).bound(px_, 0, 2).bound(py_, 0, 2);
  results_.bound(x_, 0, constant(s_.tile_columns)).bound(y_, 0, constant(w_.rows));
  results_.bound_extent(panel_, 1).bound_extent(strip_, 1).bound_extent(n_, 1);
  results_.split(j_, j_, lanes, vector).reorder(lanes, px_, py_, j_, x_, y_);
  results_.vectorize(lanes).unroll(px_).unroll(py_);
  result_columns_.compute_at(results_, j_).bound(e_, 0, 4).bound(py_, 0, 2);
  result_columns_.vectorize(j_, vector).unroll(e_).unroll(py_);
}

}  // namespace

void apply(KernelBuilder& b, const Winograd& winograd) {
  const Node& conv = *winograd_convolution(b.kernel.body);
  WinogradTiles tiles(b, conv, winograd);
  b.elements.stage(conv.results[0], [&](const Index& index) { return tiles.at(index); });
  b.make_outputs();
  tiles.schedule(b.outputs[0]);
}

}  // namespace heddle::halide
