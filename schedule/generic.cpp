#include "heddle/schedule/generic.h"

#include <map>
#include <utility>

#include "heddle/graph/builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/axis_classes.h"
#include "heddle/schedule/canonical.h"
#include "heddle/schedule/collapse.h"
#include "heddle/schedule/copies.h"

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
                          pattern == Pattern::scatter || pattern == Pattern::scan || node.literal ||
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

namespace {

// The plan again, step by step.
class Generalizer {
 public:
  explicit Generalizer(const Plan& plan) : plan_(plan), result_(plan) { result_.kernels.clear(); }

  Plan run() {
    for (FunctionPlan& f : result_.functions) {
      f_ = &f;
      const std::vector<Step> steps = std::exchange(f.steps, {});
      for (const Step& step : steps) add(step);
      for (std::size_t s = 0; s < f.steps.size(); ++s) {
        f.steps[s].wave = static_cast<std::uint32_t>(s);
      }
    }
    return std::move(result_);
  }

 private:
  void add(const Step& step) {
    const auto* run = std::get_if<KernelStep>(&step.what);
    if (run == nullptr) {
      f_->steps.push_back(step);
    } else if (const auto copies = as_copies(plan_.kernels[run->kernel])) {
      add_copies(step, *run, *copies);
    } else {
      add_kernel(step, plan_.kernels[run->kernel], run->buffers);
    }
  }

  void add_copies(const Step& step, const KernelStep& run, const std::vector<PortCopy>& copies) {
    for (const PortCopy& c : copies) {
      const std::uint32_t from = c.scalar ? constant(*c.scalar) : run.buffers[c.in];
      Step copy = step;
      copy.what = CopyStep{part(from, c.from, c.dims), part(run.buffers.back(), c.to, c.dims)};
      f_->steps.push_back(std::move(copy));
    }
  }

  std::uint32_t part(std::uint32_t whole, const PortPart& p, const Dims& dims) {
    Buffer b = f_->buffers[whole];
    b.offset = b.offset + p.offset * static_cast<std::int64_t>(size_of(b.type.dtype));
    return buffer(view(b, {b.type.dtype, dims}, p.strides));
  }

  void add_kernel(const Step& step, const Kernel& kernel, std::vector<std::uint32_t> buffers) {
    const std::optional<GenericKernel> g = generalize(kernel);
    Step own = step;
    if (g) buffers = views(*g, buffers, own.fault);
    own.what = KernelStep{number_of(g ? g->kernel : kernel), std::move(buffers)};
    f_->steps.push_back(std::move(own));
  }

  // The ports' buffers as the collapsed kernel has them, and one per constant.
  std::vector<std::uint32_t> views(const GenericKernel& g, const std::vector<std::uint32_t>& wholes,
                                   std::int32_t& fault) {
    const Kernel& c = g.collapsed;
    std::vector<std::uint32_t> buffers;
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      const Type& type = c.body.type(c.body.inputs[i].value);
      buffers.push_back(buffer(view(f_->buffers[wholes[i]], type, c.in[i].strides)));
    }
    for (const Literal& l : g.constants) buffers.push_back(constant(l));
    for (std::size_t i = 0; i < c.out.size(); ++i) {
      const Type& type = c.body.type(c.body.outputs[i].value);
      const std::uint32_t whole = wholes[c.in.size() + i];
      buffers.push_back(buffer(view(f_->buffers[whole], type, c.out[i].strides)));
      if (fault == static_cast<std::int32_t>(whole)) {
        fault = static_cast<std::int32_t>(buffers.back());
      }
    }
    return buffers;
  }

  std::uint32_t constant(const Literal& l) {
    const auto index = static_cast<std::uint32_t>(result_.constants.size());
    result_.constants.push_back(l);
    return buffer({Space::constant, index, 0, l.type, dense_strides(l.type.dims)});
  }
  std::uint32_t buffer(Buffer b) {
    f_->buffers.push_back(std::move(b));
    return static_cast<std::uint32_t>(f_->buffers.size() - 1);
  }

  std::uint32_t number_of(const Kernel& kernel) {
    const auto [place, fresh] =
        known_.emplace(to_text(kernel), static_cast<std::uint32_t>(result_.kernels.size()));
    if (fresh) result_.kernels.push_back(kernel);
    return place->second;
  }

  const Plan& plan_;
  Plan result_;
  FunctionPlan* f_ = nullptr;
  std::map<std::string, std::uint32_t> known_;
};

}  // namespace

Plan generalize(const Plan& plan) { return Generalizer(plan).run(); }

}  // namespace heddle
