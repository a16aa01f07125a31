// Maps that read across what they write: in tiles, so that lines of memory are used whole on both
// sides.
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/schedule/axis_classes.h"

namespace heddle::halide {
namespace {

// Of f32 a tile is a line of memory wide: stores fill whole lines, and of what is read two.
constexpr int kTile = 16, kTileRows = 32;
// Vectors that are turned around in registers, eight at a time, in tiles without edges.
constexpr int kTurned = 8;

// A tile's rows where they leave no edge, or 0: nothing is turned in registers. A line of what is
// read has as many: it is read whole, at once.
int turned_rows(const KernelBuilder& b, const OutputGroup& group, std::size_t across) {
  if (is_symbolic(b.kernel.body) || !group.extents.back().divisible_by(kTile)) return 0;
  for (const std::size_t port : group.ports) {
    const Type& type = b.elements.type(b.kernel.body.outputs[port].value);
    if (size_of(type.dtype) != sizeof(float)) return 0;
  }
  for (const int rows : {kTile, kTurned}) {
    if (group.extents[across].divisible_by(rows)) return rows;
  }
  return 0;
}

// Whether the port has both axis classes, and its neighbours in memory are neighbours along `c`.
bool runs_along(AxisClasses& classes, const Kernel& kernel, std::size_t port, std::size_t c,
                std::size_t last) {
  const std::vector<std::size_t> own = classes.of(kernel.body.inputs[port].value);
  bool along = false, other = false;
  for (std::size_t a = 0; a < own.size(); ++a) {
    along |= own[a] == c && kernel.in[port].strides[a] == Dim(1);
    other |= own[a] == last;
  }
  return along && other;
}

}  // namespace

std::optional<std::size_t> transposed_axis(const Kernel& kernel, const OutputGroup& group) {
  const std::size_t rank = group.extents.size();
  if (rank < 2 || group.extents.back().below(kTile)) return std::nullopt;
  AxisClasses classes(kernel.body);
  const std::vector<std::size_t> own = classes.of(kernel.body.outputs[group.ports[0]].value);
  for (std::size_t port = 0; port < kernel.in.size(); ++port) {
    for (std::size_t a = 0; a + 1 < rank; ++a) {
      const bool large = !group.extents[a].below(kTile);
      if (large && own[a] != own.back() && runs_along(classes, kernel, port, own[a], own.back()))
        return a;
    }
  }
  return std::nullopt;
}

void schedule_transposed(const KernelBuilder& b, OutputGroup& group, const Map& map,
                         std::size_t across) {
  Func f = group.f;
  const Var x = group.args.back(), y = group.args[across];
  const Extent &columns = group.extents.back(), &rows = group.extents[across];
  const int turned = turned_rows(b, group, across), height = turned > 0 ? turned : kTileRows;
  Var xo("xo"), xi("xi"), yo("yo"), yi("yi"), task("task"), rest("rest");
  f.split(x, xo, xi, kTile, tail(columns, kTile)).split(y, yo, yi, height, tail(rows, height));
  std::vector<Halide::VarOrRVar> order{xi, yi, xo, yo};
  Var outer = yo;
  Extent tiles = ceil_div(rows, height);
  std::vector<std::pair<Var, Extent>> others;
  for (std::size_t a = group.args.size() - 1; a-- > 0;) {
    if (a == across) continue;
    order.push_back(group.args[a]);
    others.emplace_back(group.args[a], group.extents[a]);
  }
  f.reorder(order);
  if (turned > 0) {
    Var beside("beside"), lane("lane"), row("row");
    f.split(xi, beside, lane, kTurned).split(yi, yi, row, kTurned).reorder(lane, row, beside, yi);
    f.vectorize(lane).vectorize(row).unroll(beside);
  } else {
    f.vectorize(xi, std::min(map.vector, kTile)).unroll(xi);
  }
  for (const auto& [var, extent] : others) {
    Var fused("tiles" + var.name());
    f.fuse(outer, var, fused);
    outer = fused;
    tiles = tiles * extent;
  }
  const Expr work = constant(columns) * height;
  const Expr each = clamp(constant(map.grain) / max(1, work), 1, max(1, constant(tiles)));
  f.split(outer, task, rest, each, Halide::TailStrategy::GuardWithIf).parallel(task);
}

}  // namespace heddle::halide
