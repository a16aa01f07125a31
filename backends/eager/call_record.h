// A resolved call made ready: its forward function, and the reverse of it when a gradient asks.
#ifndef HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_
#define HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "heddle/backends/eager/choose.h"
#include "heddle/graph/call.h"

namespace heddle {

/// The vector-Jacobian product of one call for one choice of operands.
struct Reverse {
  Function function;
  std::vector<std::size_t> operands;    ///< tensor operands whose values are inputs, in order
  std::vector<std::size_t> cotangents;  ///< results whose cotangents are the inputs after them
  std::vector<std::size_t> wrt;         ///< tensor operands whose cotangents are the outputs
  std::unique_ptr<Runnable> run;        ///< null until it first runs
  ProgramFunction program;              ///< in its place where elements are not in host memory
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
  /// Emitted at first use. `wrt`: floating tensor operands. UnsupportedAdError names the operation
  /// that has no rule.
  const Reverse& reverse(const std::vector<std::size_t>& wrt);
  /// Compiled at first use.
  Runnable& runnable(const Reverse& reverse);
  /// Made ready at first use.
  const ProgramFunction& program(const Reverse& reverse);

 private:
  const ChosenKernel& choose(Operands operands, Location where);
  std::unique_ptr<Reverse> make_reverse(const std::vector<std::size_t>& wrt) const;

  const Invocation invocation_;
  Function body_;
  const Carrier& carrier_;
  std::mutex choosing_;
  std::optional<ChosenKernel> chosen_;
  std::atomic<const ChosenKernel*> ready_ = nullptr;
  std::mutex mutex_;
  std::map<std::vector<std::size_t>, std::unique_ptr<Reverse>> reverses_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_
