#include "heddle/graph/ad/forward.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/builder.h"

namespace heddle {
namespace {

// Which values of a forward function depend on its tangents.
std::vector<bool> linear_values(const Function& f, std::size_t primal_inputs) {
  std::vector<bool> linear(f.types.size(), false);
  for (std::size_t i = primal_inputs; i < f.inputs.size(); ++i)
    linear[f.inputs[i].value.index] = true;
  for (const Node& node : f.nodes) {
    bool depends = false;
    for (ValueId o : node.operands) depends |= linear[o.index];
    for (ValueId r : node.results) linear[r.index] = depends;
  }
  return linear;
}

// Values the linear part reads from the primal part, in order of first use.
Values residuals_of(const Function& f, const std::vector<bool>& linear) {
  Values residuals;
  std::vector<bool> seen(f.types.size(), false);
  for (const Node& node : f.nodes) {
    if (node.results.empty() || !linear[node.results[0].index]) continue;
    for (ValueId o : node.operands) {
      if (!linear[o.index] && !seen[o.index]) residuals.push_back(o);
      seen[o.index] = true;
    }
  }
  return residuals;
}

void copy_nodes(Builder& build, const Function& f, const std::vector<bool>& linear, bool wanted,
                Values& map) {
  for (const Node& node : f.nodes) {
    if (node.results.empty() || linear[node.results[0].index] != wanted) continue;
    if (node.literal) {
      map[node.results[0].index] = build.constant(*node.literal, node.where);
      continue;
    }
    Values operands;
    for (ValueId o : node.operands) operands.push_back(map[o.index]);
    const Values results = build.add(*node.op, operands, node.attributes, node.where);
    for (std::size_t r = 0; r < results.size(); ++r) map[node.results[r].index] = results[r];
  }
}

}  // namespace

Linearized linearize(const Program& program, Names wrt, Location where) {
  const Forward fwd =
      with_context({.where = where}, [&] { return forward(program, wrt, /*for_transpose=*/true); });
  const Function& f = fwd.function;
  const std::size_t inputs = f.inputs.size() - wrt.size(), outputs = fwd.active.size();
  const std::vector<bool> linear = linear_values(f, inputs);
  const Values residuals = residuals_of(f, linear);

  Builder primal(f.name, &program), tangent(f.name + "_linear", &program);
  Values primal_map(f.types.size()), linear_map(f.types.size());
  for (std::size_t i = 0; i < inputs; ++i) {
    const Input& in = f.inputs[i];
    primal_map[in.value.index] = primal.input(in.name, f.type(in.value), in.donate);
  }
  copy_nodes(primal, f, linear, false, primal_map);
  for (std::size_t o = 0; o < outputs; ++o) {
    primal.output(f.outputs[o].name, primal_map[f.outputs[o].value.index]);
  }
  for (std::size_t r = 0; r < residuals.size(); ++r) {
    const std::string name = "residual." + std::to_string(r);
    primal.output(name, primal_map[residuals[r].index]);
    linear_map[residuals[r].index] = tangent.input(name, f.type(residuals[r]));
  }
  for (std::size_t i = inputs; i < f.inputs.size(); ++i) {
    linear_map[f.inputs[i].value.index] =
        tangent.input(f.inputs[i].name, f.type(f.inputs[i].value));
  }
  copy_nodes(tangent, f, linear, true, linear_map);
  for (std::size_t o = outputs; o < f.outputs.size(); ++o) {
    tangent.output(f.outputs[o].name, linear_map[f.outputs[o].value.index]);
  }
  return {Program({primal.finish()}), tangent.finish(), residuals.size(), fwd.active};
}

}  // namespace heddle
