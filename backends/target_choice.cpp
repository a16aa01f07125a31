#include "heddle/backends/target_choice.h"

#include "heddle/graph/operation.h"

namespace heddle {
namespace {

using Targets = std::vector<const OperationTarget*>;

std::string names_of(const Targets& targets) {
  std::string names;
  for (const OperationTarget* t : targets) names += (names.empty() ? "" : ", ") + t->name;
  return names.empty() ? "none" : names;
}
std::string quoted(const std::string& name) { return "'" + name + "'"; }

}  // namespace

void OperationTargets::add(OperationTarget target) {
  const std::lock_guard lock(mutex_);
  if (target.name.empty()) throw ValueError({.message = "a target has a name"});
  for (const auto& t : targets_) {
    if (t->name != target.name) continue;
    throw ValueError({.message = "there is such a target", .found = quoted(target.name)});
  }
  if (!target.claims) {
    throw TypeError({.message = "target " + quoted(target.name) + " says no devices it claims"});
  }
  targets_.push_back(std::make_unique<const OperationTarget>(std::move(target)));
}

const OperationTarget& OperationTargets::find(const std::string& name) const {
  Targets all;
  for (const auto& t : targets_) {
    if (t->name == name) return *t;
    all.push_back(t.get());
  }
  throw NotAvailableError({.message = "no such target",
                           .step = 22,
                           .field = "target",
                           .found = quoted(name),
                           .needed = names_of(all)});
}

const OperationTarget& OperationTargets::detect(const DeviceFacts& device) const {
  Targets claiming;
  for (const auto& t : targets_) {
    if (t->claims(device)) claiming.push_back(t.get());
  }
  if (claiming.size() == 1) return *claiming[0];
  ErrorDetail detail{.step = 22, .field = "device", .found = device.type};
  if (claiming.empty()) {
    detail.message = "no target claims this device";
    throw NotAvailableError(std::move(detail));
  }
  detail.message = "several targets claim this device: " + names_of(claiming);
  detail.step = 24;
  throw AmbiguousTargetError(std::move(detail));
}

void OperationTargets::set_default(const std::optional<std::string>& name) {
  const std::lock_guard lock(mutex_);
  default_ = name ? &find(*name) : nullptr;
}

const OperationTarget& OperationTargets::choose(const std::optional<std::string>& name,
                                                const DeviceFacts& device) {
  const std::lock_guard lock(mutex_);
  if (name) return find(*name);
  return default_ != nullptr ? *default_ : detect(device);
}

const OperationTarget& TargetChoice::begin(const DeviceFacts& device) {
  const std::lock_guard lock(mutex_);
  if (fixed_ == nullptr) fixed_ = &targets_.choose(made_for_, device);
  ++running_;
  return *fixed_;
}

void TargetChoice::end(bool good) {
  const std::lock_guard lock(mutex_);
  proven_ |= good;
  --running_;
  if (!proven_ && running_ == 0) fixed_ = nullptr;
}

void TargetChoice::run(const Invocation& invocation, const DeviceFacts& device,
                       const std::function<void(const void* kernel)>& body) {
  if (!writes_elements(invocation)) return;
  const OperationTarget& target = begin(device);
  try {
    const Operation& op = *invocation.call.op;
    if (!target.kernels.serves(op)) {
      throw NotAvailableError(
          {.message = "target " + quoted(target.name) + " has no kernel for this operation",
           .step = 22,
           .operation = std::string(op.name),
           .where = invocation.call.where});
    }
    body(target.kernels.kernel_for(request_of(invocation), device).get());
  } catch (...) {
    end(false);
    throw;
  }
  end(true);
}

std::optional<std::string> TargetChoice::fixed() {
  const std::lock_guard lock(mutex_);
  return fixed_ ? std::optional(fixed_->name) : std::nullopt;
}

}  // namespace heddle
