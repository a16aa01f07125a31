// Reductions that are arrays of their own.
#include <algorithm>

#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/fold.h"
#include "heddle/backends/halide/gpu/launch.h"

namespace heddle::halide::gpu {
namespace {

// Threads that keep a device busy, and the least work that is worth one.
constexpr std::int64_t kBusy = 16384, kPiece = 32;

// The states of `part` over its last axis [0, pieces), in their order.
Func add_pieces(const JointLoop& loop, Func part, const std::vector<Var>& axes,
                const Extent& pieces) {
  const std::vector<Expr> arguments = reversed(as_index(axes));
  RDom q(0, constant(pieces), "q" + loop.name());
  std::vector<Expr> piece = arguments;
  piece.push_back(q);
  Func acc("sum" + loop.name()), all("all" + loop.name());
  define(acc, arguments, loop.initial());
  define(acc, arguments, loop.combine(read(acc, arguments), read(part, piece)));
  define(all, arguments, read(acc, arguments));
  all.compute_root();
  acc.compute_at(all, launch(all, axes, loop.base()));
  return all;
}

// Of reductions that share a loop, some have a few elements more at the end: written out.
JointLoop joint_loop(KernelBuilder& b, const Stage& stage) {
  std::size_t base = b.elements.type(stage.values[0]).rank();
  for (ValueId v : stage.values) base = std::min(base, b.elements.type(v).rank());
  return JointLoop(b.elements, stage.values, base);
}

void read_from(const JointLoop& loop, const Func& f) {
  loop.stage(f, [](const Index& i) { return reversed(i); });
}

}  // namespace

void launch_threads(KernelBuilder& b, const Stage& stage) {
  const JointLoop loop = joint_loop(b, stage);
  const std::vector<Var> axes = make_vars("j", loop.base().size());
  const std::vector<Expr> arguments = reversed(as_index(axes));
  Func acc = fold_in_thread(loop, loop.name(), arguments, as_index(axes));
  Func all("all" + loop.name());
  define(all, arguments, read(acc, arguments));
  all.compute_root();
  acc.compute_at(all, launch(all, axes, loop.base()));
  read_from(loop, all);
}

void launch_blocks(KernelBuilder& b, const Stage& stage) {
  const JointLoop loop = joint_loop(b, stage);
  const Extent count = product(loop.reduced()), kept = product(loop.base());
  const std::int64_t longest = std::int64_t{kPiece} * BlockFold::kLanes;
  const std::int64_t wanted = std::max<std::int64_t>(1, kBusy / BlockFold::kLanes / kept.number());
  const Extent pieces = std::min(wanted, std::max<std::int64_t>(1, count.number() / longest));
  const Extent piece =
      ceil_div(ceil_div(count, pieces.number()), BlockFold::kLanes) * Extent(BlockFold::kLanes);
  const std::vector<Var> axes = make_vars("j", loop.base().size());
  std::vector<Var> outer(axes.rbegin(), axes.rend());
  Var p("p");
  outer.push_back(p);
  const bool whole = pieces.is(1);
  BlockFold fold(loop, loop.name(), outer, as_index(axes), p * constant(piece),
                 whole ? count : piece);
  fold.launch();
  if (!whole) return read_from(loop, add_pieces(loop, fold.result(), axes, pieces));
  loop.stage(fold.result(), [](const Index& i) {
    std::vector<Expr> arguments = reversed(i);
    arguments.push_back(0);
    return arguments;
  });
}

// Neighbouring threads have neighbouring columns. A tall matrix of few columns is cut into pieces
// of its outermost reduced axis.
void launch_columns(KernelBuilder& b, const Stage& stage) {
  const JointLoop loop = joint_loop(b, stage);
  const std::int64_t rows = loop.reduced().front().number(),
                     columns = product(loop.base()).number();
  const std::int64_t wanted = std::min(rows / kPiece, kBusy / std::max<std::int64_t>(1, columns));
  if (wanted < 2) return launch_threads(b, stage);
  const std::int64_t piece = (rows + wanted - 1) / wanted, pieces = (rows + piece - 1) / piece;
  std::vector<Var> axes = make_vars("j", loop.base().size());
  const Index kept = as_index(axes);
  Var p("p");
  std::vector<Expr> arguments = reversed(kept);
  arguments.push_back(p);
  std::vector<Halide::Range> ranges;
  const Extents& reduced = loop.reduced();
  for (std::size_t a = reduced.size(); a-- > 1;) ranges.push_back({0, constant(reduced[a])});
  ranges.push_back({0, constant(piece)});
  RDom r(ranges, "r" + loop.name());
  Expr outer = r[r.dimensions() - 1] + p * constant(piece);
  if (rows % piece != 0) {
    r.where(outer < constant(rows));
    outer = min(outer, constant(rows - 1));
  }
  Index at{outer};
  for (int d = r.dimensions() - 1; d-- > 0;) at.push_back(r[d]);
  Func acc("acc" + loop.name()), part("part" + loop.name());
  define(acc, arguments, loop.initial());
  define_over(r, acc, arguments, loop.step(read(acc, arguments), kept, at));
  define(part, arguments, read(acc, arguments));
  part.compute_root();
  std::vector<Var> pieced{p};
  pieced.insert(pieced.end(), axes.begin(), axes.end());
  Extents extents{pieces};
  extents.insert(extents.end(), loop.base().begin(), loop.base().end());
  acc.compute_at(part, launch(part, pieced, extents));
  read_from(loop, add_pieces(loop, part, axes, pieces));
}

}  // namespace heddle::halide::gpu
