// Statistics along rows: a block for each row, its statistics and the values that several loops
// read in shared memory; a thread for each row when rows are short. Outputs of several extents are
// launches of their own, after those of the statistics.
#include <functional>
#include <memory>

#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/fold.h"
#include "heddle/backends/halide/gpu/launch.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide::gpu {
namespace {

constexpr std::int64_t kShortRow = 32;            // elements
constexpr std::int64_t kSharedBytes = 16 * 1024;  // of stored values, beside the statistics

class RowLaunch {
 public:
  RowLaunch(KernelBuilder& b, std::size_t axes, Extents rows, std::int64_t length)
      : b_(b), axes_(axes), rows_(std::move(rows)), by_thread_(length <= kShortRow) {}

  void make(const Stage& stage) {
    if (is_reduction(b_.kernel.body, b_.node(stage.values[0]))) {
      make_reduction(stage);
    } else {
      for (ValueId v : stage.values) make_value(v);
    }
  }

  void schedule(OutputGroup& group) {
    Func f = group.f;
    const auto split = group.args.begin() + static_cast<std::ptrdiff_t>(axes_);
    const std::vector<Var> wide(split, group.args.end());
    Var row = fuse_all(f, {group.args.begin(), split}, "rows"), thread("thread"), x("x");
    if (by_thread_) {
      const std::int64_t count = product(rows_).number();
      const int threads = static_cast<int>(std::min<std::int64_t>(count, BlockFold::kLanes));
      f.split(row, row, thread, threads, tail(count, threads));
      std::vector<Halide::VarOrRVar> order(wide.rbegin(), wide.rend());
      order.insert(order.end(), {thread, row});
      f.reorder(order).gpu_blocks(row).gpu_threads(thread);
      return place_all(f, thread);
    }
    if (wide.empty()) {
      f.gpu_blocks(row);
    } else {
      const Extent length = product(
          Extents(group.extents.begin() + static_cast<std::ptrdiff_t>(axes_), group.extents.end()));
      f.split(fuse_all(f, wide, "columns"), x, thread, BlockFold::kLanes,
              tail(length, BlockFold::kLanes));
      f.reorder(thread, x, row).gpu_blocks(row).gpu_threads(thread);
    }
    place_all(f, row);
  }

 private:
  Index kept(const Var& y) const { return unflatten(y, rows_); }
  Expr row_of(const Index& i) const {
    return flatten(Index(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(axes_)), rows_);
  }
  void place_all(Func consumer, Var at) {
    for (const auto& place : places_) place(consumer, at);
  }

  void make_reduction(const Stage& stage) {
    const JointLoop loop(b_.elements, stage.values, axes_);
    const Var y("y");
    Func all;
    if (by_thread_) {
      all = fold_in_thread(loop, loop.name(), {y}, kept(y));
      places_.push_back([all](Func consumer, Var at) mutable { all.compute_at(consumer, at); });
    } else {
      auto fold = std::make_shared<BlockFold>(loop, loop.name(), std::vector<Var>{y}, kept(y), 0,
                                              product(loop.reduced()));
      all = fold->result();
      places_.push_back([fold](Func consumer, Var at) { fold->compute_at(consumer, at); });
    }
    loop.stage(all, [this](const Index& i) { return std::vector<Expr>{row_of(i)}; });
  }

  // What does not fit is computed wherever it is read.
  bool fits(ValueId v) {
    const Extents extents = b_.elements.extents(v);
    const std::int64_t bytes =
        product(Extents(extents.begin() + static_cast<std::ptrdiff_t>(axes_), extents.end()))
            .number() *
        expression_type(b_.elements.type(v).dtype).bytes();
    if (shared_ + bytes > kSharedBytes) return false;
    shared_ += bytes;
    return true;
  }

  void make_value(ValueId v) {
    if (!fits(v)) return;
    const RowValue value = store_row_value(
        b_, v, axes_, [this](const Var& y) { return kept(y); },
        [this](const Index& i) { return row_of(i); });
    places_.push_back([=, by_thread = by_thread_](Func consumer, Var at) {
      Func f = value.f;
      f.compute_at(consumer, at);
      for (std::size_t a = 0; a < value.wide.size(); ++a) {
        f.bound(value.wide[a], 0, constant(value.lengths[a]));
      }
      if (by_thread || value.wide.empty()) return;
      Var x("x"), thread("thread");
      f.split(fuse_all(f, value.wide, "columns"), x, thread, BlockFold::kLanes,
              tail(product(value.lengths), BlockFold::kLanes))
          .gpu_threads(thread);
    });
  }

  KernelBuilder& b_;
  const std::size_t axes_;
  const Extents rows_;
  const bool by_thread_;
  std::int64_t shared_ = 0;
  std::vector<std::function<void(Func, Var)>> places_;
};

bool one_group(const Function& body) {
  for (const Output& o : body.outputs) {
    if (body.type(o.value).dims != body.type(body.outputs[0].value).dims) return false;
  }
  return true;
}

}  // namespace

void apply_rows(KernelBuilder& b) {
  const Function& body = b.kernel.body;
  const std::size_t axes = *row_axes(body);
  if (axes == 0 || !one_group(body)) {
    for (const Stage& stage : b.kernel.stages) launch_stage(b, stage);
    return launch_outputs(b);
  }
  Extents rows;
  std::int64_t length = 1;
  for (const Node& n : body.nodes) {
    if (!is_reduction(body, n)) continue;
    rows = b.elements.extents(n.results[0]);
    length = std::max(length, heddle::product(reduced_extents(body, n)));
  }
  RowLaunch own(b, axes, rows, length);
  for (const Stage& stage : b.kernel.stages) {
    if (stage.place == Place::once) {
      launch_stage(b, stage);
    } else {
      own.make(stage);
    }
  }
  b.make_outputs();
  own.schedule(b.outputs[0]);
}

}  // namespace heddle::halide::gpu
