#include "heddle/schedule/generic.h"

#include <map>

#include "heddle/graph/builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/axis_classes.h"
#include "heddle/schedule/canonical.h"
#include "heddle/schedule/collapse.h"

namespace heddle {
namespace {

// The body again, over symbols.
class Symbols {
 public:
  explicit Symbols(const Kernel& kernel) : k_(kernel), classes_(kernel.body), builder_("kernel") {}

  /// False when a symbol would have no input to get its number from.
  bool name_classes() {
    for (const Input& in : k_.body.inputs) {
      const std::vector<std::size_t> classes = classes_.of(in.value);
      for (std::size_t a = 0; a < classes.size(); ++a) {
        if (k_.body.type(in.value).dims[a] == Dim(1) || symbols_.count(classes[a]) != 0) continue;
        symbols_[classes[a]] = Dim::symbol("s" + std::to_string(symbols_.size()));
      }
    }
    for (const Node& node : k_.body.nodes) {
      if (!follows(node)) return false;
    }
    return true;
  }

  Function body(std::vector<Literal>& constants) {
    const Function& f = k_.body;
    names_.resize(f.types.size());
    for (const Input& in : f.inputs)
      names_[in.value.index] = builder_.input(in.name, type(in.value));
    for (const Node& node : f.nodes) {
      if (!node.literal) continue;
      const std::string name = "x" + std::to_string(f.inputs.size() + constants.size());
      names_[node.results[0].index] = builder_.input(name, type(node.results[0]));
      constants.push_back(*node.literal);
    }
    for (const Node& node : f.nodes) {
      if (!node.literal) add(node);
    }
    for (const Output& out : f.outputs) builder_.output(out.name, names_[out.value.index]);
    return canonical_body(builder_.finish());
  }

 private:
  // Whether symbols can stand for the extents the operation's attributes hold.
  bool follows(const Node& node) {
    const Pattern pattern = node.op->strict.pattern;
    const bool symbolic = pattern == Pattern::elementwise || pattern == Pattern::reduce ||
                          pattern == Pattern::scatter || node.literal ||
                          node.op == &op_dot_general || node.op == &op_gather ||
                          node.op == &op_broadcast_in_dim || node.op == &op_transpose ||
                          node.op == &op_reshape || node.op == &op_reverse || node.op == &op_iota;
    if (!symbolic) return false;
    for (ValueId r : node.results) {
      const Dims& dims = k_.body.type(r).dims;
      const Dims named = type(r).dims;
      for (std::size_t a = 0; a < dims.size(); ++a) {
        if (named[a].is_constant() && dims[a] != Dim(1)) return false;
      }
    }
    return true;
  }

  Type type(ValueId v) {
    Type t = k_.body.type(v);
    const std::vector<std::size_t> classes = classes_.of(v);
    for (std::size_t a = 0; a < classes.size(); ++a) {
      const auto found = symbols_.find(classes[a]);
      if (found != symbols_.end() && t.dims[a] != Dim(1)) t.dims[a] = found->second;
    }
    return t;
  }

  Attributes attributes(const Node& node) {
    const Dims dims = type(node.results[0]).dims;
    if (node.op == &op_broadcast_in_dim) {
      return Attributes::of(
          BroadcastAttributes{dims, node.attributes.as<BroadcastAttributes>().axes});
    }
    if (node.op == &op_reshape) return Attributes::of(ReshapeAttributes{dims});
    if (node.op == &op_iota) {
      const auto a = node.attributes.as<IotaAttributes>();
      return Attributes::of(IotaAttributes{a.dtype, dims, a.axis});
    }
    return node.attributes;
  }

  void add(const Node& node) {
    Values operands;
    for (ValueId o : node.operands) operands.push_back(names_[o.index]);
    const Values results = builder_.add(*node.op, operands, attributes(node), node.where);
    for (std::size_t r = 0; r < results.size(); ++r) names_[node.results[r].index] = results[r];
  }

  const Kernel& k_;
  AxisClasses classes_;
  Builder builder_;
  std::map<std::size_t, Dim> symbols_;
  Values names_;
};

// Strides as they are known when the kernel is compiled.
Port symbolic_port(const Dims& strides, int& count) {
  Port port;
  for (std::size_t a = 0; a < strides.size(); ++a) {
    const bool fixed = strides[a] == Dim(0) || (strides[a] == Dim(1) && a + 1 == strides.size());
    port.strides.push_back(fixed ? strides[a] : Dim::symbol("t" + std::to_string(count++)));
  }
  return port;
}

RecipeKind kind_of(const Recipe& recipe) { return static_cast<RecipeKind>(recipe.index()); }

Buffer view(const Buffer& buffer, const Type& type, const Dims& strides) {
  return {buffer.space, buffer.index, buffer.offset, type, strides};
}

}  // namespace

std::optional<GenericKernel> generalize(const Kernel& kernel) {
  if (std::holds_alternative<External>(kernel.recipe)) return std::nullopt;
  GenericKernel g{.collapsed = collapse_axes(kernel)};
  Symbols symbols(g.collapsed);
  if (kernel.sequential || !symbols.name_classes()) return std::nullopt;
  Function body;
  try {
    body = symbols.body(g.constants);
  } catch (const NotImplementedError&) {  // a product of two symbols
    return std::nullopt;
  }
  std::vector<Port> in, out;
  int strides = 0;
  for (const Port& p : g.collapsed.in) in.push_back(symbolic_port(p.strides, strides));
  for (const Literal& c : g.constants) {
    in.push_back(symbolic_port(dense_strides(c.type.dims), strides));
  }
  for (const Port& p : g.collapsed.out) out.push_back(symbolic_port(p.strides, strides));
  g.kernel = make_kernel(std::move(body), std::move(in), std::move(out),
                         kind_of(g.collapsed.recipe), kernel.target);
  return g;
}

Plan generalize(const Plan& plan) {
  Plan result = plan;
  result.kernels.clear();
  std::vector<std::optional<GenericKernel>> generic;
  std::map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> number;
  for (const Kernel& kernel : plan.kernels) {
    generic.push_back(generalize(kernel));
    const Kernel& used = generic.back() ? generic.back()->kernel : kernel;
    const auto [place, fresh] =
        known.emplace(to_text(used), static_cast<std::uint32_t>(result.kernels.size()));
    if (fresh) result.kernels.push_back(used);
    number.push_back(place->second);
  }
  for (FunctionPlan& f : result.functions) {
    auto add = [&](Buffer b) {
      f.buffers.push_back(std::move(b));
      return static_cast<std::uint32_t>(f.buffers.size() - 1);
    };
    for (Step& step : f.steps) {
      auto* run = std::get_if<KernelStep>(&step.what);
      if (run == nullptr) continue;
      const std::optional<GenericKernel>& g = generic[run->kernel];
      run->kernel = number[run->kernel];
      if (!g) continue;
      const Kernel& c = g->collapsed;
      std::vector<std::uint32_t> buffers;
      for (std::size_t i = 0; i < c.in.size(); ++i) {
        const Type& type = c.body.type(c.body.inputs[i].value);
        buffers.push_back(add(view(f.buffers[run->buffers[i]], type, c.in[i].strides)));
      }
      for (const Literal& l : g->constants) {
        buffers.push_back(add({Space::constant, static_cast<std::uint32_t>(result.constants.size()),
                               0, l.type, dense_strides(l.type.dims)}));
        result.constants.push_back(l);
      }
      for (std::size_t i = 0; i < c.out.size(); ++i) {
        const Type& type = c.body.type(c.body.outputs[i].value);
        const std::uint32_t whole = run->buffers[c.in.size() + i];
        buffers.push_back(add(view(f.buffers[whole], type, c.out[i].strides)));
        if (step.fault == static_cast<std::int32_t>(whole)) {
          step.fault = static_cast<std::int32_t>(buffers.back());
        }
      }
      run->buffers = std::move(buffers);
    }
  }
  return result;
}

}  // namespace heddle
