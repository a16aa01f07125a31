// result = operand, then the updates added one after another: the sum's order is that of the
// indices, whatever the number of threads.
#include <algorithm>

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle::halide {

namespace {

constexpr auto kGuard = Halide::TailStrategy::GuardWithIf;
constexpr int kBlock = 128;  // of the last axis, all updates of one after another: a task

struct ScatterFunc {
  Func f;
  std::vector<Var> args;  ///< outermost first
  Extents extents;
  std::size_t axis;  ///< that the indices name
};

// f = operand, then f(indices(r)) += updates(r).
ScatterFunc define_scatter(KernelBuilder& b, ValueId v, const std::string& name) {
  const Node& n = b.node(v);
  const auto g = n.attributes.as<GatherAttributes>();
  const Extents indices = b.elements.extents(n.operands[1]);
  ScatterFunc s{Func(name), {}, b.elements.extents(v), static_cast<std::size_t>(g.axis)};
  s.args = make_vars("i", s.extents.size());
  s.f(reversed(as_index(s.args))) = b.elements.at(n.operands[0], as_index(s.args));
  std::vector<Halide::Range> ranges;
  for (std::size_t a = indices.size(); a-- > 0;) ranges.push_back({0, constant(indices[a])});
  if (ranges.empty()) ranges.push_back({0, 1});
  RDom r(ranges, "r" + std::to_string(v.index));
  Index at;
  for (std::size_t a = indices.size(); a-- > 0;) at.push_back(r[static_cast<int>(a)]);
  const Expr picked = Halide::cast<std::int32_t>(b.elements.at(n.operands[1], at));
  const Expr size = constant(s.extents[s.axis]);
  Index target = as_index(s.args);
  target[s.axis] = clamp(picked, 0, size - 1);
  const auto split = s.args.begin() + static_cast<std::ptrdiff_t>(s.axis);
  Index source(s.args.begin(), split);
  source.insert(source.end(), at.begin(), at.end());
  source.insert(source.end(), split + 1, s.args.end());
  const Expr old = s.f(reversed(target)), update = b.elements.at(n.operands[2], source);
  const Expr sum = old.type().is_bool() ? old || update : exact_add(old, update);
  const Expr valid = picked >= 0 && picked < size;
  define_over(r, s.f, reversed(target), {g.mode == "clip" ? sum : select(valid, sum, old)});
  return s;
}

// Blocks of the last axis are tasks, and an update's row is contiguous: so each sum has the order
// of the updates, and lines are used whole. Without such an axis the first one is the tasks'.
void schedule_updates(ScatterFunc& s, int lanes, bool tasks) {
  const bool rows = s.axis + 1 < s.args.size();
  if (!rows) {
    if (tasks && s.axis > 0) s.f.update().parallel(s.args[0]);
    return;
  }
  const Var x = s.args.back();
  const Extent& width = s.extents.back();
  Var block("block"), xi("xi");
  std::vector<Halide::VarOrRVar> order;
  for (const Halide::RVar& r : s.f.rvars()) order.push_back(r);
  if (tasks && !width.at_most(kBlock)) {
    s.f.update().split(x, block, xi, kBlock, kGuard);
    order.insert(order.begin(), xi);
    order.push_back(block);
    s.f.update().reorder(order).parallel(block);
    s.f.update().vectorize(xi, lanes, kGuard);
  } else {
    order.insert(order.begin(), x);
    s.f.update().reorder(order);
    if (!width.below(lanes)) s.f.update().vectorize(x, lanes, kGuard);
  }
}

// Extents are symbols: one task.
void schedule_symbolic(ScatterFunc& s, int lanes) {
  const bool vectors = s.axis + 1 < s.args.size() && !s.extents.back().below(lanes);
  const Var x = s.args.back();
  if (vectors) s.f.update().vectorize(x, lanes, tail(s.extents.back(), lanes));
  if (!s.extents.back().below(lanes)) s.f.vectorize(x, lanes, tail(s.extents.back(), lanes));
}

void schedule_scatter(ScatterFunc& s, const Scatter& scatter, int lanes) {
  const bool tasks = !product(s.extents).at_most(scatter.grain);
  const Extent& width = s.extents.back();
  if (!width.below(lanes)) s.f.vectorize(s.args.back(), lanes, tail(width, lanes));
  if (tasks && s.args.size() > 1) {
    Var task("task"), rest("rest");
    const std::int64_t rows = s.extents[0].number(), row = product(s.extents).number() / rows;
    const std::int64_t grain = std::clamp<std::int64_t>(scatter.grain / row, 1, rows);
    s.f.split(s.args[0], task, rest, constant(grain), tail(rows, grain)).parallel(task);
  }
  schedule_updates(s, lanes, tasks);
}

// The scatter itself is the output, and is stored as it is computed. (Not where extents are
// symbols: such kernels have crashed, and it is not known why.)
bool is_output(const Kernel& k, ValueId v, DType dtype) {
  if (is_symbolic(k.body)) return false;
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::boolean;
  return k.body.outputs.size() == 1 && k.body.outputs[0].value == v && !narrow &&
         k.out[0].shares < 0;
}

}  // namespace

void stage_scatter(KernelBuilder& b, ValueId v, const Scatter& scatter) {
  ScatterFunc s = define_scatter(b, v, "scatter" + std::to_string(v.index));
  s.f.compute_root();
  const int lanes = std::min(scatter.vector, b.lanes_of(v));
  if (is_symbolic(b.kernel.body)) {
    schedule_symbolic(s, lanes);
  } else {
    schedule_scatter(s, scatter, lanes);
  }
  // The sum of a narrow float is rounded when it is read.
  b.elements.stage(v, [f = s.f, dtype = b.elements.type(v).dtype](const Index& i) {
    return rounded(f(reversed(i)), dtype);
  });
}

void apply(KernelBuilder& b, const Scatter& scatter) {
  const std::vector<Stage>& stages = b.kernel.stages;
  const ValueId last = stages.empty() ? ValueId{} : stages.back().values[0];
  const bool direct = !stages.empty() && b.node(last).op == &op_scatter &&
                      is_output(b.kernel, last, b.elements.type(last).dtype);
  for (std::size_t i = 0; i + (direct ? 1 : 0) < stages.size(); ++i) b.make_stage_once(stages[i]);
  if (direct) {
    ScatterFunc s = define_scatter(b, last, "y0");
    schedule_scatter(s, scatter, std::min(scatter.vector, b.lanes_of(last)));
    return b.add_group({s.f, s.extents, s.args, {0}});
  }
  b.make_outputs();
  Map map = choose_map(b.kernel.body, b.kernel.target);
  map.grain = scatter.grain;
  for (OutputGroup& group : b.outputs) b.schedule_map(group, map);
}

}  // namespace heddle::halide
