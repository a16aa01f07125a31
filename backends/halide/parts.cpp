// Outputs along a concatenation are stored part by part: each part's loops read one operand, and
// ask nothing.
#include "heddle/backends/halide/conversion.h"
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/axis_classes.h"

namespace heddle::halide {
namespace {

constexpr std::size_t kMostParts = 64;  // each is loops of its own
constexpr auto kGuard = Halide::TailStrategy::GuardWithIf;

// The axis of all outputs along which `node` joins its operands.
std::optional<std::size_t> joined_axis(const Function& body, AxisClasses& classes,
                                       const Node& node) {
  const auto axis = static_cast<std::size_t>(node.attributes.as<AxisAttributes>().axis);
  const std::size_t joined = classes.of(node.results[0])[axis];
  std::optional<std::size_t> found;
  for (const Output& o : body.outputs) {
    const std::vector<std::size_t> own = classes.of(o.value);
    const auto at = std::find(own.begin(), own.end(), joined);
    if (at == own.end() || std::count(own.begin(), own.end(), joined) != 1) return std::nullopt;
    const auto a = static_cast<std::size_t>(at - own.begin());
    if (found && *found != a) return std::nullopt;
    found = a;
  }
  return found;
}

bool stores_in_place(const Kernel& k) {
  return std::any_of(k.out.begin(), k.out.end(), [](const Port& p) { return p.shares >= 0; });
}

// The new loops, outer and inner: of the same kind as the one that is split.
std::pair<Halide::VarOrRVar, Halide::VarOrRVar> split(Halide::Stage& s,
                                                      const Halide::VarOrRVar& loop,
                                                      const Expr& factor) {
  const Halide::VarOrRVar outer(loop.name() + "_o", loop.is_rvar),
      inner(loop.name() + "_i", loop.is_rvar);
  s.split(loop, outer, inner, factor, kGuard);
  return {outer, inner};
}

// Vectors along the last axis, tasks along the first that has several indices.
void schedule_part(Halide::Stage s, const std::vector<Halide::VarOrRVar>& loops,
                   const Extents& extents, const Map& map) {
  const std::int64_t elements = product(extents).number();
  std::size_t outer = 0;
  while (outer + 1 < extents.size() && extents[outer].is(1)) ++outer;
  s.reorder({loops.rbegin(), loops.rend()});  // innermost first
  const Extent& columns = extents.back();
  if (!columns.below(map.vector)) {
    const int unroll = columns.divisible_by(4 * map.vector) ? 4 : 1;
    const auto vectors = split(s, loops.back(), map.vector * unroll).second;
    s.vectorize(vectors, map.vector).unroll(vectors);
  }
  if (outer + 1 >= extents.size() || elements <= map.grain) return;
  const std::int64_t rows = extents[outer].number();
  const std::int64_t each = std::clamp<std::int64_t>(map.grain / (elements / rows), 1, rows);
  s.parallel(split(s, loops[outer], constant(each)).first);
}

// Values of the outputs at `index`, read from one part.
std::vector<Expr> values_of(KernelBuilder& b, const Joined& joined, std::size_t part,
                            const Index& index, const Expr& place) {
  b.elements.take_part(joined.node->results[0], {part, index[joined.axis], place});
  std::vector<Expr> values;
  for (const Output& o : b.kernel.body.outputs) {
    values.push_back(to_storage(b.elements.at(o.value, index), b.kernel.body.type(o.value).dtype));
  }
  return values;
}

// The length of parts that are equally long, short pieces of each row: a row is written from one
// end to the other, through all of them. Else 0.
std::int64_t piece_of_rows(const KernelBuilder& b, const Joined& joined, const Extents& extents) {
  constexpr std::int64_t kShort = 1024;
  constexpr std::size_t kFew = 8;
  const auto from = static_cast<std::size_t>(joined.node->attributes.as<AxisAttributes>().axis);
  const Values& parts = joined.node->operands;
  const std::int64_t length = b.elements.extents(parts[0])[from].number();
  const bool last = joined.axis + 1 == extents.size();
  if (!last || parts.size() > kFew || length > kShort || length < 2 * b.vector) return 0;
  for (const ValueId v : parts) {
    if (!b.elements.extents(v)[from].is(length)) return 0;
  }
  const std::int64_t elements = product(extents).number();
  return elements > length * static_cast<std::int64_t>(parts.size()) ? length : 0;
}

void store_pieces(KernelBuilder& b, const Map& map, const Joined& joined, std::int64_t length,
                  OutputGroup& group) {
  const auto parts = static_cast<std::int64_t>(joined.node->operands.size());
  const RDom r({{0, constant(length)}, {0, constant(parts)}}, "parts");
  Index index = as_index(group.args);
  index[joined.axis] = r.y * constant(length) + r.x;
  std::vector<Expr> values;
  for (std::size_t k = joined.node->operands.size(); k-- > 0;) {
    const std::vector<Expr> own = values_of(b, joined, k, index, r.x);
    if (values.empty()) values = own;
    for (std::size_t o = 0; o < own.size(); ++o) {
      values[o] = Halide::select(r.y == static_cast<int>(k), own[o], values[o]);
    }
  }
  define(group.f, reversed(index), values);
  std::vector<Halide::VarOrRVar> loops(group.args.begin(), group.args.end() - 1);
  loops.insert(loops.end(), {r.y, r.x});
  Extents extents(group.extents.begin(), group.extents.end() - 1);
  extents.insert(extents.end(), {parts, length});
  group.f.update(0).allow_race_conditions();  // every place is stored to once
  schedule_part(group.f.update(0), loops, extents, map);
  group.f.update(0).unroll(r.y);
}

}  // namespace

std::optional<Joined> joined_outputs(const Kernel& kernel) {
  const Function& body = kernel.body;
  if (is_symbolic(body) || stores_in_place(kernel)) return std::nullopt;
  AxisClasses classes(body);
  for (const Output& o : body.outputs) {
    if (body.type(o.value).dims != body.type(body.outputs[0].value).dims) return std::nullopt;
  }
  for (const Node& node : body.nodes) {
    if (node.op != &op_concatenate || node.operands.size() > kMostParts) continue;
    if (const auto axis = joined_axis(body, classes, node)) return Joined{&node, *axis};
  }
  return std::nullopt;
}

void store_parts(KernelBuilder& b, const Map& map, const Joined& joined) {
  const Function& body = b.kernel.body;
  OutputGroup group{Func("y0"), b.elements.extents(body.outputs[0].value), {}, {}};
  group.args = make_vars("i", group.extents.size());
  std::vector<Expr> nothing;
  for (std::size_t o = 0; o < body.outputs.size(); ++o) {
    group.ports.push_back(o);
    nothing.push_back(Halide::undef(storage_type(body.type(body.outputs[o].value).dtype)));
  }
  define(group.f, reversed(as_index(group.args)), nothing);
  if (const std::int64_t length = piece_of_rows(b, joined, group.extents)) {
    store_pieces(b, map, joined, length, group);
    return b.add_group(std::move(group));
  }
  const auto from = static_cast<std::size_t>(joined.node->attributes.as<AxisAttributes>().axis);
  std::int64_t start = 0;
  for (std::size_t k = 0; k < joined.node->operands.size(); ++k) {
    Extents extents = group.extents;
    extents[joined.axis] = b.elements.extents(joined.node->operands[k])[from];
    const std::int64_t length = extents[joined.axis].number();
    if (length == 0) continue;
    const RDom r(0, constant(length), "part" + std::to_string(k));
    Index index = as_index(group.args);
    index[joined.axis] = constant(start) + r;
    define(group.f, reversed(index), values_of(b, joined, k, index, r));
    std::vector<Halide::VarOrRVar> loops(group.args.begin(), group.args.end());
    loops[joined.axis] = r.x;
    schedule_part(group.f.update(group.f.num_update_definitions() - 1), loops, extents, map);
    start += length;
  }
  b.add_group(std::move(group));
}

}  // namespace heddle::halide
