#include "heddle/schedule/loops.h"

#include <algorithm>
#include <cmath>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/classify.h"
#include "heddle/schedule/gates.h"

namespace heddle {
namespace {

using Extents = std::vector<std::int64_t>;

bool contains(const Extents& list, std::int64_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

Dims pick(const Dims& dims, const Extents& axes) {
  Dims result;
  for (std::int64_t a : axes) result.push_back(dims[static_cast<std::size_t>(a)]);
  return result;
}
std::int64_t elements(const Type& type) { return product(hints(type.dims)); }
std::int64_t bytes_of(const Type& type) {
  return elements(type) * static_cast<std::int64_t>(size_of(type.dtype));
}

Extents other_axes(std::size_t rank, const Extents& a, const Extents& b = {}) {
  Extents result;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (!contains(a, axis) && !contains(b, axis)) result.push_back(axis);
  }
  return result;
}

// Rough costs of one result element, vectorised, in nanoseconds.
constexpr double kCheapNs = 0.06, kCostlyNs = 0.5, kScalarNs = 1.0, kScanNs = 0.3, kSortNs = 20,
                 kByteNs = 0.08, kFlopNs = 0.0125;

double node_ns(const Function& body, const Node& node) {
  const auto results = static_cast<double>(product(kept_extents(body, node)));
  if (node.op->strict.pattern == Pattern::contract) {
    return 2 * kFlopNs * results * static_cast<double>(product(reduced_extents(body, node)));
  }
  if (is_reduction(body, node) || node.op->strict.pattern == Pattern::window) {
    return kCheapNs * results * static_cast<double>(product(reduced_extents(body, node)));
  }
  switch (node.op->strict.pattern) {
    case Pattern::elementwise:
      return results * (is_costly(node) ? kCostlyNs : kCheapNs);
    case Pattern::gather:
      return results * kScalarNs;
    case Pattern::random:
      return results * 4 * kCostlyNs;
    case Pattern::scan:
      return results * kScanNs;
    case Pattern::sort:
      return kSortNs * static_cast<double>(elements(body.type(node.operands[0])));
    case Pattern::scatter:
      return kScalarNs * static_cast<double>(elements(body.type(node.operands[2])));
    default:
      return 0;
  }
}

bool has_own_loops(const Function& body, const Node& node) {
  return is_reduction(body, node) || is_fibre(node) || node.op->strict.pattern == Pattern::scatter;
}

double output_bytes(const Function& body) {
  double bytes = 0;
  for (const Output& o : body.outputs) bytes += static_cast<double>(bytes_of(body.type(o.value)));
  return bytes;
}

bool depends_on(const Function& body, ValueId reader, ValueId source) {
  std::vector<bool> reached(body.types.size());
  reached[source.index] = true;
  for (const Node& node : body.nodes) {
    bool reads = false;
    for (ValueId o : node.operands) reads |= reached[o.index];
    for (ValueId r : node.results) reached[r.index] = reached[r.index] || reads;
  }
  return reached[reader.index];
}

}  // namespace

std::int64_t hint(const Dim& dim) {
  std::int64_t value = dim.offset();
  for (const auto& [symbol, coefficient] : dim.terms()) {
    value += coefficient * (symbol[0] == kShortSymbol ? kShortHint : kSymbolHint);
  }
  return std::max<std::int64_t>(value, 1);
}

Extents hints(const Dims& dims) {
  Extents extents;
  for (const Dim& d : dims) extents.push_back(d.is_constant() ? d.constant() : hint(d));
  return extents;
}

bool is_symbolic(const Function& body) {
  return std::any_of(body.types.begin(), body.types.end(),
                     [](const Type& t) { return is_symbolic(t); });
}

bool is_reduction(const Function& body, const Node& node) {
  switch (node.op->strict.pattern) {
    case Pattern::reduce:
      return true;
    case Pattern::contract:
    case Pattern::window:
      return !is_inline_window(node, body.type(node.operands.back()));
    default:
      return false;
  }
}

bool is_fibre(const Node& node) {
  return node.op->strict.pattern == Pattern::scan || node.op->strict.pattern == Pattern::sort;
}

std::int64_t fibre_axis(const Node& node) { return node.attributes.get<std::int64_t>("axis"); }

const Node* fibre_node(const Function& body) {
  const Node* found = nullptr;
  for (const Node& node : body.nodes) {
    if (is_reduction(body, node) || node.op->strict.pattern == Pattern::scatter) return nullptr;
    if (!is_fibre(node)) continue;
    if (found != nullptr) return nullptr;
    found = &node;
  }
  if (found == nullptr) return nullptr;
  for (const Output& o : body.outputs) {
    if (body.type(o.value).dims != body.type(found->results[0]).dims) return nullptr;
  }
  // What reads it must do so at the fibre's own place.
  std::vector<bool> depends(body.types.size());
  depends[found->results[0].index] = true;
  for (const Node& node : body.nodes) {
    for (ValueId o : node.operands) {
      if (!depends[o.index]) continue;
      if (node.op->strict.pattern != Pattern::elementwise) return nullptr;
      depends[node.results[0].index] = true;
    }
  }
  return found;
}

std::int64_t product(const Extents& extents) {
  std::int64_t p = 1;
  for (std::int64_t e : extents) p *= e;
  return p;
}

Extents kept_extents(const Function& body, const Node& node) {
  return hints(body.type(node.results[0]).dims);
}

Extents reduced_axes(const Node& node) {
  if (node.op == &op_dot_general) return node.attributes.as<DotAttributes>().lhs_contract;
  if (node.op == &op_argmax || node.op == &op_argmin) {
    return {node.attributes.as<AxisAttributes>().axis};
  }
  return node.attributes.as<AxesAttributes>().axes;
}

Dims reduced_dims(const Function& body, const Node& node) {
  if (node.op->strict.pattern == Pattern::window) {
    const Extents window = node.attributes.as<WindowAttributes>().window;
    return Dims(window.begin(), window.end());
  }
  if (node.op == &op_conv_general) {
    const Dims& taps = body.type(node.operands[1]).dims;
    return Dims(taps.begin() + 1, taps.end());
  }
  return pick(body.type(node.operands[0]).dims, reduced_axes(node));
}

Extents reduced_extents(const Function& body, const Node& node) {
  return hints(reduced_dims(body, node));
}

namespace {

// Whether windows along axis `a` of a convolution are its elements, one by one.
bool is_plain(const ConvAttributes& c, const Dims& taps, std::size_t a) {
  return taps[a + 2] == Dim(1) && c.strides[a] == 1 && c.low[a] == 0 && c.high[a] == 0 &&
         c.lhs_dilation[a] == 1;
}

DotShape conv_shape(const Function& body, const Node& node) {
  const Dims& result = body.type(node.results[0]).dims;
  const Dims& taps = body.type(node.operands[1]).dims;
  const auto c = node.attributes.as<ConvAttributes>();
  DotShape s;
  s.rows = {c.groups == 1 ? result[1] : Dim(result[1].constant() / c.groups)};
  s.inner = reduced_dims(body, node);
  if (result.size() == 2 || hint(result.back()) < kShortest) {
    s.batch = {c.groups};
    s.columns = result;
    s.columns.erase(s.columns.begin() + 1);
    return s;
  }
  std::size_t first = result.size() - 1;
  while (first > 2 && is_plain(c, taps, first - 2) && is_plain(c, taps, first - 3)) --first;
  const auto split = result.begin() + static_cast<std::ptrdiff_t>(first);
  s.batch = {result[0], c.groups};
  s.batch.insert(s.batch.end(), result.begin() + 2, split);
  s.columns.assign(split, result.end());
  return s;
}

}  // namespace

DotShape dot_shape(const Function& body, const Node& node) {
  if (node.op == &op_conv_general) return conv_shape(body, node);
  const auto d = node.attributes.as<DotAttributes>();
  const Dims &lhs = body.type(node.operands[0]).dims, &rhs = body.type(node.operands[1]).dims;
  DotShape s;
  s.lhs_batch = d.lhs_batch, s.lhs_inner = d.lhs_contract;
  s.rhs_batch = d.rhs_batch, s.rhs_inner = d.rhs_contract;
  s.lhs_rows = other_axes(lhs.size(), d.lhs_batch, d.lhs_contract);
  s.rhs_columns = other_axes(rhs.size(), d.rhs_batch, d.rhs_contract);
  s.batch = pick(lhs, s.lhs_batch), s.rows = pick(lhs, s.lhs_rows);
  s.inner = pick(lhs, s.lhs_inner), s.columns = pick(rhs, s.rhs_columns);
  return s;
}

bool is_elementwise_behind(const Function& body, ValueId v) {
  std::vector<bool> made(body.types.size());
  made[v.index] = true;
  for (const Node& n : body.nodes) {
    for (ValueId o : n.operands) {
      if (!made[o.index]) continue;
      if (n.op->strict.pattern != Pattern::elementwise) return false;
      for (ValueId r : n.results) made[r.index] = true;
    }
  }
  return std::all_of(body.outputs.begin(), body.outputs.end(), [&](const Output& o) {
    return made[o.value.index] && body.type(o.value).dims == body.type(v).dims;
  });
}

double estimated_ns(const Function& body) {
  double compute = 0, bytes = output_bytes(body);
  for (const Node& node : body.nodes) compute += node_ns(body, node);
  for (const Input& in : body.inputs) bytes += static_cast<double>(bytes_of(body.type(in.value)));
  return std::max(compute, bytes * kByteNs);
}

double estimated_ns_in_place(const Function& body) {
  double compute = 0, bytes = output_bytes(body);
  std::vector<bool> made(body.types.size()), read(body.types.size());
  for (const Node& node : body.nodes) {
    for (ValueId r : node.results) made[r.index] = !has_own_loops(body, node);
    if (has_own_loops(body, node)) continue;
    compute += node_ns(body, node);
    for (ValueId o : node.operands) read[o.index] = true;
  }
  for (std::size_t v = 0; v < read.size(); ++v) {
    if (read[v] && !made[v]) bytes += static_cast<double>(bytes_of(body.types[v]));
  }
  return std::max(compute, bytes * kByteNs);
}

bool has_long_function(const Function& body) {
  return std::any_of(body.nodes.begin(), body.nodes.end(), [](const Node& n) {
    return n.op->strict.pattern == Pattern::elementwise && is_costly(n);
  });
}

int vectors_side_by_side(const Function& body) { return is_symbolic(body) ? 1 : 2; }

std::int64_t choose_grain(double total_ns, std::int64_t units, std::int64_t step, double task_ns) {
  const auto tasks = std::min(static_cast<std::int64_t>(total_ns / task_ns), units);
  if (tasks < 2) return units;
  const std::int64_t grain = ((units + tasks - 1) / tasks + step - 1) / step * step;
  // Equal tasks where that is possible: a shorter last one would be all the loops' code again.
  for (std::int64_t off = 0; off <= grain / 2; off += step) {
    for (const std::int64_t equal : {grain - off, grain + off}) {
      if (equal > 0 && 2 * equal <= units && units % equal == 0) return equal;
    }
  }
  return std::min(units, grain);
}

int lanes_of(DType dtype, const Target& target) {
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16;
  return 4 * target.vector_floats() / (narrow ? 4 : static_cast<int>(size_of(dtype)));
}

int lanes_of(const Function& body, const Target& target) {
  int lanes = 4 * target.vector_floats();
  for (const Type& t : body.types) lanes = std::min(lanes, lanes_of(t.dtype, target));
  return lanes;
}

std::optional<std::size_t> row_axes(const Function& body) {
  std::optional<std::size_t> rows;
  std::vector<const Node*> sums;
  for (const Node& node : body.nodes) {
    if (!is_reduction(body, node)) continue;
    if (node.op->strict.pattern != Pattern::reduce) return std::nullopt;
    const std::size_t kept = body.type(node.results[0]).rank();
    const std::int64_t first = reduced_axes(node).empty() ? -1 : reduced_axes(node).front();
    if (first != static_cast<std::int64_t>(kept)) return std::nullopt;  // not the trailing axes
    if (rows && *rows != kept) return std::nullopt;
    rows = kept;
    sums.push_back(&node);
  }
  if (!rows) return std::nullopt;
  const Dims& row = body.type(sums[0]->results[0]).dims;
  for (const Node* s : sums) {
    if (body.type(s->results[0]).dims != row) return std::nullopt;
  }
  for (const Output& o : body.outputs) {
    const Dims& e = body.type(o.value).dims;
    if (e.size() < row.size() || !std::equal(row.begin(), row.end(), e.begin())) {
      return std::nullopt;
    }
  }
  return rows;
}

bool same_columns(const Dims& a, const Dims& b) {
  constexpr std::int64_t kFew = 8;
  const Dims &few = a.size() <= b.size() ? a : b, &more = a.size() <= b.size() ? b : a;
  if (few.empty() || !std::equal(few.begin(), few.end(), more.begin())) return a == b;
  const Dims rest(more.begin() + static_cast<std::ptrdiff_t>(few.size()), more.end());
  return !is_symbolic(Type{.dims = rest}) && product(hints(rest)) <= kFew;
}

bool fits_columns(const Function& body) {
  bool any = false;
  for (const Node& node : body.nodes) {
    if (!is_reduction(body, node)) continue;
    if (node.op->strict.pattern != Pattern::reduce) return false;
    any |= body.type(node.results[0]).rank() > 0;
  }
  return any;
}

namespace {

// Whether outputs are made of the elements of its result at their own places. A reduction or a
// movement would read elements of other tiles.
bool lies_in_tiles(const Function& body, const Node& dot) {
  const ValueId v = dot.results[0];
  for (const Output& o : body.outputs) {
    if (body.type(o.value).dims != body.type(v).dims) return false;
  }
  for (const Node& node : body.nodes) {
    const bool loops =
        is_reduction(body, node) || is_fibre(node) || node.op->strict.pattern == Pattern::window ||
        node.op->strict.pattern == Pattern::movement ||
        node.op->strict.pattern == Pattern::gather || node.op->strict.pattern == Pattern::scatter;
    if (!loops || &node == &dot) continue;
    for (ValueId o : node.operands) {
      if (o == v || depends_on(body, o, v)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<ValueId> main_contraction(const Function& body) {
  const Node* best = nullptr;
  double most = 0;
  for (const Node& node : body.nodes) {
    if (node.op != &op_dot_general) continue;
    if (const double ns = node_ns(body, node); best == nullptr || ns > most) {
      best = &node, most = ns;
    }
  }
  if (best == nullptr) return std::nullopt;
  const ValueId dot = best->results[0];
  const DotShape s = dot_shape(body, *best);
  if (s.rows.size() != 1 || s.columns.size() != 1 || s.inner.empty() || s.m() < 2 || s.n() < 2) {
    return std::nullopt;
  }
  const bool has_gates = s.batch.empty() && gates_of(body, dot);
  if (!has_gates && !lies_in_tiles(body, *best)) return std::nullopt;
  return dot;
}

}  // namespace heddle
