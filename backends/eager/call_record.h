// A resolved call made ready: its forward function, and the reverse of it when a gradient asks.
#ifndef HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_
#define HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "heddle/backends/eager/runnable.h"
#include "heddle/graph/call.h"

namespace heddle {

/// The vector-Jacobian product of one call for one choice of operands.
struct Reverse {
  Function function;
  std::vector<std::size_t> operands;    ///< tensor operands whose values are inputs, in order
  std::vector<std::size_t> cotangents;  ///< results whose cotangents are the inputs after them
  std::vector<std::size_t> wrt;         ///< tensor operands whose cotangents are the outputs
  std::unique_ptr<Runnable> run;        ///< null until it first runs
};

class CallRecord {
 public:
  CallRecord(const Invocation& invocation, const Carrier& carrier);

  const Function& body() const { return body_; }
  const Carrier& carrier() const { return carrier_; }
  Runnable& forward() { return *forward_; }
  /// Emitted at first use. `wrt`: floating tensor operands. UnsupportedAdError names the operation
  /// that has no rule.
  const Reverse& reverse(const std::vector<std::size_t>& wrt);
  /// Compiled at first use.
  Runnable& runnable(const Reverse& reverse);

 private:
  std::unique_ptr<Reverse> make_reverse(const std::vector<std::size_t>& wrt) const;

  Function body_;
  const Carrier& carrier_;
  std::unique_ptr<Runnable> forward_;
  std::mutex mutex_;
  std::map<std::vector<std::size_t>, std::unique_ptr<Reverse>> reverses_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_CALL_RECORD_H_
