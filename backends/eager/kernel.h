// What a kernel from outside gives and gets: it prepares a resolved call or says why not, submits
// work on this call's tensors, and answers with tensors, at once or later.
#ifndef HEDDLE_BACKENDS_EAGER_KERNEL_H_
#define HEDDLE_BACKENDS_EAGER_KERNEL_H_

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "heddle/graph/call.h"

namespace heddle {

/// What a kernel and the carrier it runs on must both know.
struct KernelInterface {
  std::string type;
  int version = 1;
  bool operator==(const KernelInterface&) const = default;
};
/// Of carriers in host memory: dense row-major tensors, see host_storage().
const KernelInterface& host_interface();
/// Of carriers with a storage provider: tensors are read and written, see carrier_storage().
const KernelInterface& storage_interface();

/// "Not me", with the reason: the next kernel is asked. ValueError for an empty one.
struct Unsupported {
  explicit Unsupported(std::string why);
  const std::string reason;
};

/// The results of one call, in order; new_tensor() on the call's carrier makes them, or the operand
/// that a result was declared to be. ValueError for none, TypeError for an empty tensor.
struct ProviderResult {
  explicit ProviderResult(std::vector<Tensor> results);
  const std::vector<Tensor> outputs;
};

/// Results that come later: the kernel keeps it and answers once, from any thread.
class ProviderCompletion {
 public:
  /// ProviderContractError when it was answered before; a wait that is not over fails, too.
  void fulfil(ProviderResult result);
  void fail(std::exception_ptr error);

  bool done() const;
  /// Blocks until the answer; any number of times. Rethrows what it failed with.
  ProviderResult wait() const;

 private:
  using Answer = std::variant<std::monostate, ProviderResult, std::exception_ptr>;
  void answer(const std::function<void(Answer&)>& set);

  mutable std::mutex mutex_;
  mutable std::condition_variable answered_;
  Answer answer_;
  bool twice_ = false;
};

using Submitted = std::variant<ProviderResult, std::shared_ptr<ProviderCompletion>>;
/// The invocation's tensors have types only: `operands` are this call's. Called at most once per
/// call, from any number of threads.
using SubmitFunction = std::function<Submitted(const ResolvedInvocation&, Operands operands)>;

struct PreparedKernel {
  KernelInterface interface;
  SubmitFunction submit;
};
using Prepared = std::variant<PreparedKernel, Unsupported>;
/// Asked once per resolved call. It keeps the whole invocation or says Unsupported; what it throws
/// ends the call.
using PrepareFunction = std::function<Prepared(const ResolvedInvocation&)>;

/// A kernel in C: one pointer per tensor operand and per result, dense and row-major. Not 0: it
/// failed.
using HostKernel = std::function<int(const ResolvedInvocation&, std::span<const std::byte* const>,
                                     std::span<std::byte* const>)>;
/// Makes the results on the operands' carrier and calls `kernel`; RuntimeError when it fails. A
/// declared mutation is written through the operand's pointer.
PrepareFunction host_kernel(HostKernel kernel);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_KERNEL_H_
