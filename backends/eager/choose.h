// Steps 21 to 26 of a concrete call: which kernel runs it, made ready.
#ifndef HEDDLE_BACKENDS_EAGER_CHOOSE_H_
#define HEDDLE_BACKENDS_EAGER_CHOOSE_H_

#include <memory>
#include <optional>

#include "heddle/backends/eager/kernel.h"
#include "heddle/backends/eager/runnable.h"

namespace heddle {

/// One of the two.
struct ChosenKernel {
  std::unique_ptr<Runnable> built_in;
  std::optional<PreparedKernel> provided;
};

/// Asks the candidates in their order until one takes the call. `body`: the call's program, for the
/// built-in kernel. UnsupportedOperationPlan with every reason when none does; TypeError when a
/// prepared kernel has another interface than the carrier; ProviderContractError when an operand
/// changed meanwhile. What a kernel throws passes unchanged. The operands are as before then.
ChosenKernel choose_kernel(const Invocation& invocation, const Function& body,
                           const Carrier& carrier, Operands operands, Location where);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_CHOOSE_H_
