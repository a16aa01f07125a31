// Steps 27 to 29 for kernels from outside: what a provider gives becomes visible whole, or nothing
// does.
#ifndef HEDDLE_BACKENDS_EAGER_PUBLISH_H_
#define HEDDLE_BACKENDS_EAGER_PUBLISH_H_

#include <cstddef>
#include <vector>

#include "heddle/backends/eager/choose.h"
#include "heddle/backends/eager/storage.h"

namespace heddle {

/// The operands of a call as they were: elements, versions, lifecycle.
class OperandSnapshot {
 public:
  explicit OperandSnapshot(Operands operands);

  /// Runs `f`; what it throws passes on after everything is as it was.
  template <class F>
  auto undone_on_error(F f) {
    try {
      return f();
    } catch (...) {
      restore();
      throw;
    }
  }
  /// ProviderContractError, with everything as it was, when an operand changed that is not in
  /// `permitted` (numbers of operands) or when one was released.
  void check_unchanged(const Invocation& invocation, Location where,
                       const std::vector<int>& permitted = {});
  void restore();
  /// The version of every permitted operand is one more than it was; of all others as it was.
  void advance(const std::vector<int>& permitted);

 private:
  struct Saved {
    std::vector<int> operands;  ///< all that have this storage
    std::shared_ptr<Storage> keep;
    CarrierStorage* storage;
    std::uint64_t version;
    std::unique_ptr<StorageSnapshot> elements;
  };
  std::vector<Saved> saved_;
};

/// Runs a kernel from outside, waits for it, holds its results to the invocation (step 28), and
/// gives them as tensors without a past. Any failure leaves operands and their versions as they
/// were: ProviderContractError names the field, a provider's own error passes (with_context).
/// `carrier`: the call's own. `finish(results)` runs before anything counts as published; what it
/// throws undoes the call too.
std::vector<Tensor> run_provided(const ChosenKernel& kernel, const Invocation& invocation,
                                 const Carrier& carrier, Operands operands, Location where,
                                 const std::function<void(std::vector<Tensor>&)>& finish);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_PUBLISH_H_
