#include <algorithm>

#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"
#include "heddle/schedule/tuned.h"

namespace heddle {

Rows choose_rows(const Function& body, const Target& target) {
  Rows rows{.lanes = tuned_for(target).lanes * lanes_of(body, target)};
  std::int64_t count = 1, longest = 1;
  for (const Node& node : body.nodes) {
    if (!is_reduction(body, node)) continue;
    count = product(kept_extents(body, node));
    longest = std::max(longest, product(reduced_extents(body, node)));
  }
  const double ns = estimated_ns(body);
  if (body.type(body.outputs[0].value).rank() == 0 || count == 1) {
    // A total: its pieces are the tasks. At least 4096 elements each, whatever they cost.
    const std::int64_t piece = std::max<std::int64_t>(4096, choose_grain(ns, longest));
    rows.split = std::max<std::int64_t>(1, longest / piece);
    rows.grain = 1;
    return rows;
  }
  rows.grain = choose_grain(ns, count);
  // Two rows of an input, one of a stage and one of an output, in half the cache.
  const std::int64_t bytes = longest * static_cast<std::int64_t>(sizeof(float));
  rows.ahead = !is_symbolic(body) && 8 * bytes <= std::int64_t{1024} * tuned_for(target).cache_kb;
  return rows;
}

}  // namespace heddle
