// Statistics along rows. All stages of a row are computed inside the row's loop, so a row is read
// from memory once.
#include <algorithm>
#include <functional>
#include <optional>

#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/classify.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle::halide {
namespace {

class RowStages {
 public:
  RowStages(KernelBuilder& b, const Rows& rows, std::size_t axes, Extents extents)
      : b_(b), rows_(rows), axes_(axes), extents_(std::move(extents)), count_(product(extents_)) {}

  void make(const Stage& stage) {
    if (is_reduction(b_.kernel.body, b_.node(stage.values[0]))) {
      make_reduction(stage);
    } else {
      for (ValueId v : stage.values) make_value(v);
    }
  }
  void compute_at(Func consumer, Var row) {
    for (const auto& place : places_) place(consumer, row);
  }
  // Of outputs that lie as what a stage reads: once they are made.
  void fetch_outputs() {
    for (const auto& [stage, port] : ahead_) {
      for (const OutputGroup& group : b_.outputs) {
        for (std::size_t e = 0; e < group.ports.size(); ++e) {
          if (!lies_alike(port, group.ports[e])) continue;
          const std::string element = group.ports.size() > 1 ? "." + std::to_string(e) : "";
          b_.ahead.add_output(stage, b_.inputs[port].name(), group.f.name() + element);
        }
      }
    }
  }

 private:
  // Rows beyond the last one are computed with it, and dropped.
  Index kept(const Var& y) const { return unflatten(inside(y, count_, rows_.grain), extents_); }
  Expr row_of(const Index& i) const {
    return flatten(Index(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(axes_)), extents_);
  }

  void make_reduction(const Stage& stage) {
    Values reduced;
    for (ValueId v : stage.values) reduced.push_back(b_.node(v).operands[0]);
    const JointLoop loop(b_.elements, stage.values, axes_);
    auto fold = std::make_shared<LaneFold>(
        loop, loop.name(), std::vector<Var>{Var("y")},
        [this](const std::vector<Var>& v) { return kept(v[0]); }, 0, loop.reduced().back(),
        rows_.lanes, b_.vector);
    fetch_ahead(read_for_long(reduced), fold->reader());
    loop.stage(fold->result(), [this](const Index& i) { return std::vector<Expr>{row_of(i)}; });
    places_.push_back([fold](Func consumer, Var row) { fold->compute_at(consumer, row); });
  }

  void make_value(ValueId v) {
    const std::vector<std::size_t> ports = read_for_long({v});
    const RowValue value = store_row_value(
        b_, v, axes_, [this](const Var& y) { return kept(y); },
        [this](const Index& i) { return row_of(i); });
    fetch_ahead(ports, value.f);
    const int lanes = b_.lanes_of(v), together = is_symbolic(b_.kernel.body) ? 1 : 2;
    places_.push_back([=](Func consumer, Var row) {
      Func f = value.f;
      f.compute_at(consumer, row);
      if (!value.wide.empty())
        vectorize(f, value.wide.back(), value.lengths.back(), lanes, together);
    });
  }

  // The inputs that stand behind `values`, element by element. Nothing where no operation on the
  // way takes long: then memory is what the stage waits for anyway.
  std::vector<std::size_t> read_for_long(Values values) const {
    const Function& body = b_.kernel.body;
    std::vector<std::size_t> ports;
    std::vector<bool> seen(body.types.size());
    bool takes_long = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ValueId v = values[i];
      if (seen[v.index] || body.type(v).rank() <= axes_) continue;  // or a number of the row
      seen[v.index] = true;
      const Node* maker = b_.elements.maker(v);
      if (maker == nullptr) {
        const auto is_v = [v](const Input& input) { return input.value == v; };
        const auto port = std::find_if(body.inputs.begin(), body.inputs.end(), is_v);
        ports.push_back(static_cast<std::size_t>(port - body.inputs.begin()));
      } else if (maker->op->strict.pattern == Pattern::elementwise && !b_.elements.staged(v)) {
        takes_long |= is_costly(*maker);
        values.insert(values.end(), maker->operands.begin(), maker->operands.end());
      }
    }
    return takes_long ? ports : std::vector<std::size_t>{};
  }
  void fetch_ahead(const std::vector<std::size_t>& ports, const Func& stage) {
    if (!rows_.ahead) return;
    for (std::size_t p : ports) {
      const std::int64_t row = b_.kernel.in[p].strides[axes_ - 1].constant();
      b_.ahead.add(stage.name(), b_.inputs[p].name(), row);
      ahead_.emplace_back(stage.name(), p);
    }
  }
  bool lies_alike(std::size_t in, std::size_t out) const {
    const Type &a = b_.elements.type(b_.kernel.body.inputs[in].value),
               &b = b_.elements.type(b_.kernel.body.outputs[out].value);
    return a == b && b_.kernel.in[in].strides == b_.kernel.out[out].strides;
  }

  KernelBuilder& b_;
  const Rows& rows_;
  std::size_t axes_;
  Extents extents_;
  Extent count_;
  std::vector<std::function<void(Func, Var)>> places_;
  std::vector<std::pair<std::string, std::size_t>> ahead_;  ///< stages, and ports they read
};

// The loop over rows of one group of outputs, in tasks of `grain` rows. Returns its variable.
Var schedule_rows(OutputGroup& group, std::size_t axes, const Extent& count, std::int64_t grain,
                  bool symbolic) {
  Var row = group.args[axes - 1], task("task"), inner("row");
  for (std::size_t a = axes - 1; a-- > 0;) {
    Var fused("rows" + std::to_string(a));
    group.f.fuse(row, group.args[a], fused);
    row = fused;
  }
  if (count.at_most(grain)) return row;
  group.f.split(row, task, inner, constant(grain), tail(count, grain)).parallel(task);
  // All that is inside once more, for a last task: too much code where a user waits for it.
  if (symbolic) group.f.partition(task, Halide::Partition::Never);
  return inner;
}

void apply_total(KernelBuilder& b, const Rows& rows) {
  for (const Stage& stage : b.kernel.stages) {
    const ValueId v = stage.values[0];
    const bool one_axis = is_reduction(b.kernel.body, b.node(v)) &&
                          b.elements.type(v).rank() == 0 &&
                          reduced_extents(b.kernel.body, b.node(v)).size() == 1;
    if (one_axis) {
      stage_total(b, stage, rows.split, rows.lanes);
    } else {
      b.make_stage_once(stage);
    }
  }
  b.make_outputs();
  const Map map = choose_map(b.kernel.body, b.kernel.target);
  for (OutputGroup& group : b.outputs) b.schedule_map(group, map);
}

}  // namespace

void apply(KernelBuilder& b, const Rows& rows) {
  const std::size_t axes = *row_axes(b.kernel.body);
  if (axes == 0) return apply_total(b, rows);
  Extents extents;
  for (const Node& n : b.kernel.body.nodes) {
    if (is_reduction(b.kernel.body, n)) extents = b.elements.extents(n.results[0]);
  }
  RowStages stages(b, rows, axes, extents);
  for (const Stage& stage : b.kernel.stages) {
    if (stage.place == Place::once) {
      b.make_stage_once(stage);
    } else {
      stages.make(stage);
    }
  }
  b.make_outputs();
  stages.fetch_outputs();
  std::optional<Var> row;
  const bool symbolic = is_symbolic(b.kernel.body);
  for (OutputGroup& group : b.outputs) {
    const Var own = schedule_rows(group, axes, product(extents), rows.grain, symbolic);
    if (group.extents.size() > axes) {
      const int together = symbolic ? 1 : 2;
      vectorize(group.f, group.args.back(), group.extents.back(), b.lanes, together);
    }
    if (row) group.f.compute_with(b.outputs[0].f, *row);
    if (!row) row = own;
  }
  stages.compute_at(b.outputs[0].f, *row);
}

}  // namespace heddle::halide
