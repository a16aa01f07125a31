// Windows that look for elements at every tap are much code where nothing is known of extents: they
// read copies with padding and holes instead.
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/backends/halide/window.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle::halide {
namespace {

RDom loop_over_elements(const Places& places, const std::string& name) {
  std::vector<Halide::Range> ranges;  // innermost first
  for (std::size_t a = places.axes.size(); a-- > 0;) {
    if (!places.axes[a].is_whole) ranges.push_back({0, constant(places.axes[a].count)});
  }
  return {ranges, name};
}

// The outer axes without padding as one loop, in tasks that are never longer than the loop.
void make_tasks(Halide::Stage s, const std::vector<Var>& args, const Places& places,
                std::int64_t grain) {
  Extent count = 1, length = 1;
  std::size_t outer = 0;
  for (; outer + 1 < args.size() && places.axes[outer].is_whole; ++outer) {
    count = count * places.extents[outer];
  }
  if (outer == 0) return;
  for (std::size_t a = outer; a < args.size(); ++a) length = length * places.extents[a];
  Var rows = args[outer - 1], task("task"), rest("rest");
  for (std::size_t a = outer - 1; a-- > 0;) {
    Var fused("rows" + std::to_string(a));
    s.fuse(rows, args[a], fused);
    rows = fused;
  }
  const Expr most = max(1, constant(count)), each = constant(grain) / max(1, constant(length));
  s.split(rows, task, rest, clamp(each, 1, most), Halide::TailStrategy::GuardWithIf);
  s.parallel(task).partition(task, Halide::Partition::Never);
  s.partition(rest, Halide::Partition::Never);
}

}  // namespace

// First padding everywhere, then the elements.
Elements::Reader KernelBuilder::store_places(const Node& window) {
  const std::optional<Places> places = places_under(elements, window);
  if (!places) return nullptr;
  const std::size_t rank = places->axes.size();
  Func f("places" + std::to_string(window.results[0].index));
  const std::vector<Var> args = make_vars("i", rank);
  const RDom r = loop_over_elements(*places, "r" + f.name());
  Index place, element;
  for (std::size_t a = 0, next = static_cast<std::size_t>(r.dimensions()); a < rank; ++a) {
    const Places::Axis& axis = places->axes[a];
    const Expr from =
        axis.is_whole ? Expr(args[a]) : constant(axis.first) + r[static_cast<int>(--next)];
    element.push_back(from);
    place.push_back(axis.is_whole ? from : from * constant(axis.dilation) + constant(axis.low));
  }
  f(reversed(as_index(args))) = Reduction(elements, window.results[0]).initial()[0];
  f(reversed(place)) = elements.at(window.operands[0], element);
  f.compute_root();
  for (std::size_t a = 0; a < rank; ++a) f.bound(args[a], 0, constant(places->extents[a]));
  const Map map = choose_map(kernel.body, kernel.target);
  constexpr auto kGuard = Halide::TailStrategy::GuardWithIf;
  constexpr auto kNever = Halide::Partition::Never;
  f.vectorize(args.back(), map.vector, kGuard).partition(args.back(), kNever);
  if (places->axes.back().is_whole) {
    f.update().vectorize(args.back(), map.vector, kGuard).partition(args.back(), kNever);
  } else if (places->axes.back().dilation == 1) {
    f.update().vectorize(r.x, map.vector, kGuard).partition(r.x, kNever);
  }
  make_tasks(f, args, *places, map.grain);
  make_tasks(f.update(), args, *places, map.grain);
  return [f](const Index& i) { return Expr(f(reversed(i))); };
}

}  // namespace heddle::halide
