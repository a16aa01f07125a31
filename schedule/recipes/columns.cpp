#include <algorithm>

#include "heddle/graph/operation.h"
#include "heddle/schedule/classify.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"
#include "heddle/schedule/tuned.h"

namespace heddle {
namespace {

// A sum keeps its running values in registers: fewer columns at a time when several of them share
// the loop, or when one element is much work.
int strip_for(std::int64_t columns, std::int64_t values, std::int64_t work, int vector, int most) {
  const std::int64_t wide = static_cast<std::int64_t>(most) * vector;
  std::int64_t strip = values == 1 ? wide : values == 2 ? wide / 2 : vector;
  if (work > 4) strip = std::max<std::int64_t>(vector, strip / work);
  while (strip > vector && strip > columns) strip /= 2;
  return static_cast<int>(strip / vector * vector);
}

// Every vector of a strip is code of its own. Where extents are symbols, a user waits for it: fewer
// of them, and one of a long function.
int vectors_of_strip(const Function& body, int lanes, const Target& target) {
  constexpr int kSymbolicElements = 64;
  if (!is_symbolic(body)) return tuned_for(target).strip;
  return has_long_function(body) ? 1 : std::max(1, kSymbolicElements / lanes);
}

// Operations that one element of a sum's operand is made of, `rows` x `columns` of them.
std::int64_t work_of(const Function& body, std::int64_t elements) {
  return std::count_if(body.nodes.begin(), body.nodes.end(), [&](const Node& n) {
    return n.op->strict.pattern == Pattern::elementwise &&
           product(hints(body.type(n.results[0]).dims)) >= elements;
  });
}

}  // namespace

Columns choose_columns(const Function& body, const Target& target) {
  std::int64_t columns = 0, rows = 1;
  std::vector<std::int64_t> all;
  for (const Node& node : body.nodes) {
    if (!is_reduction(body, node) || body.type(node.results[0]).rank() == 0) continue;
    const std::int64_t kept = product(kept_extents(body, node));
    const std::int64_t reduced = product(reduced_extents(body, node));
    if (reduced <= kInlineReduction) continue;
    columns = all.empty() ? kept : std::min(columns, kept);
    rows = std::max(rows, reduced);
    all.push_back(kept);
  }
  columns = std::max<std::int64_t>(1, columns);
  std::int64_t values = 0;  // for one column
  for (std::int64_t kept : all) values += kept / columns;
  const double ns = estimated_ns(body);
  const int lanes = lanes_of(body, target);
  Columns c{.strip = strip_for(columns, values, work_of(body, columns * rows), lanes,
                               vectors_of_strip(body, lanes, target))};
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
