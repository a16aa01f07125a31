// Optimizers: how parameters move along their gradients. Their state is Params too.
#ifndef HEDDLE_FRONTEND_OPTIM_H_
#define HEDDLE_FRONTEND_OPTIM_H_

#include <functional>
#include <string>

#include "heddle/frontend/trace.h"

namespace heddle {

struct Optimizer {
  std::string name;  ///< of its state's tree: "adam"
  /// The state before the first step, for parameters of these types.
  std::function<Params(const Params& params)> init;
  /// Traced: new parameters and state from old ones and gradients, leaf by leaf of the same paths.
  std::function<void(Params& params, Params& state, const Params& gradients)> update;
};

namespace optim {

// ValueError, with the caller's place, for a rate or an epsilon that is negative or not finite, and
// for a mu or beta outside [0, 1).

/// w -= rate * g.
Optimizer sgd(double rate, Location where = std::source_location::current());
/// v = mu * v + g; w -= rate * v (as PyTorch's SGD with momentum). State: "v.<path>".
Optimizer momentum(double rate, double mu = 0.9, Location where = std::source_location::current());
/// Adam (Kingma and Ba, arXiv:1412.6980, algorithm 1). State: "m.<path>", "v.<path>" and "step",
/// the number of steps taken: f32[].
Optimizer adam(double rate = 1e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8,
               Location where = std::source_location::current());

}  // namespace optim

struct TrainStepOptions {
  std::string name = "train_step";
  std::vector<std::string> inputs{};  ///< names of the batch: default x0, x1 ...
};

/// One training step as one program. Inputs: the batch, then "params.<path>", then
/// "<optimizer>.<path>", the last two donated and updated in place by outputs of their names. First
/// output: "loss". `loss`: takes Params and the batch, gives a scalar. Errors have the caller's
/// place.
Program train_step_program(const TracedModel& loss, const Params& params,
                           const Optimizer& optimizer, std::span<const Type> batch,
                           const TrainStepOptions& options,
                           Location where = std::source_location::current());
template <class F>
Program train_step(F loss, const Params& params, const Optimizer& optimizer,
                   const std::vector<Type>& batch, const TrainStepOptions& options = {},
                   Location where = std::source_location::current()) {
  return train_step_program(internal::adapt_model(std::move(loss), options.name), params, optimizer,
                            batch, options, where);
}

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_OPTIM_H_
