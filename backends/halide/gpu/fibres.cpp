// Scans by one thread for each fibre; sorts by counting, a thread for each element.
#include "heddle/backends/halide/fibres.h"

#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/launch.h"
#include "heddle/graph/operation.h"

namespace heddle::halide::gpu {

void launch_fibres(KernelBuilder& b, ValueId v) {
  FibreStage stage(b, v, 1, true);
  stage.compute_root();
  stage.launch();
}

}  // namespace heddle::halide::gpu

namespace heddle::halide {

// A sort compares every two elements of a fibre: beyond that it would take minutes.
constexpr std::int64_t kLongestSort = 4096;

void FibreStage::launch() {
  std::vector<Var> axes = axes_.others;
  axes.push_back(i_);
  Extents others, extents;
  for (std::size_t a = 0; a < axes_.extents.size(); ++a) {
    if (a != axes_.axis) others.push_back(axes_.extents[a]);
  }
  extents = others;
  extents.push_back(axes_.length());
  for (Func& f : held_) {
    const Var thread = gpu::launch(f, axes, extents);
    if (const auto own = in_thread_.find(f.name()); own != in_thread_.end()) {
      own->second.compute_at(f, thread);
    }
    if (f.has_update_definition()) gpu::launch(f.update(), axes_.others, others);
  }
}

// Each element's rank is the number of those that come before it; element i of the order is the
// one whose rank is i.
Func FibreStage::make_counted_order(const Func& keys) {
  const std::int64_t n = axes_.length().number();
  if (n > kLongestSort) {
    throw CompileError({.message = "a sort of this length is not for this carrier",
                        .operation = std::string(node_.op->name),
                        .field = "operands[0].dims[" + std::to_string(axes_.axis) + "]",
                        .found = std::to_string(n) + " elements",
                        .needed = "at most " + std::to_string(kLongestSort) + " for carrier " +
                                  b_.kernel.target.carrier});
  }
  RDom r(0, constant(n), "r" + name_), q(0, constant(n), "q" + name_);
  const std::vector<Expr> here = axes_.arguments(i_);
  Func count("count" + name_), rank("rank" + name_), find("find" + name_), order("order" + name_);
  const Expr mine = keys(here), other = keys(axes_.arguments(r));
  count(here) = 0;
  count(here) += Halide::cast<std::int32_t>(other < mine || (other == mine && r < i_));
  rank(here) = count(here);
  find(here) = 0;
  find(here) = select(rank(axes_.arguments(q)) == i_, Expr(q), find(here));
  order(here) = find(here);
  in_thread_.emplace(rank.name(), count);
  in_thread_.emplace(order.name(), find);
  hold(rank), hold(order);
  return order;
}

}  // namespace heddle::halide
