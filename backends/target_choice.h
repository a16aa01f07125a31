// Where an operation runs that several targets could run: the one it was made for, the process's
// default, or the one that claims the device; never another one when that has no kernel.
#ifndef HEDDLE_BACKENDS_TARGET_CHOICE_H_
#define HEDDLE_BACKENDS_TARGET_CHOICE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "heddle/backends/select.h"

namespace heddle {

/// One target: its name, the devices it claims, and its kernels.
struct OperationTarget {
  std::string name;
  std::function<bool(const DeviceFacts&)> claims;
  KernelTable& kernels;
};

/// The targets of a process, by name. Any number of threads.
class OperationTargets {
 public:
  /// ValueError: no name, or a name that is taken. TypeError: nothing says what it claims.
  void add(OperationTarget target);
  /// Null clears it. NotAvailableError lists the names there are.
  void set_default(const std::optional<std::string>& name);
  /// The named one, else the default, else the one that claims the device. NotAvailableError: there
  /// is none; AmbiguousTargetError: several claim it.
  const OperationTarget& choose(const std::optional<std::string>& name, const DeviceFacts& device);

 private:
  const OperationTarget& find(const std::string& name) const;
  const OperationTarget& detect(const DeviceFacts& device) const;

  std::mutex mutex_;
  std::vector<std::unique_ptr<const OperationTarget>> targets_;
  const OperationTarget* default_ = nullptr;
};

/// The target of one object that calls operations: chosen for its first call that runs, and kept;
/// when that call fails, the next one chooses again. Any number of threads.
class TargetChoice {
 public:
  explicit TargetChoice(OperationTargets& targets, std::optional<std::string> made_for = {})
      : targets_(targets), made_for_(std::move(made_for)) {}

  /// Runs `body` with what the target's kernel built for the call. A call that writes no element
  /// runs nothing and chooses nothing. Errors as OperationTargets::choose and
  /// KernelTable::kernel_for, and NotAvailableError when the target has no kernel for the
  /// operation; what `body` throws passes.
  void run(const Invocation& invocation, const DeviceFacts& device,
           const std::function<void(const void* kernel)>& body);
  std::optional<std::string> fixed();

 private:
  const OperationTarget& begin(const DeviceFacts& device);
  void end(bool good);

  OperationTargets& targets_;
  const std::optional<std::string> made_for_;
  std::mutex mutex_;
  const OperationTarget* fixed_ = nullptr;
  bool proven_ = false;  // a call on it has succeeded
  int running_ = 0;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_TARGET_CHOICE_H_
