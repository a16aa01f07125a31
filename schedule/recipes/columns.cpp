#include <algorithm>
#include <optional>

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
  return static_cast<int>(std::max<std::int64_t>(1, strip / vector) * vector);
}

constexpr int kRowsTogether = 4;

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

// What the sums of a body have in common.
struct Sums {
  std::int64_t columns = 1, rows = 1, values = 0;  ///< values: of one column
  bool one_axis = true, by_fours = true;           ///< of rows
};

Sums sums_of(const Function& body) {
  Sums sums;
  std::vector<std::int64_t> all;
  for (const Node& node : body.nodes) {
    if (!is_reduction(body, node) || body.type(node.results[0]).rank() == 0) continue;
    const auto axes = reduced_extents(body, node);
    if (product(axes) <= kInlineReduction) continue;
    all.push_back(product(kept_extents(body, node)));
    sums.rows = std::max(sums.rows, product(axes));
    sums.one_axis = sums.one_axis && axes.size() == 1;
    sums.by_fours = sums.by_fours && axes.back() % kRowsTogether == 0;
  }
  if (!all.empty()) sums.columns = std::ranges::min(all);
  for (std::int64_t kept : all) sums.values += kept / sums.columns;
  return sums;
}

// Rows of one piece, 0: of all. Few strips for the work there is, or sums too long for one running
// value, cut the rows.
std::int64_t split_of(const Function& body, std::int64_t rows, std::int64_t strip_tasks) {
  constexpr std::int64_t kLongest = 4096;
  if (is_symbolic(body)) return kLongest;
  const auto tasks = std::min(rows, static_cast<std::int64_t>(estimated_ns(body) / 50000));
  const bool few = tasks > 1 && strip_tasks < tasks;
  const std::int64_t split = few ? (rows + tasks - 1) / tasks : rows;
  if (split > kLongest) return kLongest;
  return few ? split : 0;
}

// Whether there is an input of rows and columns, not only what is stretched over them: its rows are
// best read from end to end, while running sums are best kept in registers.
bool reads_all(const Function& body, const Sums& sums) {
  return std::ranges::any_of(body.inputs, [&](const Input& in) {
    return product(hints(body.type(in.value).dims)) >= sums.columns * sums.rows;
  });
}

// Wide strips, of which one vector after another is added up for some rows.
std::optional<Columns> by_rows(const Function& body, const Sums& sums, int lanes,
                               const Target& target) {
  if (is_symbolic(body) || !sums.by_fours || sums.columns < 4 * lanes) return std::nullopt;
  Columns c{.strip = strip_for(sums.columns, 1, 0, lanes, tuned_for(target).strip),
            .rows = kRowsTogether};
  const std::int64_t strips = (sums.columns + c.strip - 1) / c.strip;
  c.grain = choose_grain(estimated_ns(body), strips);
  c.split = split_of(body, sums.rows, (strips + c.grain - 1) / c.grain);
  if (c.split == 0) return c;
  if (!sums.one_axis) return std::nullopt;
  const std::int64_t wanted = c.split;  // equal pieces, near that
  while (c.split >= kRowsTogether && (sums.rows % c.split != 0 || c.split % kRowsTogether != 0)) {
    --c.split;
  }
  return c.split * 2 >= wanted ? std::optional(c) : std::nullopt;
}

}  // namespace

std::optional<Columns> choose_row_times_matrix(const Function& body, const Node& dot,
                                               const Target& target) {
  const DotShape s = dot_shape(body, dot);
  if (s.m() != 1 || s.batches() != 1 || s.rhs_columns.size() != 1 || s.inner.size() != 1 ||
      s.rhs_columns[0] < s.rhs_inner[0])
    return std::nullopt;
  const Sums sums{.columns = s.n(), .rows = s.k(), .by_fours = s.k() % kRowsTogether == 0};
  return by_rows(body, sums, lanes_of(body.type(dot.results[0]).dtype, target), target);
}

Columns choose_columns(const Function& body, const Target& target) {
  const Sums sums = sums_of(body);
  const int lanes = lanes_of(body, target);
  if (reads_all(body, sums)) {
    if (const std::optional<Columns> wide = by_rows(body, sums, lanes, target)) return *wide;
  }
  Columns c{.strip = strip_for(sums.columns, sums.values, work_of(body, sums.columns * sums.rows),
                               lanes, vectors_of_strip(body, lanes, target))};
  const std::int64_t strips = (sums.columns + c.strip - 1) / c.strip;
  c.grain = choose_grain(estimated_ns(body), strips);
  c.split = split_of(body, sums.rows, (strips + c.grain - 1) / c.grain);
  return c;
}

}  // namespace heddle
