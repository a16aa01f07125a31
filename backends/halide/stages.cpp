// Reductions that are whole arrays before the outputs' loops begin.
#include <algorithm>

#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {

namespace {

Index no_index(const std::vector<Var>&) { return {}; }

// The states of f over its one axis [0, count), folded in order on top of `first`.
Func ordered_sum(const JointLoop& loop, const std::string& name, Func f, std::int64_t count,
                 const State& first) {
  Func sum(name);
  RDom q(0, constant(count), "q" + name);
  define(sum, {}, first);
  define(sum, {}, loop.combine(read(sum, {}), read(f, {q})));
  sum.compute_root();
  return sum;
}

}  // namespace

void stage_total(KernelBuilder& b, const Stage& stage, std::int64_t split, int lanes) {
  const JointLoop loop(b.elements, stage.values, 0);
  const Extent count = loop.reduced().back();
  const Extent piece = split > 1 ? count / split / lanes * lanes : Extent(0);
  const std::string name = loop.name();
  if (piece.is(0)) {
    LaneFold fold(loop, name, {}, no_index, 0, count, lanes, b.vector);
    fold.compute_root(0, 1, 1);
    return loop.stage(fold.result(), [](const Index&) { return std::vector<Expr>{}; });
  }
  // Whole pieces as the rows of a matrix; what is left over is summed alone.
  Func pieces("pieces" + name), part("piece_part" + name), mid("piece_mid" + name);
  const int vector = std::min(lanes, std::max(1, b.vector * 4 / loop.element_bytes()));
  Var u("u"), p("p");
  RDom r(0, constant(piece / lanes), "r" + name);
  const Expr at = p * constant(piece) + r * lanes + u;
  define(part, {u, p}, loop.initial());
  Index index(loop.reduced().size() - 1, constant(0));
  internal_check(index.empty(), "a total in pieces over one axis");
  index.push_back(at);
  define_over(r, part, {u, p}, loop.step(read(part, {u, p}), {}, index));
  auto fold = [&](Func f, int n, auto position) {
    std::vector<State> s;
    for (int j = 0; j < n; ++j) s.push_back(read(f, {position(j), p}));
    for (; s.size() > 1; s.resize((s.size() + 1) / 2)) {
      const std::size_t half = (s.size() + 1) / 2;
      for (std::size_t j = 0; j + half < s.size(); ++j) s[j] = loop.combine(s[j], s[j + half]);
    }
    return s[0];
  };
  define(mid, {u, p}, fold(part, lanes / vector, [&](int j) { return u + j * vector; }));
  define(pieces, {p}, fold(mid, vector, [](int j) { return Expr(j); }));
  part.bound(u, 0, lanes).compute_at(pieces, p).vectorize(u, vector).unroll(u);
  part.update().reorder(u, r).vectorize(u, vector).unroll(u);
  mid.bound(u, 0, vector).compute_at(pieces, p).vectorize(u, vector);
  pieces.compute_root().parallel(p);
  State first = loop.initial();
  if (!(piece * split == count)) {
    LaneFold rest(loop, name + "rest", {}, no_index, piece * split, count - piece * split, lanes,
                  b.vector);
    rest.compute_root(0, 1, 1);
    first = read(rest.result(), {});
  }
  const Func sum = ordered_sum(loop, "total" + name, pieces, split, first);
  loop.stage(sum, [](const Index&) { return std::vector<Expr>{}; });
}

void stage_lanes(KernelBuilder& b, const Stage& stage) {
  const std::size_t rank = b.elements.type(stage.values[0]).rank();
  const JointLoop loop(b.elements, stage.values, rank);
  std::vector<Var> outer = make_vars("j", rank);  // innermost first
  std::size_t axis = 0;                           // of the tasks: the first that is long
  while (axis + 1 < rank && loop.base()[axis].at_most(1)) ++axis;
  const Extent rows = loop.base()[axis];
  const double ns = estimated_ns(b.kernel.body);
  const std::int64_t grain = choose_grain(ns, hint(b.elements.type(stage.values[0]).dims[axis]));
  auto kept = [=](const std::vector<Var>& vars) {
    Index index(vars.rbegin(), vars.rend());
    index[axis] = inside(index[axis], rows, grain);
    return index;
  };
  LaneFold fold(loop, loop.name(), outer, kept, 0, loop.reduced().back(), 4 * b.vector, b.vector);
  fold.compute_root(axis, rows, grain);
  loop.stage(fold.result(), [](const Index& i) { return reversed(i); });
}

namespace {

// How many leading kept axes are loops: up to the last axis that is long enough for vectors. The
// axes after it are few elements, written out.
std::size_t base_axes(const Extents& kept, int vector) {
  std::int64_t tail_elements = 1;
  for (std::size_t a = kept.size(); a-- > 1;) {
    if (!kept[a].below(vector)) return a + 1;
    if (tail_elements * kept[a].number() > 8 || kept[a - 1].below(vector)) return a + 1;
    tail_elements *= kept[a].number();
  }
  return 1;
}

struct StripLoops {
  Var x{"x"}, xo{"xo"}, xi{"xi"}, p{"p"}, task{"task"};
  std::vector<Var> others;  // innermost first
};

// Strips in tasks, pieces in tasks, or (symbolic) both, in one form of the code for all tasks.
void spread(Func part, StripLoops v, const Extent& strips, std::int64_t grain, bool pieces,
            bool symbolic) {
  const bool cut = grain > 0 && !strips.at_most(grain);
  if (pieces && cut && symbolic) {
    Var tasks("tasks");
    part.split(v.xo, v.task, v.xo, constant(grain), tail(strips, grain));
    std::vector<Halide::VarOrRVar> loops{v.xi, v.xo};
    loops.insert(loops.end(), v.others.begin(), v.others.end());
    loops.insert(loops.end(), {v.task, v.p});
    part.reorder(loops).fuse(v.task, v.p, tasks).parallel(tasks);
    part.partition(tasks, Halide::Partition::Never);
  } else if (pieces) {
    part.parallel(v.p);
  } else if (cut) {
    part.split(v.xo, v.task, v.xo, constant(grain), tail(strips, grain)).parallel(v.task);
    if (symbolic) part.partition(v.task, Halide::Partition::Never);
  }
}

// The pieces' sums, added in their order.
Func add_pieces(const JointLoop& loop, Func part, const StripLoops& v, const Extent& pieces,
                const Extent& columns, int vector) {
  Func all("all" + loop.name());
  RDom q(0, constant(pieces), "q" + loop.name());
  std::vector<Expr> arguments{v.x};
  arguments.insert(arguments.end(), v.others.begin(), v.others.end());
  std::vector<Expr> piece = arguments;
  piece.push_back(q);
  define(all, arguments, loop.initial());
  define(all, arguments, loop.combine(read(all, arguments), read(part, piece)));
  all.compute_root();
  if (!columns.below(vector)) {
    all.vectorize(v.x, vector, tail(columns, vector));
    all.update().reorder(v.x, q).vectorize(v.x, vector, tail(columns, vector));
  }
  return all;
}

}  // namespace

// Running values of a wide strip lie in the first-level cache; a vector of them is in registers for
// `rows` rows, which are read from one end of the strip to the other.
void add_rows_together(Halide::Stage update, const Var& x, const RDom& r, int vector, int rows) {
  Var xo("xv"), xi("lane");
  Halide::RVar ro("rows"), ri("row");
  update.split(x, xo, xi, vector, Halide::TailStrategy::RoundUp).split(r[0], ro, ri, rows);
  std::vector<Halide::VarOrRVar> order{xi, ri, xo, ro};
  for (int d = 1; d < r.dimensions(); ++d) order.push_back(r[d]);
  update.reorder(order).vectorize(xi).unroll(ri);
}

void stage_columns(KernelBuilder& b, const Stage& stage, const Columns& c) {
  std::size_t base = 8;
  for (ValueId v : stage.values) {
    base = std::min(base, base_axes(b.elements.extents(v), b.vector));
  }
  const JointLoop loop(b.elements, stage.values, base);
  const std::string name = loop.name();
  const int vector = std::max(1, b.vector * 4 / loop.element_bytes());
  const Extent columns = loop.base().back();
  const Extents& reduced = loop.reduced();
  const int strip = std::max(vector, c.strip / vector * vector);
  // The outermost reduced axis is cut into pieces.
  const Extent rows = reduced.front();
  const bool whole = c.split == 0 || rows.at_most(c.split);
  const Extent split = whole ? rows : Extent(c.split);
  const Extent pieces = whole ? Extent(1) : ceil_div(rows, c.split);

  Func acc("acc" + name), part("strip" + name);
  const StripLoops v{.others = make_vars("o", base - 1)};
  std::vector<Halide::Range> ranges;
  for (std::size_t a = reduced.size(); a-- > 1;) ranges.push_back({0, constant(reduced[a])});
  ranges.push_back({0, constant(split)});
  RDom r(ranges, "r" + name);
  const Expr outer = r[r.dimensions() - 1] + v.p * constant(split);
  if (!whole && !rows.divisible_by(c.split)) r.where(outer < constant(rows));
  std::vector<Expr> pieced{v.x};
  pieced.insert(pieced.end(), v.others.begin(), v.others.end());
  pieced.push_back(v.p);
  Index kept(v.others.rbegin(), v.others.rend());
  // Where extents are symbols, the last strip is computed whole, of clamped columns: no guards.
  const bool symbolic = is_symbolic(b.kernel.body);
  kept.push_back(symbolic ? edge(v.x, columns, strip) : inside(v.x, columns, strip));
  Index index{whole ? outer : inside(outer, rows, c.split)};
  for (int d = r.dimensions() - 1; d-- > 0;) index.push_back(r[d]);
  define(acc, pieced, loop.initial());
  define_over(r, acc, pieced, loop.step(read(acc, pieced), kept, index));
  define(part, pieced, read(acc, pieced));

  part.compute_root()
      .split(v.x, v.xo, v.xi, strip,
             symbolic ? Halide::TailStrategy::RoundUp : tail(columns, strip))
      .vectorize(v.xi, vector);
  acc.compute_at(part, v.xo).bound_extent(v.x, strip);
  acc.vectorize(v.x, vector, Halide::TailStrategy::RoundUp);
  if (c.rows > 1) {
    add_rows_together(acc.update(), v.x, r, vector, c.rows);
  } else {
    part.unroll(v.xi);
    acc.unroll(v.x);
    std::vector<Halide::VarOrRVar> order{v.x};
    for (int d = 0; d < r.dimensions(); ++d) order.push_back(r[d]);
    acc.update().reorder(order).vectorize(v.x, vector, Halide::TailStrategy::RoundUp).unroll(v.x);
  }
  spread(part, v, ceil_div(columns, strip), c.grain, !whole, symbolic);
  loop.stage(add_pieces(loop, part, v, pieces, columns, vector),
             [](const Index& i) { return reversed(i); });
}

RowValue store_row_value(KernelBuilder& b, ValueId v, std::size_t axes,
                         const std::function<Index(const Var&)>& kept,
                         const std::function<Expr(const Index&)>& row_of) {
  const Extents extents = b.elements.extents(v);
  RowValue value{Func("row" + std::to_string(v.index)),
                 make_vars("j", extents.size() - axes),
                 {extents.begin() + static_cast<std::ptrdiff_t>(axes), extents.end()}};
  const Var y("y");
  Index index = kept(y);
  index.insert(index.end(), value.wide.begin(), value.wide.end());
  std::vector<Expr> arguments = reversed(as_index(value.wide));
  arguments.push_back(y);
  value.f(arguments) = b.elements.at(v, index);
  b.elements.stage(v, [=, f = value.f](const Index& i) {
    std::vector<Expr> a(i.rbegin(), i.rend() - static_cast<std::ptrdiff_t>(axes));
    a.push_back(row_of(i));
    return Expr(f(a));
  });
  return value;
}

}  // namespace heddle::halide
