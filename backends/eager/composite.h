// Carriers that compute by other carriers: a composite takes a whole call and answers with tensors,
// as a kernel does; what it runs on which carrier meanwhile is its own affair. The call stays the
// only one that is seen and recorded, and its gradient is the operation's.
#ifndef HEDDLE_BACKENDS_EAGER_COMPOSITE_H_
#define HEDDLE_BACKENDS_EAGER_COMPOSITE_H_

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "heddle/backends/eager/kernel.h"
#include "heddle/backends/eager/storage.h"

namespace heddle {

/// As SubmitFunction; and the caller's place, for errors.
using CompositeFunction =
    std::function<Submitted(const ResolvedInvocation&, Operands operands, Location)>;
struct PreparedComposite {
  CompositeFunction submit;
};
using MaybeComposite = std::variant<PreparedComposite, Unsupported>;
/// A program on tensors of one carrier and literals; outputs are on that carrier.
using ProgramFunction = std::function<std::vector<Tensor>(std::span<const Tensor>, Location)>;

/// Both functions get the call's own carrier and its invocation, whose tensors have types only, and
/// are asked once per resolved call: first where the results go, then for the work. What they throw
/// ends the call.
struct CompositeProvider {
  /// One carrier per result. TypeError for a null one, ValueError for another number.
  std::function<std::vector<const Carrier*>(const Carrier&, const ResolvedInvocation&)>
      result_carriers;
  /// `submit` gets this call's operands; its results are on the carriers that were promised.
  std::function<MaybeComposite(const Carrier&, const ResolvedInvocation&)> prepare;
  /// Makes the program of a gradient ready. Absent: its nodes are calls, one by one.
  std::function<ProgramFunction(const Carrier&, const Function&)> prepare_program{};
};

/// Steps 23 to 26 on a carrier that has a composite provider.
struct ChosenComposite {
  PreparedComposite prepared;
  std::vector<const Carrier*> result_carriers;
};
ChosenComposite choose_composite(const Invocation& invocation, const Carrier& carrier,
                                 Operands operands, Location where);

/// By the composite's `prepare_program`, or node by node. Errors as calls of its operations.
ProgramFunction program_of_calls(const Function& function, const Carrier& carrier);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_COMPOSITE_H_
