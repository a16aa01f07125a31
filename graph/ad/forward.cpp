#include "heddle/graph/ad/forward.h"

#include <algorithm>
#include <map>
#include <set>

#include "heddle/graph/ad/linear_composite.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/extension.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

// A tangent of zero is absent, so add and sub must not fill it in: the other operand's tangent is
// the answer.
std::optional<MaybeValues> sum_of_present(Builder& b, const Node& node,
                                          std::span<const MaybeValue> tangents) {
  if (node.op != &op_add && node.op != &op_sub) return std::nullopt;
  if (tangents[0] && tangents[1]) return std::nullopt;
  if (tangents[0]) return MaybeValues{tangents[0]};
  return MaybeValues{node.op == &op_add ? tangents[1] : MaybeValue(b.emit(op_neg, {*tangents[1]}))};
}

// A jointly linear operation on tangents: zeros stand for absent ones, operands without flow keep
// their values.
MaybeValues apply_linear(RuleContext& c, std::span<const MaybeValue> tangents) {
  if (auto sum = sum_of_present(c.build, c.node, tangents)) return *sum;
  Values operands;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (c.node.op->role(i) == Role::no_grad) {
      operands.push_back(c.primal_in[i]);
    } else {
      operands.push_back(tangents[i] ? *tangents[i]
                                     : c.build.filled(c.build.type(c.primal_in[i]), 0));
    }
  }
  const Values results = c.build.add(*c.node.op, operands, c.node.attributes);
  return MaybeValues(results.begin(), results.end());
}

// The product rule: one term per operand that has a tangent.
MaybeValues apply_multilinear(RuleContext& c, std::span<const MaybeValue> tangents) {
  MaybeValue total;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i]) continue;
    Values operands(c.primal_in.begin(), c.primal_in.end());
    operands[i] = *tangents[i];
    const ValueId term = c.build.emit(*c.node.op, operands, c.node.attributes);
    total = total ? c.build.emit(op_add, {*total, term}) : term;
  }
  return {total};
}

class ForwardPass {
 public:
  struct Environment {
    Values primal;
    MaybeValues tangent;
  };

  ForwardPass(Builder& build, const Program& program, bool for_transpose)
      : build_(build), program_(program), for_transpose_(for_transpose) {}

  void run(const Function& f, Environment& env, Location caller = {}) {
    for (const Node& node : f.nodes) {
      const Location where = node.where == Location{} ? caller : node.where;
      build_.set_location(where);
      with_context({.operation = node.op->name, .where = where}, [&] { step(node, env); });
    }
  }

 private:
  void step(const Node& node, Environment& env) {
    if (node.literal) {
      env.primal[node.results[0].index] = build_.constant(*node.literal);
      return;
    }
    Values primals;
    MaybeValues tangents;
    bool active = false;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const std::uint32_t o = node.operands[i].index;
      primals.push_back(env.primal[o]);
      const bool flows = node.op->role(i) != Role::no_grad;
      tangents.push_back(flows ? env.tangent[o] : std::nullopt);
      active |= tangents.back().has_value();
    }
    if (active && through_decomposition(*node.op)) {
      decompose(node, primals, tangents, env);
    } else {
      keep(node, primals, tangents, active, env);
    }
  }

  static bool has_rules(const Operation& op) { return op.strict.linearize || op.strict.transpose; }
  // A composite, unless it has rules of its own.
  bool through_decomposition(const Operation& op) const {
    return op.strict.decompose && !has_rules(op) && !(for_transpose_ && op.strict.vjp);
  }

  void keep(const Node& node, const Values& primals, const MaybeValues& tangents, bool active,
            Environment& env) {
    const Values results = build_.add(*node.op, primals, node.attributes);
    for (std::size_t r = 0; r < results.size(); ++r) env.primal[node.results[r].index] = results[r];
    if (!active) return;
    RuleContext context{build_, node, primals, results};
    const MaybeValues flows = linearize(context, tangents);
    internal_check(flows.size() == results.size(), "a linearize rule gives one tangent per result");
    for (std::size_t r = 0; r < flows.size(); ++r) {
      // Integers and booleans carry no tangent: convert to one of them ends the flow.
      if (is_floating(build_.type(results[r]).dtype)) env.tangent[node.results[r].index] = flows[r];
    }
  }

  MaybeValues linearize(RuleContext& c, const MaybeValues& tangents) const {
    const Operation& op = *c.node.op;
    if (op.strict.decompose && !has_rules(op)) return emit_linear_composite(c, tangents);
    if (op.strict.linearize) return op.strict.linearize(c, tangents);
    bool multilinear = false;
    for (std::size_t i = 0; i < tangents.size(); ++i)
      multilinear |= op.role(i) == Role::multilinear;
    const bool ends = std::none_of(c.primal_out.begin(), c.primal_out.end(),
                                   [&](ValueId r) { return is_floating(c.build.type(r).dtype); });
    if (ends) return MaybeValues(c.primal_out.size());
    return multilinear ? apply_multilinear(c, tangents) : apply_linear(c, tangents);
  }

  void decompose(const Node& node, const Values& primals, const MaybeValues& tangents,
                 Environment& env) {
    std::vector<Type> types;
    for (ValueId p : primals) types.push_back(build_.type(p));
    const NodeContext at{*node.op, types, node.attributes, nullptr, &program_, node.where};
    // A plan that says the order of its sums: the derivative alone is the decomposition's.
    const Values kept =
        sums_in_order(at) ? build_.add(*node.op, primals, node.attributes) : Values();
    const Function body = node.op->strict.decompose(at);
    Environment inner{Values(body.types.size()), MaybeValues(body.types.size())};
    for (std::size_t i = 0; i < primals.size(); ++i) {
      inner.primal[body.inputs[i].value.index] = primals[i];
      inner.tangent[body.inputs[i].value.index] = tangents[i];
    }
    run(body, inner, node.where);
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      const std::uint32_t out = body.outputs[r].value.index;
      env.primal[node.results[r].index] = kept.empty() ? inner.primal[out] : kept[r];
      env.tangent[node.results[r].index] = inner.tangent[out];
    }
  }

  Builder& build_;
  const Program& program_;
  bool for_transpose_;
};

void check_differentiable(const Function& f, const std::string& name,
                          const std::set<std::string>& seen) {
  const Type& type = f.type(input_value(f, name));
  if (seen.contains(name)) {
    throw ValueError({.message = "@" + f.name + ": input '" + name + "' is named twice"});
  }
  if (!is_floating(type.dtype)) {
    throw TypeError({.message = "@" + f.name + ": only floating inputs have derivatives",
                     .field = "input '" + name + "'",
                     .found = to_text(type),
                     .needed = "f16, bf16, f32 or f64"});
  }
}

}  // namespace

void check_wrt(const Function& f, const Names& wrt) {
  std::set<std::string> seen;
  for (const std::string& name : wrt) {
    check_differentiable(f, name, seen);
    seen.insert(name);
  }
  if (seen.empty()) {
    throw ValueError(
        {.message = "@" + f.name + ": derivatives by no input", .needed = "the name of an input"});
  }
}

std::string derivative_name(const std::string& name, const std::vector<std::string>& taken) {
  std::string derived = "d_" + name;
  while (std::find(taken.begin(), taken.end(), derived) != taken.end()) derived = "d_" + derived;
  return derived;
}

Forward forward(const Program& program, Names wrt, bool for_transpose) {
  const Function& f = program.entry();
  check_wrt(f, wrt);
  Builder build(f.name, &program);
  ForwardPass::Environment env{Values(f.types.size()), MaybeValues(f.types.size())};
  std::vector<std::string> names;
  for (const Input& in : f.inputs) {
    env.primal[in.value.index] = build.input(in.name, f.type(in.value), in.donate);
    names.push_back(in.name);
  }
  for (const std::string& name : wrt) {
    const ValueId v = input_value(f, name);
    names.push_back(derivative_name(name, names));
    env.tangent[v.index] = build.input(names.back(), f.type(v));
  }
  ForwardPass(build, program, for_transpose).run(f, env);
  Forward result;
  names.clear();
  for (const Output& out : f.outputs) {
    build.output(out.name, env.primal[out.value.index]);
    names.push_back(out.name);
  }
  for (const Output& out : f.outputs) {
    const MaybeValue tangent = env.tangent[out.value.index];
    result.active.push_back(tangent.has_value());
    if (!tangent) continue;
    names.push_back(derivative_name(out.name, names));
    build.output(names.back(), *tangent);
  }
  result.function = build.finish();
  return result;
}

}  // namespace heddle
