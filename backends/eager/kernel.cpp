#include "heddle/backends/eager/kernel.h"

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/storage.h"

namespace heddle {

const KernelInterface& host_interface() {
  static const KernelInterface* const host = new KernelInterface{"heddle.host", 1};
  return *host;
}

const KernelInterface& storage_interface() {
  static const KernelInterface* const storage = new KernelInterface{"heddle.storage", 1};
  return *storage;
}

Unsupported::Unsupported(std::string why) : reason(std::move(why)) {
  if (reason.empty()) throw ValueError({.message = "Unsupported without a reason"});
}

ProviderResult::ProviderResult(std::vector<Tensor> results) : outputs(std::move(results)) {
  if (outputs.empty()) throw ValueError({.message = "a provider's result has no tensor"});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].empty()) continue;
    throw TypeError({.message = "a provider's result is an empty tensor",
                     .field = absl::StrCat("results[", i, "]")});
  }
}

void ProviderCompletion::answer(const std::function<void(Answer&)>& set) {
  {
    const std::lock_guard lock(mutex_);
    twice_ = answer_.index() != 0;
    if (!twice_) set(answer_);
  }
  answered_.notify_all();
  if (!twice_) return;
  throw ProviderContractError(
      {.message = "a kernel answered twice", .step = 28, .field = "completion"});
}
void ProviderCompletion::fulfil(ProviderResult result) {
  answer([&](Answer& a) { a.emplace<ProviderResult>(std::move(result)); });
}
void ProviderCompletion::fail(std::exception_ptr error) {
  answer([&](Answer& a) { a.emplace<std::exception_ptr>(std::move(error)); });
}

bool ProviderCompletion::done() const {
  const std::lock_guard lock(mutex_);
  return answer_.index() != 0;
}

ProviderResult ProviderCompletion::wait() const {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [&] { return answer_.index() != 0; });
  if (twice_) {
    throw ProviderContractError(
        {.message = "a kernel answered twice", .step = 28, .field = "completion"});
  }
  if (const auto* error = std::get_if<std::exception_ptr>(&answer_)) std::rethrow_exception(*error);
  return std::get<ProviderResult>(answer_);
}

namespace {

const Carrier& carrier_of(Operands operands) {
  for (const Operand& o : operands) {
    const Tensor* t = std::get_if<Tensor>(&o);
    const CarrierStorage* storage = t != nullptr ? carrier_storage(*t) : nullptr;
    if (storage != nullptr) return storage->carrier_object();
  }
  return cpu_carrier();
}

Submitted run_host_kernel(const HostKernel& kernel, const ResolvedInvocation& invocation,
                          Operands operands) {
  std::vector<const std::byte*> inputs;
  for (const Operand& o : operands) {
    if (const Tensor* t = std::get_if<Tensor>(&o)) inputs.push_back(t->storage()->host());
  }
  std::vector<Tensor> results;
  std::vector<std::byte*> outputs;
  for (const ResultSpec& r : invocation.results) {
    results.push_back(r.alias_of ? std::get<Tensor>(operands[static_cast<std::size_t>(*r.alias_of)])
                                 : new_tensor(r.type, carrier_of(operands)));
    HostStorage* storage = host_storage(results.back());
    internal_check(storage != nullptr, "a result that is a constant");
    outputs.push_back(storage->data());
  }
  const int status = kernel(invocation, inputs, outputs);
  if (status != 0) {
    throw RuntimeError({.message = "the kernel failed",
                        .step = 27,
                        .operation = std::string(invocation.call.op->name),
                        .found = absl::StrCat("status ", status)});
  }
  return ProviderResult(std::move(results));
}

}  // namespace

PrepareFunction host_kernel(HostKernel kernel) {
  auto shared = std::make_shared<const HostKernel>(std::move(kernel));
  return [shared](const ResolvedInvocation&) -> Prepared {
    return PreparedKernel{host_interface(), [shared](const ResolvedInvocation& inv, Operands o) {
                            return run_host_kernel(*shared, inv, o);
                          }};
  };
}

}  // namespace heddle
