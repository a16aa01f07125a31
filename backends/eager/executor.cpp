#include "heddle/backends/eager/executor.h"

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/gradient.h"
#include "heddle/backends/eager/publish.h"
#include "heddle/backends/eager/record.h"
#include "heddle/backends/select.h"

namespace heddle {
namespace {

// Step 18.
void guard(const Invocation& invocation, Operands operands, Location where) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&operands[i]);
    if (t == nullptr || !t->storage()->released()) continue;
    throw ReleasedError({.message = "this tensor was released",
                         .step = 18,
                         .operation = std::string(invocation.call.op->name),
                         .field = absl::StrCat("operands[", i, "]"),
                         .found = "a released tensor " + to_text(t->type()),
                         .where = where});
  }
}

std::vector<Tensor> own_results(const Invocation& invocation, const Carrier& carrier,
                                Operands operands) {
  std::vector<Tensor> results;
  results.reserve(invocation.results.size());
  for (const ResultSpec& r : invocation.results) {
    if (r.alias_of) {
      const auto& operand = std::get<Tensor>(operands[static_cast<std::size_t>(*r.alias_of)]);
      results.emplace_back(r.type, operand.storage());
    } else {
      results.push_back(new_tensor(r.type, carrier));
    }
  }
  return results;
}

// Step 18, for the operands that the call changes.
void guard_mutated(const Invocation& invocation, Operands operands, Location where) {
  for (int i : invocation.mutated) {
    const auto& t = std::get<Tensor>(operands[static_cast<std::size_t>(i)]);
    if (carrier_storage(t) != nullptr) continue;
    throw ValueError({.message = "a constant cannot be changed",
                      .step = 18,
                      .operation = std::string(invocation.call.op->name),
                      .field = absl::StrCat("operands[", i, "]"),
                      .found = "a constant " + to_text(t.type()),
                      .needed = "a tensor of a carrier",
                      .where = where});
  }
}

bool wants_record(Operands operands) {
  if (!gradients_enabled()) return false;
  for (const Operand& o : operands) {
    const Tensor* t = std::get_if<Tensor>(&o);
    if (t != nullptr && t->gradient_link() != nullptr) return true;
  }
  return false;
}

// Pointers of a call, on the stack for the usual numbers of them.
template <class T>
class Pointers {
 public:
  void push_back(T p) {
    if (count_ < kFew) {
      few_[count_] = p;
    } else {
      if (count_ == kFew) many_.assign(few_, few_ + kFew);
      many_.push_back(p);
    }
    ++count_;
  }
  std::span<const T> all() const {
    return count_ <= kFew ? std::span<const T>(few_, count_) : std::span<const T>(many_);
  }

 private:
  static constexpr std::size_t kFew = 8;
  T few_[kFew] = {};
  std::vector<T> many_;
  std::size_t count_ = 0;
};

// Step 19: a result that is an operand cannot have a past of its own.
void guard_alias(const Invocation& invocation, Operands operands, Location where) {
  for (std::size_t r = 0; r < invocation.results.size(); ++r) {
    const ResultSpec& spec = invocation.results[r];
    if (!spec.alias_of || !is_floating(spec.type.dtype)) continue;
    if (!gradients_enabled() || !takes_part(invocation, operands)) return;
    throw ValueError({.message = "a result that is an operand cannot be recorded for gradients",
                      .step = 19,
                      .operation = std::string(invocation.call.op->name),
                      .field = absl::StrCat("results[", r, "].alias_of"),
                      .found = absl::StrCat("operands[", *spec.alias_of, "]"),
                      .needed = "a result of its own, or gradients off",
                      .where = where});
  }
}

class EagerExecutor final : public Executor {
 public:
  std::shared_ptr<void> prepare(const Invocation& invocation, const void* carrier) override {
    const bool literals = carrier == host_carrier();
    return std::make_shared<CallRecord>(
        invocation, literals ? cpu_carrier() : *static_cast<const Carrier*>(carrier));
  }

  std::vector<Tensor> run(const Invocation& invocation, const std::shared_ptr<void>& prepared,
                          Operands operands, Location where) override {
    const ErrorContext context{.operation = invocation.call.op->name, .step = 27, .where = where};
    return with_context(context, [&] { return run_call(invocation, prepared, operands, where); });
  }

 private:
  static std::vector<Tensor> run_call(const Invocation& invocation,
                                      const std::shared_ptr<void>& prepared, Operands operands,
                                      Location where) {
    guard(invocation, operands, where);
    if (invocation.call.op->extension != nullptr) {
      guard_mutated(invocation, operands, where);
      guard_alias(invocation, operands, where);
    }
    const auto record = std::static_pointer_cast<CallRecord>(prepared);
    const auto attach = [&](std::vector<Tensor>& results) {
      if (!wants_record(operands)) return;
      with_context({.operation = invocation.call.op->name, .step = 29, .where = where},
                   [&] { record_call(invocation, record, operands, where, results); });
    };
    if (!writes_elements(invocation)) {
      std::vector<Tensor> results = own_results(invocation, record->carrier(), operands);
      attach(results);
      return results;
    }
    const ChosenKernel& kernel = record->kernel(operands, where);
    if (kernel.provided) {
      return run_provided(kernel, record->invocation(), record->carrier(), operands, where, attach);
    }
    std::vector<Tensor> results = own_results(invocation, record->carrier(), operands);
    with_context({.carrier = record->carrier().name},
                 [&] { run_built_in(invocation, *kernel.built_in, operands, results, where); });
    attach(results);
    return results;
  }

  static void run_built_in(const Invocation& invocation, Runnable& kernel, Operands operands,
                           const std::vector<Tensor>& results, Location where) {
    Pointers<const std::byte*> inputs;
    Pointers<std::byte*> outputs;
    for (const Operand& o : operands) {
      if (const Tensor* t = std::get_if<Tensor>(&o)) inputs.push_back(t->storage()->host());
    }
    for (const Tensor& r : results) {
      outputs.push_back(static_cast<HostStorage&>(*r.storage()).data());
    }
    try {
      kernel.run(inputs.all(), outputs.all());
    } catch (const OverflowError& e) {  // inside a composite it is the composite's
      ErrorDetail detail = e.detail();
      detail.step = 27;
      detail.operation = invocation.call.op->name;
      detail.where = where;
      e.rethrow_with(std::move(detail));
    }
  }
};

}  // namespace

Executor& eager_executor() {
  static EagerExecutor executor;
  return executor;
}

}  // namespace heddle
