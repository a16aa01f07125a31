#include <algorithm>

#include "heddle/schedule/classify.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle {
namespace {

// A sum keeps its running values in registers: fewer columns at a time when several sums share the
// loop.
int strip_for(std::int64_t columns, std::size_t sums, int vector) {
  std::int64_t strip = sums == 1 ? 16 * vector : sums == 2 ? 8 * vector : vector;
  while (strip > vector && strip > columns) strip /= 2;
  return static_cast<int>(strip);
}

}  // namespace

Columns choose_columns(const Function& body, const Target& target) {
  std::int64_t columns = 1, rows = 1;
  std::size_t sums = 0;
  for (const Node& node : body.nodes) {
    if (!is_reduction(body, node) || body.type(node.results[0]).rank() == 0) continue;
    const std::int64_t kept = product(kept_extents(body, node));
    const std::int64_t reduced = product(reduced_extents(body, node));
    if (reduced <= kInlineReduction) continue;
    if (kept * reduced > columns * rows || sums == 0) columns = kept, rows = reduced;
    ++sums;
  }
  const double ns = estimated_ns(body);
  Columns c{.strip = strip_for(columns, sums, lanes_of(body, target))};
  const std::int64_t strips = (columns + c.strip - 1) / c.strip;
  c.grain = choose_grain(ns, strips);
  // Few strips for the work there is, or sums too long for one running value: cut the rows.
  constexpr std::int64_t kLongest = 4096;
  const std::int64_t tasks = std::min(rows, static_cast<std::int64_t>(ns / 50000));
  if (tasks > 1 && (strips + c.grain - 1) / c.grain < tasks) c.split = (rows + tasks - 1) / tasks;
  if (is_symbolic(body) || (rows > kLongest && (c.split == 0 || c.split > kLongest)))
    c.split = kLongest;
  return c;
}

}  // namespace heddle
