#include <algorithm>

#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle {

Map choose_map(const Function& body, const Target& target) {
  Map map{.vector = lanes_of(body, target), .unroll = vectors_side_by_side(body)};
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
