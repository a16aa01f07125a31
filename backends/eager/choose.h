// Steps 21 to 26 of a concrete call: which kernel runs it, made ready.
#ifndef HEDDLE_BACKENDS_EAGER_CHOOSE_H_
#define HEDDLE_BACKENDS_EAGER_CHOOSE_H_

#include <memory>
#include <optional>

#include "heddle/backends/eager/composite.h"
#include "heddle/backends/eager/runnable.h"

namespace heddle {

/// A kernel of Heddle's, or one from outside: a pack's, a reference, a composite.
struct ChosenKernel {
  std::unique_ptr<Runnable> built_in;
  CompositeFunction provided;
  std::vector<const Carrier*> result_carriers{};  ///< empty: all on the call's own
};

/// Asks the candidates in their order until one takes the call. `body`: the call's program, for the
/// built-in kernel. UnsupportedOperationPlan with every reason when none does; TypeError when a
/// prepared kernel has another interface than the carrier; ProviderContractError when an operand
/// changed meanwhile. A carrier with a composite has that one candidate: errors as
/// choose_composite. What a kernel throws ends the call, with the call's place
/// where it says none. The operands are as before then.
ChosenKernel choose_kernel(const Invocation& invocation, const Function& body,
                           const Carrier& carrier, Operands operands, Location where);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_CHOOSE_H_
