#include "heddle/backends/halide/kernel_builder.h"

#include <algorithm>

#include "heddle/backends/halide/fibres.h"
#include "heddle/backends/halide/window.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/carrier_types.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle::halide {

KernelBuilder::KernelBuilder(const Kernel& k)
    : kernel(k),
      vector(k.target.vector_floats()),
      lanes(heddle::lanes_of(k.body, k.target)),
      elements(k.body, carrier_has(DType::f64, k.target)) {
  for (std::size_t i = 0; i < k.body.inputs.size(); ++i) make_input(i);
  if (is_symbolic(k.body)) {
    elements.store_places_by([this](const Node& window) { return store_places(window); });
  }
}

int KernelBuilder::lanes_of(ValueId v) const {
  return heddle::lanes_of(elements.type(v).dtype, kernel.target);
}

void KernelBuilder::make_input(std::size_t port) {
  const ValueId v = kernel.body.inputs[port].value;
  const Type& type = elements.type(v);
  Halide::ImageParam p(storage_type(type.dtype), static_cast<int>(type.rank()),
                       "x" + std::to_string(port));
  bind_symbols(p, type.dims);
  set_layout(p, elements.extents(v), kernel.in[port].strides, true);
  inputs.push_back(p);
  elements.stage(
      v, [p, dtype = type.dtype](const Index& i) { return from_storage(p(reversed(i)), dtype); });
}

// A symbol is the extent of the first input axis that is just this symbol.
void KernelBuilder::bind_symbols(const Halide::ImageParam& p, const Dims& dims) {
  for (std::size_t a = 0; a < dims.size(); ++a) {
    if (dims[a].is_constant() || dims[a].terms().size() != 1) continue;
    const std::string& symbol = dims[a].terms()[0].first;
    if (elements.bound(symbol) || dims[a] != Dim::symbol(symbol)) continue;
    elements.bind(symbol, p.dim(static_cast<int>(dims.size() - 1 - a)).extent());
  }
}

// Of a Tuple's buffers, Halide takes the extents of the first for all. A symbolic stride is
// whatever the caller's descriptor says.
void KernelBuilder::set_layout(Halide::OutputImageParam p, const Extents& extents,
                               const Dims& strides, bool bounds) {
  for (std::size_t a = 0; a < extents.size(); ++a) {
    auto dim = p.dim(static_cast<int>(extents.size() - 1 - a));
    if (bounds) dim.set_bounds(0, constant(extents[a]));
    if (strides[a].is_constant()) dim.set_stride(constant(strides[a].constant()));
  }
}

void KernelBuilder::make_outputs() {
  for (std::size_t o = 0; o < kernel.body.outputs.size(); ++o) {
    const Extents extents = elements.extents(kernel.body.outputs[o].value);
    auto same = std::find_if(outputs.begin(), outputs.end(),
                             [&](const OutputGroup& g) { return g.extents == extents; });
    if (same == outputs.end()) {
      outputs.push_back({Func(), extents, make_vars("i", extents.size()), {}});
      same = outputs.end() - 1;
    }
    same->ports.push_back(o);
  }
  std::stable_sort(outputs.begin(), outputs.end(), [](const OutputGroup& a, const OutputGroup& b) {
    return a.extents.size() > b.extents.size();
  });
  for (std::size_t g = 0; g < outputs.size(); ++g) {
    OutputGroup& group = outputs[g];
    group.f = Func("y" + std::to_string(g));
    std::vector<Expr> values;
    for (std::size_t o : group.ports) {
      const ValueId v = kernel.body.outputs[o].value;
      values.push_back(to_storage(elements.at(v, as_index(group.args)), elements.type(v).dtype));
    }
    define(group.f, reversed(as_index(group.args)), values);
    set_layouts(group);
  }
}

void KernelBuilder::add_group(OutputGroup group) {
  set_layouts(group);
  outputs.push_back(std::move(group));
}

void KernelBuilder::set_layouts(const OutputGroup& group) {
  auto buffers = group.f.output_buffers();
  for (std::size_t e = 0; e < buffers.size(); ++e) {
    set_layout(buffers[e], group.extents, kernel.out[group.ports[e]].strides, e == 0);
  }
}

namespace {

// A short last axis is written out, and the vectors lie across the axis before it.
bool has_short_last_axis(const Extents& extents, int vector) {
  const std::size_t n = extents.size();
  return n > 1 && extents[n - 1].below(std::min(vector, 16)) && !extents[n - 2].below(vector);
}

// All outer axes of a group as one loop, and its length.
struct OuterLoop {
  Var rows;
  Extent count = 1;
};
OuterLoop fuse_outer(OutputGroup& group, std::size_t inner) {
  if (inner == 0) return {};
  OuterLoop outer{group.args[inner - 1], group.extents[inner - 1]};
  for (std::size_t a = inner - 1; a-- > 0;) {
    Var fused("rows" + std::to_string(a));
    group.f.fuse(outer.rows, group.args[a], fused);
    outer = {fused, outer.count * group.extents[a]};
  }
  return outer;
}

// One task for little work: a task is never longer than the loop. Only the innermost loop has a
// middle part without guards; each part is code of its own.
void schedule_symbolic_map(OutputGroup& group, const Map& map) {
  constexpr auto kNever = Halide::Partition::Never;
  constexpr auto kGuard = Halide::TailStrategy::GuardWithIf;
  const std::size_t inner = group.extents.size() - 1;
  const Var x = group.args[inner];
  const Extent columns = group.extents[inner];
  const OuterLoop outer = fuse_outer(group, inner);
  const int step = map.vector * map.unroll;
  const Expr grain = constant(map.grain), length = max(1, constant(columns));
  Var task("task"), rest("rest"), xi("xi");
  if (inner == 0) {
    group.f.split(x, task, rest, min(grain, length), kGuard).split(rest, x, xi, step, kGuard);
  } else {
    const Expr rows = max(1, constant(outer.count));
    group.f.split(outer.rows, task, rest, clamp(grain / length, 1, rows), kGuard);
    group.f.split(x, x, xi, step, kGuard).partition(rest, kNever);
  }
  group.f.vectorize(xi, map.vector).unroll(xi).parallel(task).partition(task, kNever);
}

}  // namespace

void KernelBuilder::schedule_map(OutputGroup& group, const Map& map) {
  const std::size_t n = group.extents.size();
  if (n == 0) return;
  if (const auto across = transposed_axis(kernel, group)) {
    return schedule_transposed(*this, group, map, *across);
  }
  if (is_symbolic(kernel.body)) return schedule_symbolic_map(group, map);
  Func f = group.f;
  const bool short_last = has_short_last_axis(group.extents, map.vector);
  const std::size_t inner = short_last ? n - 2 : n - 1;
  const Var x = group.args[inner];
  const std::int64_t columns = group.extents[inner].number();
  if (short_last) f.unroll(group.args[n - 1]);
  const std::int64_t row_bytes = short_last ? group.extents[n - 1].number() : 1;
  Var task("task"), part("part"), rest("rest");
  const OuterLoop outer = fuse_outer(group, inner);
  const Var rows = outer.rows;
  const std::int64_t count = outer.count.number();
  const std::int64_t per_task = std::max<std::int64_t>(1, map.grain / (columns * row_bytes));
  if (product(group.extents).at_most(map.grain)) {
    heddle::halide::vectorize(f, x, columns, map.vector, map.unroll);
  } else if (inner > 0 && (per_task < count || columns <= map.grain)) {
    heddle::halide::vectorize(f, x, columns, map.vector, map.unroll);
    f.split(rows, task, rest, constant(per_task), tail(count, per_task)).parallel(task);
  } else {
    const std::int64_t step = static_cast<std::int64_t>(map.vector) * map.unroll;
    const std::int64_t grain = std::max(step, map.grain / step * step);
    f.split(x, part, rest, constant(grain), tail(columns, grain));
    heddle::halide::vectorize(f, rest, grain, map.vector, map.unroll);
    f.parallel(part);
    if (inner > 0) {
      std::vector<Halide::VarOrRVar> order{rows, part};
      f.reorder(order);
    }
  }
}

// A value that is stored whole because several stages read it.
void KernelBuilder::store_value(ValueId v) {
  const Extents extents = elements.extents(v);
  Func f("stored" + std::to_string(v.index));
  const std::vector<Var> args = make_vars("i", extents.size());
  f(reversed(as_index(args))) = elements.at(v, as_index(args));
  elements.stage(v, [f](const Index& i) { return Expr(f(reversed(i))); });
  f.compute_root();
  if (!args.empty()) heddle::halide::vectorize(f, args.back(), extents.back(), lanes_of(v), 1);
}

Columns KernelBuilder::plain_columns() const { return {.strip = 2 * vector, .grain = 0}; }

void KernelBuilder::make_stage_once(const Stage& stage) {
  const ValueId v = stage.values[0];
  const Node& n = node(v);
  if (n.op == &op_scatter)
    return stage_scatter(*this, v, choose_scatter(kernel.body, kernel.target));
  if (is_fibre(n)) return FibreStage(*this, v, 1, true).compute_root();
  if (!is_reduction(kernel.body, n)) {
    for (ValueId each : stage.values) store_value(each);
    return;
  }
  if (n.op == &op_conv_general) return stage_conv(*this, stage);
  if (n.op->strict.pattern == Pattern::window) return stage_columns(*this, stage, plain_columns());
  if (elements.type(v).rank() == 0) return stage_total(*this, stage, 1, 4 * vector);
  if (n.op == &op_dot_general) {
    const DotShape s = dot_shape(kernel.body, n);
    if (s.m() >= 4 && s.n() >= vector && s.m() * s.n() * s.k() >= 32768) {
      const Contract tiles{.mr = 4, .nr = 2 * lanes_of(v), .lhs = Pack::whole, .rhs = Pack::whole};
      return stage_contraction(*this, v, tiles);
    }
  }
  const auto axes = reduced_axes(n);
  const auto rank = static_cast<std::int64_t>(elements.type(n.operands[0]).rank());
  const bool along_rows = !axes.empty() && axes.back() == rank - 1;
  const bool matrix_rows = n.op != &op_dot_general || elements.extents(v).back().below(vector) ||
                           n.attributes.as<DotAttributes>().rhs_contract.back() + 1 ==
                               static_cast<std::int64_t>(elements.type(n.operands[1]).rank());
  if (along_rows && matrix_rows) return stage_lanes(*this, stage);
  std::optional<Columns> rows;
  if (n.op == &op_dot_general) rows = choose_row_times_matrix(kernel.body, n, kernel.target);
  stage_columns(*this, stage, rows.value_or(plain_columns()));
}

}  // namespace heddle::halide
