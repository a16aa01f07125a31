#include "heddle/graph/ad/transforms.h"

#include "heddle/graph/ad/forward.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/passes/passes.h"

namespace heddle {
namespace {

std::vector<std::string> output_names(const Function& f) {
  std::vector<std::string> names;
  for (const Output& o : f.outputs) names.push_back(o.name);
  return names;
}

Values add_inputs(Builder& build, const Function& f) {
  Values inputs;
  for (const Input& in : f.inputs)
    inputs.push_back(build.input(in.name, f.type(in.value), in.donate));
  return inputs;
}

// Runs the primal part, then the transposed one: returns the function's outputs, then one cotangent
// per name. `seed(o)` gives the cotangent of active output `o`.
template <class Seed>
Values reverse(Builder& build, const Linearized& l, const Values& inputs, Seed seed) {
  const Values primal = build.splice(l.primal.entry(), inputs);
  const std::size_t outputs = l.active.size();
  Values arguments(primal.begin() + static_cast<std::ptrdiff_t>(outputs), primal.end());
  for (std::size_t o = 0; o < outputs; ++o) {
    if (l.active[o]) arguments.push_back(seed(o));
  }
  Values results(primal.begin(), primal.begin() + static_cast<std::ptrdiff_t>(outputs));
  for (ValueId v : build.splice(transpose(l), arguments)) results.push_back(v);
  return results;
}

Program clean(Function f) { return dead_node_elimination(Program({std::move(f)})); }

void check_scalar_output(const Function& f, std::size_t loss) {
  const bool there = loss < f.outputs.size();
  const Type& type = there ? f.type(f.outputs[loss].value) : Type{DType::boolean, {}};
  if (there && type.dims.empty() && is_floating(type.dtype)) return;
  throw ValueError({.message = "@" + f.name + ": a gradient is that of a floating scalar",
                    .field = there ? "output '" + f.outputs[loss].name + "'" : "outputs",
                    .found = there ? to_text(type) : std::to_string(f.outputs.size()),
                    .needed = there ? "f32[] or another floating scalar (for others: vjp)"
                                    : "output number " + std::to_string(loss)});
}

// Only the loss's cotangent is not zero: the other outputs have none.
void keep_output(Linearized& l, std::size_t loss) {
  std::vector<Output> kept;
  std::size_t next = 0;
  for (std::size_t o = 0; o < l.active.size(); ++o) {
    if (!l.active[o]) continue;
    if (o == loss) kept.push_back(l.linear.outputs[next]);
    ++next;
    l.active[o] = o == loss;
  }
  l.linear.outputs = std::move(kept);
}

Program gradient(const Program& program, std::size_t loss, const Names& wrt, bool with_value,
                 const std::string& suffix) {
  const Function& f = program.entry();
  check_wrt(f, wrt);
  check_scalar_output(f, loss);
  Linearized l = linearize(program, wrt, {});
  keep_output(l, loss);
  Builder build(f.name + suffix, &program);
  const Values inputs = add_inputs(build, f);
  const Values results = reverse(
      build, l, inputs, [&](std::size_t o) { return build.filled(f.type(f.outputs[o].value), 1); });
  std::vector<std::string> taken;
  if (with_value) taken = output_names(f);
  for (std::size_t o = 0; with_value && o < f.outputs.size(); ++o)
    build.output(f.outputs[o].name, results[o]);
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    taken.push_back(derivative_name(wrt[i], taken));
    build.output(taken.back(), results[f.outputs.size() + i]);
  }
  return clean(build.finish());
}

Program jvp_of(const Program& program, const Names& wrt) {
  const Function& f = program.entry();
  const Forward fwd = forward(program, wrt, /*for_transpose=*/false);
  Builder build(f.name + "_jvp", &program);
  const Values results = build.splice(fwd.function, add_inputs(build, fwd.function));
  std::vector<std::string> taken = output_names(f);
  for (std::size_t o = 0; o < f.outputs.size(); ++o) build.output(f.outputs[o].name, results[o]);
  std::size_t next = f.outputs.size();
  for (std::size_t o = 0; o < f.outputs.size(); ++o) {
    const Type& type = f.type(f.outputs[o].value);
    if (!is_floating(type.dtype)) continue;
    taken.push_back(derivative_name(f.outputs[o].name, taken));
    build.output(taken.back(), fwd.active[o] ? results[next++] : build.filled(type, 0));
  }
  return clean(build.finish());
}

Program vjp_of(const Program& program, const Names& wrt) {
  const Function& f = program.entry();
  const Linearized l = linearize(program, wrt, {});
  Builder build(f.name + "_vjp", &program);
  const Values inputs = add_inputs(build, f);
  std::vector<std::string> taken;
  for (const Input& in : f.inputs) taken.push_back(in.name);
  std::vector<ValueId> seeds(f.outputs.size());
  for (std::size_t o = 0; o < f.outputs.size(); ++o) {
    const Type& type = f.type(f.outputs[o].value);
    if (!is_floating(type.dtype)) continue;
    taken.push_back(derivative_name(f.outputs[o].name, taken));
    seeds[o] = build.input(taken.back(), type);
  }
  const Values results = reverse(build, l, inputs, [&](std::size_t o) { return seeds[o]; });
  taken = output_names(f);
  for (std::size_t o = 0; o < f.outputs.size(); ++o) build.output(f.outputs[o].name, results[o]);
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    taken.push_back(derivative_name(wrt[i], taken));
    build.output(taken.back(), results[f.outputs.size() + i]);
  }
  return clean(build.finish());
}

Program hvp_of(const Program& program, const Names& wrt) {
  const Program gradient_program = gradient(program, 0, wrt, false, "_grad");
  const Forward fwd = forward(gradient_program, wrt, /*for_transpose=*/false);
  const Function& f = program.entry();
  Builder build(f.name + "_hvp", &program);
  Values inputs = add_inputs(build, f);
  for (const std::string& name : wrt)
    inputs.push_back(build.input("v_" + name, f.type(input_value(f, name))));
  const Values results = build.splice(fwd.function, inputs);
  std::size_t next = wrt.size();
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const ValueId product =
        fwd.active[i] ? results[next++] : build.filled(f.type(input_value(f, wrt[i])), 0);
    build.output("hvp_" + wrt[i], product);
  }
  return clean(build.finish());
}

}  // namespace

Program jvp(const Program& program, Names wrt, Location where) {
  return with_context({.operation = "jvp", .where = where}, [&] { return jvp_of(program, wrt); });
}
Program vjp(const Program& program, Names wrt, Location where) {
  return with_context({.operation = "vjp", .where = where}, [&] { return vjp_of(program, wrt); });
}
Program build_backward_graph(const Program& program, std::size_t loss, Names wrt, Location where) {
  return with_context({.operation = "build_backward_graph", .where = where},
                      [&] { return gradient(program, loss, wrt, true, "_backward"); });
}
Program value_and_grad(const Program& program, Names wrt, Location where) {
  return with_context({.operation = "value_and_grad", .where = where},
                      [&] { return gradient(program, 0, wrt, true, "_value_and_grad"); });
}
Program grad(const Program& program, Names wrt, Location where) {
  return with_context({.operation = "grad", .where = where},
                      [&] { return gradient(program, 0, wrt, false, "_grad"); });
}
Program hvp(const Program& program, Names wrt, Location where) {
  return with_context({.operation = "hvp", .where = where}, [&] { return hvp_of(program, wrt); });
}

}  // namespace heddle
