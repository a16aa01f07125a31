// A resolved call made ready: its forward function, and the reverse of it when a gradient asks.
#ifndef HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_
#define HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "heddle/backends/eager/choose.h"
#include "heddle/graph/call.h"

namespace heddle {

/// The vector-Jacobian product of one call for one choice of operands. A cotangent that a select
/// has masked stays masked from call to call as it does inside a program (graph/ops/cotangent.h):
/// 0 times an infinite slope would be NaN where the derivative is 0.
struct Reverse {
  Function function;  ///< outputs: a cotangent per entry of `wrt`, then the masks there are
  std::vector<std::size_t> operands;  ///< tensor operands whose values are inputs, in order
  std::vector<std::size_t> masks;     ///< results whose cotangents' masks are the inputs after them
  std::vector<std::size_t> cotangents;   ///< results whose cotangents are the inputs after those
  std::vector<std::size_t> wrt;          ///< tensor operands whose cotangents are the outputs
  std::vector<std::size_t> given_masks;  ///< results whose cotangents come with a mask
  std::vector<std::size_t> masked;       ///< entries of `wrt` that the last outputs are masks of
  std::unique_ptr<Runnable> run;         ///< null until it first runs
  ProgramFunction program;               ///< in its place where elements are not in host memory
};

class CallRecord {
 public:
  /// Chooses nothing yet: a call is guarded first.
  CallRecord(const Invocation& invocation, const Carrier& carrier);

  const Invocation& invocation() const { return invocation_; }  ///< its tensors have types only
  const Function& body() const { return body_; }
  const Carrier& carrier() const { return carrier_; }
  /// Chosen at first use, and again when that fails; errors as choose_kernel.
  const ChosenKernel& kernel(Operands operands, Location where) {
    const ChosenKernel* chosen = ready_.load(std::memory_order_acquire);
    return chosen != nullptr ? *chosen : choose(operands, where);
  }
  /// Emitted at first use. `wrt`: floating tensor operands; `masks`: results whose cotangents come
  /// with one. UnsupportedAdError names the operation that has no rule.
  Reverse& reverse(const std::vector<std::size_t>& wrt, const std::vector<std::size_t>& masks = {});
  /// Whether a mask of its results' cotangents says something about those of its operands.
  bool carries_masks();
  /// Compiled at first use.
  Runnable& runnable(Reverse& reverse);
  /// Made ready at first use.
  const ProgramFunction& program(Reverse& reverse);

 private:
  const ChosenKernel& choose(Operands operands, Location where);
  std::unique_ptr<Reverse> make_reverse(const std::vector<std::size_t>& wrt,
                                        const std::vector<std::size_t>& masks) const;

  const Invocation invocation_;
  Function body_;
  const Carrier& carrier_;
  std::mutex choosing_;
  std::optional<ChosenKernel> chosen_;
  std::atomic<const ChosenKernel*> ready_ = nullptr;
  std::mutex mutex_;
  std::optional<bool> carries_masks_;
  std::vector<std::unique_ptr<Reverse>> reverses_;  // few: one per choice of operands and masks
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_
