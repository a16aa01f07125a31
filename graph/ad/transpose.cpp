#include "heddle/graph/ad/rules.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/ops/cotangent.h"

namespace heddle {

ValueId TransposeContext::residual(std::size_t operand) const {
  if (const auto* r = std::get_if<Residual>(&inputs[operand])) return r->value;
  throw UnsupportedAdError(
      {.message = "the transpose rule reads an operand that is part of the linear flow",
       .operation = std::string(node.op->name),
       .field = "operands[" + std::to_string(operand) + "]",
       .where = node.where});
}

Type TransposeContext::type(std::size_t operand) const {
  if (const auto* l = std::get_if<Linear>(&inputs[operand])) return l->type;
  return build.type(std::get<Residual>(inputs[operand]).value);
}

namespace {

class Transposer {
 public:
  Transposer(const Linearized& l)
      : f_(l.linear),
        build_(l.linear.name + "_transposed"),
        values_(f_.types.size()),
        cotangents_(f_.types.size()) {
    for (std::size_t i = 0; i < l.residuals; ++i) {
      const Input& in = f_.inputs[i];
      values_[in.value.index] = build_.input(in.name, f_.type(in.value));
    }
    // An output that is a residual cannot be: every output of the linear part depends on a tangent.
    for (std::size_t o = 0; o < f_.outputs.size(); ++o) {
      const ValueId v = f_.outputs[o].value;
      accumulate(v, build_.input("cotangent." + std::to_string(o), f_.type(v)));
    }
  }

  Function run(std::size_t residuals) {
    for (std::size_t n = f_.nodes.size(); n-- > 0;) {
      const Node& last = f_.nodes[n];
      with_context({.operation = last.op->name, .where = last.where}, [&] { node(last); });
    }
    for (std::size_t i = residuals; i < f_.inputs.size(); ++i) {
      const Input& in = f_.inputs[i];
      const MaybeValue found = cotangents_[in.value.index];
      build_.output(in.name, found ? *found : build_.filled(f_.type(in.value), 0));
    }
    return build_.finish();
  }

 private:
  // Fan-in is an explicit addition (under a mask that both flows have, see cotangent.h).
  void accumulate(ValueId v, ValueId flow) {
    MaybeValue& total = cotangents_[v.index];
    total = total ? ops::sum_of_cotangents(build_, *total, flow) : flow;
  }

  void node(const Node& n) {
    MaybeValues flows;
    bool any = false;
    for (ValueId r : n.results) {
      flows.push_back(cotangents_[r.index]);
      any |= flows.back().has_value();
    }
    if (!any) return;
    if (!n.op->strict.transpose) {
      throw UnsupportedAdError({.message = "no transpose rule: it has no reverse-mode derivative",
                                .operation = std::string(n.op->name),
                                .where = n.where});
    }
    build_.set_location(n.where);
    std::vector<TransposeInput> inputs;
    for (ValueId o : n.operands) {
      const MaybeValue known = values_[o.index];
      inputs.push_back(known ? TransposeInput(Residual{*known})
                             : TransposeInput(Linear{f_.type(o)}));
    }
    TransposeContext context{build_, n, inputs};
    const MaybeValues found = n.op->strict.transpose(context, flows);
    internal_check(found.size() == n.operands.size(),
                   "a transpose rule gives one cotangent per operand");
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i] || !context.is_linear(i)) continue;
      internal_check(build_.type(*found[i]) == f_.type(n.operands[i]),
                     "the transpose rule of " + std::string(n.op->name) + " gave " +
                         to_text(build_.type(*found[i])) + " for an operand " +
                         to_text(f_.type(n.operands[i])));
      accumulate(n.operands[i], *found[i]);
    }
  }

  const Function& f_;
  Builder build_;
  MaybeValues values_;      // of residuals
  MaybeValues cotangents_;  // by value of the linear function
};

}  // namespace

Function transpose(const Linearized& linearized) {
  return Transposer(linearized).run(linearized.residuals);
}

}  // namespace heddle
