// Which launch stores a stage.
#include <algorithm>

#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/fold.h"
#include "heddle/backends/halide/gpu/launch.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide::gpu {
namespace {

void launch_value(KernelBuilder& b, ValueId v) {
  const Extents extents = b.elements.extents(v);
  Func f("stored" + std::to_string(v.index));
  const std::vector<Var> axes = make_vars("i", extents.size());
  f(reversed(as_index(axes))) = b.elements.at(v, as_index(axes));
  b.elements.stage(v, [f](const Index& i) { return Expr(f(reversed(i))); });
  f.compute_root();
  launch(f, axes, extents);
}

// Tiles pay when each element that is read is used often.
bool wants_tiles(const Function& body, const Node& node) {
  if (node.op->strict.pattern != Pattern::contract) return false;
  const DotShape s = dot_shape(body, node);
  return s.m() >= 8 && s.n() >= 8 && s.k() >= 8;
}

bool reduces_last_axis(const Function& body, const Node& node) {
  if (node.op->strict.pattern != Pattern::reduce) return true;
  const auto axes = reduced_axes(node);
  const auto rank = static_cast<std::int64_t>(body.type(node.operands[0]).rank());
  return std::find(axes.begin(), axes.end(), rank - 1) != axes.end();
}

}  // namespace

void launch_stage(KernelBuilder& b, const Stage& stage) {
  const ValueId v = stage.values[0];
  const Node& n = b.node(v);
  const Function& body = b.kernel.body;
  if (n.op == &op_scatter) return launch_scatter(b, v);
  if (is_fibre(n)) return launch_fibres(b, v);
  if (!is_reduction(body, n)) {
    for (ValueId each : stage.values) launch_value(b, each);
    return;
  }
  if (wants_tiles(body, n)) return launch_contraction(b, v);
  const std::int64_t kept = heddle::product(kept_extents(body, n)),
                     reduced = heddle::product(reduced_extents(body, n));
  if (reduced <= BlockFold::kLanes || kept >= 65536) return launch_threads(b, stage);
  if (reduces_last_axis(body, n)) return launch_blocks(b, stage);
  launch_columns(b, stage);
}

}  // namespace heddle::halide::gpu
