#include <algorithm>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle {

Fibres choose_fibres(const Function& body, const Target& target) {
  const Node& node = *fibre_node(body);
  const auto axis = static_cast<std::size_t>(fibre_axis(node));
  const std::vector<std::int64_t> extents = hints(body.type(node.results[0]).dims);
  std::int64_t fibres = product(extents) / std::max<std::int64_t>(1, extents[axis]);
  Fibres f;
  // A block of fibres side by side should stay in the second-level cache, and read whole lines; a
  // vector of them must be there.
  const int lanes = lanes_of(body, target);
  if (node.op->strict.pattern == Pattern::scan && axis + 1 < extents.size() &&
      extents.back() >= lanes) {
    constexpr std::int64_t kBlock = 65536;
    f.strip = lanes;
    while (f.strip < 8 * lanes && 2 * f.strip <= extents.back() &&
           2 * f.strip * extents[axis] <= kBlock)
      f.strip *= 2;
    fibres = fibres / extents.back() * ((extents.back() + f.strip - 1) / f.strip);
  }
  f.grain = choose_grain(estimated_ns(body), fibres);
  return f;
}

}  // namespace heddle
