#include "heddle/frontend/optim.h"

#include <cmath>
#include <string>

#include "heddle/frontend/ops.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/number_text.h"
#include "heddle/graph/passes/passes.h"

namespace heddle {
namespace optim {
namespace {

Tensor zeros(const Type& type) { return make_tensor(splat(type, 0)); }

// Hyper-parameters of one optimizer.
class Checked {
 public:
  Checked(std::string optimizer, Location where)
      : optimizer_(std::move(optimizer)), where_(where) {}

  const Checked& not_negative(const char* name, double value) const {
    return expect(value >= 0 && std::isfinite(value), name, value, "a finite number of at least 0");
  }
  const Checked& decay(const char* name, double value) const {
    return expect(value >= 0 && value < 1, name, value, "a number of at least 0 and below 1");
  }

 private:
  const Checked& expect(bool holds, const char* name, double value, const char* needed) const {
    if (holds) return *this;
    throw ValueError({.message = "a hyper-parameter out of range",
                      .operation = optimizer_,
                      .field = name,
                      .found = decimal_text(value),
                      .needed = needed,
                      .where = where_});
  }

  std::string optimizer_;
  Location where_;
};

Params zeros_like(const Params& params, const std::string& prefix) {
  Params state;
  for (const auto& [path, tensor] : params.leaves()) state[prefix + path] = zeros(tensor.type());
  return state;
}

}  // namespace

Optimizer sgd(double rate, Location where) {
  Checked("sgd", where).not_negative("rate", rate);
  return {"sgd", [](const Params&) { return Params(); },
          [rate](Params& params, Params&, const Params& gradients) {
            for (const auto& [path, g] : gradients.leaves()) params[path] = params[path] - rate * g;
          }};
}

Optimizer momentum(double rate, double mu, Location where) {
  Checked("momentum", where).not_negative("rate", rate).decay("mu", mu);
  return {"momentum", [](const Params& params) { return zeros_like(params, "v."); },
          [rate, mu](Params& params, Params& state, const Params& gradients) {
            for (const auto& [path, g] : gradients.leaves()) {
              Tensor& v = state["v." + path];
              v = mu * v + g;
              params[path] = params[path] - rate * v;
            }
          }};
}

Optimizer adam(double rate, double beta1, double beta2, double epsilon, Location where) {
  const Checked checked("adam", where);
  checked.not_negative("rate", rate).not_negative("epsilon", epsilon);
  checked.decay("beta1", beta1).decay("beta2", beta2);
  auto init = [](const Params& params) {
    Params state = zeros_like(params, "m.");
    for (const auto& [path, tensor] : params.leaves()) state["v." + path] = zeros(tensor.type());
    state["step"] = zeros(f32({}));
    return state;
  };
  auto update = [=](Params& params, Params& state, const Params& gradients) {
    Tensor& step = state["step"];
    step = step + 1.0;
    const Tensor correction1 = 1.0 / (1.0 - pow(beta1, step)),
                 correction2 = 1.0 / (1.0 - pow(beta2, step));
    const Tensor scaled_rate = rate * correction1;
    for (const auto& [path, g] : gradients.leaves()) {
      Tensor &m = state["m." + path], &v = state["v." + path];
      m = beta1 * m + (1.0 - beta1) * g;
      v = beta2 * v + (1.0 - beta2) * g * g;
      params[path] = params[path] - scaled_rate * m / (sqrt(v * correction2) + epsilon);
    }
  };
  return {"adam", init, update};
}

}  // namespace optim

namespace {

Params add_tree(Trace& trace, const Params& tree, const std::string& prefix, Values& values) {
  Params inputs;
  for (const auto& [path, tensor] : tree.leaves()) {
    inputs[path] = trace.input(prefix + path, tensor.type(), /*donate=*/true);
    values.push_back(traced(inputs[path])->value());
  }
  return inputs;
}

void add_outputs(Trace& trace, const Params& tree, const std::string& prefix) {
  for (const auto& [path, tensor] : tree.leaves()) trace.output(prefix + path, tensor);
}

Program make_step(const TracedModel& loss, const Params& params, const Optimizer& optimizer,
                  std::span<const Type> batch, const TrainStepOptions& options) {
  const TraceOptions loss_options{
      .name = options.name, .inputs = options.inputs, .outputs = {"loss"}};
  const Program loss_program = trace_model(loss, params, batch, loss_options, {});
  std::vector<std::string> wrt;
  for (const std::string& path : params.paths()) wrt.push_back("params." + path);
  const Program gradient = value_and_grad(loss_program, wrt, {});

  Trace trace(options.name);
  Values arguments, ignored;
  const Function& g = gradient.entry();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    arguments.push_back(traced(trace.input(g.inputs[i].name, batch[i]))->value());
  }
  Params weights = add_tree(trace, params, "params.", arguments);
  Params state = add_tree(trace, optimizer.init(params), optimizer.name + ".", ignored);
  const Values results = trace.builder().splice(g, arguments);
  Params gradients;
  const std::vector<std::string> paths = params.paths();
  for (std::size_t i = 0; i < paths.size(); ++i) gradients[paths[i]] = trace.tensor(results[1 + i]);
  optimizer.update(weights, state, gradients);
  trace.output("loss", trace.tensor(results[0]));
  add_outputs(trace, weights, "params.");
  add_outputs(trace, state, optimizer.name + ".");
  return dead_node_elimination(trace.finish());
}

}  // namespace

Program train_step_program(const TracedModel& loss, const Params& params,
                           const Optimizer& optimizer, std::span<const Type> batch,
                           const TrainStepOptions& options, Location where) {
  return with_context({.where = where},
                      [&] { return make_step(loss, params, optimizer, batch, options); });
}

}  // namespace heddle
