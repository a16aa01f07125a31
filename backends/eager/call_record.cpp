#include "heddle/backends/eager/call_record.h"

#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/passes/passes.h"

namespace heddle {
namespace {

// Inputs by plain names: names with a dot would become members of a tree.
Function plain(const Function& f) {
  Function result = f;
  for (std::size_t i = 0; i < result.inputs.size(); ++i) {
    result.inputs[i].name = "x" + std::to_string(i);
    result.inputs[i].donate = false;
  }
  for (std::size_t o = 0; o < result.outputs.size(); ++o) {
    result.outputs[o].name = "y" + std::to_string(o);
  }
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

}  // namespace

CallRecord::CallRecord(const Invocation& invocation, const Carrier& carrier)
    : invocation_(invocation.without_storage()), body_(plain(invocation.body)), carrier_(carrier) {}

const ChosenKernel& CallRecord::choose(Operands operands, Location where) {
  const std::lock_guard lock(choosing_);
  if (!chosen_) chosen_ = choose_kernel(invocation_, body_, carrier_, operands, where);
  ready_.store(&*chosen_, std::memory_order_release);
  return *chosen_;
}

const Reverse& CallRecord::reverse(const std::vector<std::size_t>& wrt) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Reverse>& entry = reverses_[wrt];
  if (entry == nullptr) entry = make_reverse(wrt);
  return *entry;
}

std::unique_ptr<Reverse> CallRecord::make_reverse(const std::vector<std::size_t>& wrt) const {
  std::vector<std::string> names;
  for (std::size_t i : wrt) names.push_back(body_.inputs[i].name);
  // Inputs: operands, then a cotangent per floating output. Outputs: results, then one per name.
  Function f = vjp(Program({body_}), names).entry();
  f.outputs.erase(f.outputs.begin(),
                  f.outputs.begin() + static_cast<std::ptrdiff_t>(body_.outputs.size()));
  f = dead_node_elimination(Program({expand_composites(Program({f})).entry()})).entry();
  std::vector<std::size_t> kept;
  f = plain(without_unread_inputs(f, kept));
  std::vector<std::size_t> floating;
  for (std::size_t o = 0; o < body_.outputs.size(); ++o) {
    if (is_floating(body_.type(body_.outputs[o].value).dtype)) floating.push_back(o);
  }
  auto reverse = std::make_unique<Reverse>();
  for (std::size_t i : kept) {
    const bool operand = i < body_.inputs.size();
    (operand ? reverse->operands : reverse->cotangents)
        .push_back(operand ? i : floating[i - body_.inputs.size()]);
  }
  reverse->wrt = wrt;
  reverse->function = std::move(f);
  return reverse;
}

Runnable& CallRecord::runnable(const Reverse& reverse) {
  const std::lock_guard lock(mutex_);
  Reverse& own = *reverses_.at(reverse.wrt);
  if (own.run == nullptr) own.run = make_runnable(own.function, carrier_);
  return *own.run;
}

const ProgramFunction& CallRecord::program(const Reverse& reverse) {
  const std::lock_guard lock(mutex_);
  Reverse& own = *reverses_.at(reverse.wrt);
  if (!own.program) own.program = program_of_calls(own.function, carrier_);
  return own.program;
}

}  // namespace heddle
