#include "heddle/backends/eager/executor.h"

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/gradient.h"
#include "heddle/backends/eager/record.h"

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

bool all_empty(const Invocation& invocation) {
  for (const ResultSpec& r : invocation.results) {
    if (element_count(r.type) != 0) return false;
  }
  return true;
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

class EagerExecutor final : public Executor {
 public:
  std::shared_ptr<void> prepare(const Invocation& invocation, const void* carrier) override {
    const Carrier& own = carrier == &reference_carrier() ? reference_carrier() : cpu_carrier();
    return std::make_shared<CallRecord>(invocation, own);
  }

  std::vector<Tensor> run(const Invocation& invocation, const std::shared_ptr<void>& prepared,
                          Operands operands, Location where) override {
    guard(invocation, operands, where);
    const auto record = std::static_pointer_cast<CallRecord>(prepared);
    std::vector<Tensor> results;
    results.reserve(invocation.results.size());
    Pointers<const std::byte*> inputs;
    Pointers<std::byte*> outputs;
    for (const Operand& o : operands) {
      if (const Tensor* t = std::get_if<Tensor>(&o)) inputs.push_back(t->storage()->host());
    }
    for (const ResultSpec& r : invocation.results) {
      auto storage = std::make_shared<HostStorage>(record->carrier(),
                                                   static_cast<std::size_t>(byte_count(r.type)));
      outputs.push_back(storage->data());
      results.emplace_back(r.type, std::move(storage));
    }
    if (!all_empty(invocation)) run_forward(invocation, *record, inputs, outputs, where);
    if (wants_record(operands)) record_call(invocation, record, operands, where, results);
    return results;
  }

 private:
  static void run_forward(const Invocation& invocation, CallRecord& record,
                          const Pointers<const std::byte*>& inputs,
                          const Pointers<std::byte*>& outputs, Location where) {
    try {
      record.forward().run(inputs.all(), outputs.all());
    } catch (const RuntimeError& e) {
      ErrorDetail detail = e.detail();
      detail.step = 27;
      detail.operation = invocation.call.op->name;
      detail.where = where;
      throw RuntimeError(detail);
    }
  }
};

}  // namespace

Executor& eager_executor() {
  static EagerExecutor executor;
  return executor;
}

}  // namespace heddle
