#include <algorithm>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle {
namespace {

constexpr int kReversedLanes = 8;

bool reverses_rows(const Function& body, const Node& node) {
  if (node.op != &op_reverse) return false;
  const auto axes = node.attributes.as<AxesAttributes>().axes;
  const auto last = static_cast<std::int64_t>(body.type(node.results[0]).rank()) - 1;
  return std::find(axes.begin(), axes.end(), last) != axes.end();
}

// Where extents are symbols, what is read backwards is read lane by lane: vectors of narrow
// elements would be much code, and no faster.
int map_lanes(const Function& body, const Target& target) {
  const int lanes = lanes_of(body, target);
  if (lanes <= target.vector_floats() || !is_symbolic(body)) return lanes;
  const bool reverses = std::any_of(body.nodes.begin(), body.nodes.end(),
                                    [&](const Node& n) { return reverses_rows(body, n); });
  return reverses ? std::min(lanes, kReversedLanes) : lanes;
}

}  // namespace

Map choose_map(const Function& body, const Target& target) {
  Map map{.vector = map_lanes(body, target), .unroll = vectors_side_by_side(body)};
  std::int64_t elements = 1;
  for (const Output& o : body.outputs) {
    elements = std::max(elements, product(hints(body.type(o.value).dims)));
  }
  map.grain = choose_grain(estimated_ns_in_place(body), elements, map.vector * map.unroll);
  return map;
}

Scatter choose_scatter(const Function& body, const Target& target) {
  const Map map = choose_map(body, target);
  return {.vector = map.vector, .grain = map.grain};
}

}  // namespace heddle
