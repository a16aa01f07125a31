#include "heddle/backends/eager/call_record.h"

#include "absl/strings/str_cat.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/ops/cotangent.h"
#include "heddle/graph/passes/passes.h"

namespace heddle {
namespace {

// Inputs by plain names: names with a dot would become members of a tree. Nodes without places: the
// record serves calls from many lines.
Function plain(const Function& f) {
  Function result = f;
  for (std::size_t i = 0; i < result.inputs.size(); ++i) {
    result.inputs[i].name = "x" + std::to_string(i);
    result.inputs[i].donate = false;
  }
  for (std::size_t o = 0; o < result.outputs.size(); ++o) {
    result.outputs[o].name = "y" + std::to_string(o);
  }
  for (Node& node : result.nodes) node.where = {};
  return result;
}

// The function over the inputs that are read. `kept` gets their numbers.
Function without_unread_inputs(const Function& f, std::vector<std::size_t>& kept) {
  const std::vector<std::uint32_t> uses = use_counts(f);
  Builder b(f.name);
  Values names(f.types.size());
  for (std::size_t i = 0; i < f.inputs.size(); ++i) {
    const ValueId v = f.inputs[i].value;
    if (uses[v.index] == 0) continue;
    names[v.index] = b.input(f.inputs[i].name, f.type(v));
    kept.push_back(i);
  }
  for (const Node& node : f.nodes) {
    if (node.literal) {
      names[node.results[0].index] = b.constant(*node.literal);
      continue;
    }
    Values operands;
    for (ValueId o : node.operands) operands.push_back(names[o.index]);
    const Values results = b.add(*node.op, operands, node.attributes, node.where);
    for (std::size_t r = 0; r < results.size(); ++r) names[node.results[r].index] = results[r];
  }
  for (const Output& out : f.outputs) b.output(out.name, names[out.value.index]);
  return b.finish();
}

// Results, whose cotangents come masked, as they look to their derivative: where the mask is false
// they are constants.
Function with_masks(const Function& f, const std::vector<std::size_t>& masks) {
  if (masks.empty()) return f;
  Builder b(f.name);
  Values arguments, flows;
  for (const Input& in : f.inputs) arguments.push_back(b.input(in.name, f.type(in.value)));
  for (std::size_t r : masks) {
    const Dims& dims = f.type(f.outputs[r].value).dims;
    flows.push_back(b.input(absl::StrCat("m", r), {DType::boolean, dims}));
  }
  Values results = b.splice(f, arguments);
  for (std::size_t k = 0; k < masks.size(); ++k) {
    ValueId& y = results[masks[k]];
    y = emit::select(b, flows[k], y, emit::zeros_like(b, y));
  }
  for (std::size_t r = 0; r < results.size(); ++r) b.output(f.outputs[r].name, results[r]);
  return b.finish();
}

// Where a cotangent may be other than 0, when its outermost selects say so.
MaybeValue flows_where(Builder& b, ValueId ct) {
  std::optional<ops::Masked> m = ops::masked(b, ct);
  if (!m) m = ops::masked_sum(b, ct);
  if (!m) return std::nullopt;
  const ValueId own = m->holds ? m->predicate : emit::logical_not(b, m->predicate);
  const MaybeValue inner = m->inner == ct ? std::nullopt : flows_where(b, m->inner);
  return inner ? emit::logical_and(b, own, *inner) : own;
}

// The function with one more output per output that is masked; `masked` gets their numbers.
Function with_mask_outputs(const Function& f, std::vector<std::size_t>& masked) {
  Builder b(f.name);
  Values arguments;
  for (const Input& in : f.inputs) arguments.push_back(b.input(in.name, f.type(in.value)));
  const Values results = b.splice(f, arguments);
  for (std::size_t r = 0; r < results.size(); ++r) b.output(absl::StrCat("y", r), results[r]);
  for (std::size_t r = 0; r < results.size(); ++r) {
    const MaybeValue flows = flows_where(b, results[r]);
    if (!flows) continue;
    b.output(absl::StrCat("m", r), *flows);
    masked.push_back(r);
  }
  return b.finish();
}

// Products and reductions mix masked elements with others.
bool is_by_element(const Function& body) {
  const Function f = expand_composites(Program({body})).entry();
  return std::all_of(f.nodes.begin(), f.nodes.end(), [](const Node& n) {
    const Pattern p = n.op->strict.pattern;
    return p == Pattern::elementwise || p == Pattern::broadcast || p == Pattern::movement;
  });
}

}  // namespace

CallRecord::CallRecord(const Invocation& invocation, const Carrier& carrier)
    : invocation_(invocation.without_storage()), body_(plain(invocation.body)), carrier_(carrier) {}

const ChosenKernel& CallRecord::choose(Operands operands, Location where) {
  const std::lock_guard lock(choosing_);
  if (!chosen_) chosen_ = choose_kernel(invocation_, body_, carrier_, operands, where);
  ready_.store(&*chosen_, std::memory_order_release);
  return *chosen_;
}

Reverse& CallRecord::reverse(const std::vector<std::size_t>& wrt,
                             const std::vector<std::size_t>& masks) {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Reverse>& r : reverses_) {
    if (r->wrt == wrt && r->given_masks == masks) return *r;
  }
  return *reverses_.emplace_back(make_reverse(wrt, masks));
}

std::unique_ptr<Reverse> CallRecord::make_reverse(const std::vector<std::size_t>& wrt,
                                                  const std::vector<std::size_t>& masks) const {
  std::vector<std::string> names;
  for (std::size_t i : wrt) names.push_back(body_.inputs[i].name);
  // Inputs: operands, masks, then a cotangent per floating output. Outputs: results, then one per
  // name.
  Function f = vjp(Program({with_masks(body_, masks)}), names, {}).entry();
  f.outputs.erase(f.outputs.begin(),
                  f.outputs.begin() + static_cast<std::ptrdiff_t>(body_.outputs.size()));
  f = dead_node_elimination(Program({expand_composites(Program({f})).entry()})).entry();
  auto reverse = std::make_unique<Reverse>();
  f = with_mask_outputs(f, reverse->masked);
  std::vector<std::size_t> kept;
  reverse->function = plain(without_unread_inputs(f, kept));
  std::vector<std::size_t> floating;
  for (std::size_t o = 0; o < body_.outputs.size(); ++o) {
    if (is_floating(body_.type(body_.outputs[o].value).dtype)) floating.push_back(o);
  }
  const std::size_t operands = body_.inputs.size(), given = operands + masks.size();
  for (std::size_t i : kept) {
    if (i < operands) {
      reverse->operands.push_back(i);
    } else if (i < given) {
      reverse->masks.push_back(masks[i - operands]);
    } else {
      reverse->cotangents.push_back(floating[i - given]);
    }
  }
  reverse->wrt = wrt;
  reverse->given_masks = masks;
  return reverse;
}

bool CallRecord::carries_masks() {
  const std::lock_guard lock(mutex_);
  if (!carries_masks_) carries_masks_ = is_by_element(body_);
  return *carries_masks_;
}

Runnable& CallRecord::runnable(Reverse& reverse) {
  const std::lock_guard lock(mutex_);
  if (reverse.run == nullptr) reverse.run = make_runnable(reverse.function, carrier_);
  return *reverse.run;
}

const ProgramFunction& CallRecord::program(Reverse& reverse) {
  const std::lock_guard lock(mutex_);
  if (!reverse.program) {  // without masks
    Function f = reverse.function;
    f.outputs.resize(reverse.wrt.size());
    f = dead_node_elimination(Program({std::move(f)})).entry();
    reverse.program = program_of_calls(f, carrier_);
  }
  return reverse.program;
}

}  // namespace heddle
