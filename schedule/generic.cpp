#include "heddle/schedule/generic.h"

#include <map>
#include <utility>

#include "heddle/schedule/collapse.h"
#include "heddle/schedule/copies.h"
#include "heddle/schedule/symbols.h"

namespace heddle {
namespace {

// Strides as they are known when the kernel is compiled: 0, and those of dense axes inside extents
// that are numbers (the innermost 1, a convolution's taps).
Port symbolic_port(const Dims& strides, const Dims& dims, int& count) {
  Port port{strides};
  Dim dense = 1;
  for (std::size_t a = strides.size(); a-- > 0;) {
    const bool known = strides[a] == Dim(0) || (dense != Dim(0) && strides[a] == dense);
    dense = dense != Dim(0) && dims[a].is_constant() ? dense * dims[a] : Dim(0);
    if (!known) port.strides[a] = Dim::symbol("t");
  }
  for (Dim& s : port.strides) {
    if (!s.is_constant()) s = Dim::symbol("t" + std::to_string(count++));
  }
  return port;
}

RecipeKind kind_of(const Recipe& recipe) { return static_cast<RecipeKind>(recipe.index()); }

Buffer view(const Buffer& buffer, const Type& type, const Dims& strides) {
  return {buffer.space, buffer.index, buffer.offset, type, strides};
}

}  // namespace

std::optional<GenericKernel> generalize(const Kernel& kernel) {
  if (std::holds_alternative<External>(kernel.recipe) || kernel.sequential) return std::nullopt;
  GenericKernel g{.collapsed = collapse_axes(kernel)};
  SymbolicBody symbolic = over_symbols(g.collapsed.body);
  const Function& body = symbolic.body;
  std::vector<Port> in, out;
  int count = 0;
  const auto add = [&](std::vector<Port>& ports, const Dims& strides, ValueId v) {
    ports.push_back(symbolic_port(strides, body.type(v).dims, count));
  };
  for (const Port& p : g.collapsed.in) add(in, p.strides, body.inputs[in.size()].value);
  for (const Literal& c : symbolic.constants) {
    add(in, dense_strides(c.type.dims), body.inputs[in.size()].value);
  }
  for (const auto& shape : symbolic.shapes) in.push_back({Dims(shape.size(), 0)});
  for (const Port& p : g.collapsed.out) add(out, p.strides, body.outputs[out.size()].value);
  g.kernel = make_kernel(std::move(symbolic.body), std::move(in), std::move(out),
                         kind_of(g.collapsed.recipe), kernel.target);
  g.constants = std::move(symbolic.constants), g.shapes = std::move(symbolic.shapes);
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
    for (const auto& extents : g.shapes) buffers.push_back(shape(extents));
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
  // One element that is everywhere.
  std::uint32_t shape(const std::vector<std::int64_t>& extents) {
    const Buffer& one = f_->buffers[constant(scalar(DType::boolean, 0))];
    return buffer(
        view(one, {DType::boolean, Dims(extents.begin(), extents.end())}, Dims(extents.size(), 0)));
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
