#include "heddle/backends/eager/record.h"

#include <atomic>

#include "heddle/backends/eager/gradient.h"
#include "heddle/graph/definition.h"

namespace heddle {
namespace {

std::atomic<std::uint64_t> next_number = 1;

Tensor without_link(const Tensor& t) { return {t.type(), t.storage()}; }

std::vector<const Tensor*> tensors_of(Operands operands) {
  std::vector<const Tensor*> tensors;
  for (const Operand& o : operands) {
    if (const Tensor* t = std::get_if<Tensor>(&o)) tensors.push_back(t);
  }
  return tensors;
}

// An extension says which operands have a derivative; a built-in operation has rules for all.
bool flows(const Invocation& invocation, std::size_t tensor, const Tensor& t) {
  if (t.gradient_link() == nullptr || !is_floating(t.type().dtype)) return false;
  const Operation& op = *invocation.call.op;
  return op.extension == nullptr || op.role(tensor) != Role::no_grad;
}

// The number among the tensor operands of an operand.
std::size_t tensor_number(Operands operands, int operand) {
  std::size_t number = 0;
  for (int i = 0; i < operand; ++i) {
    number += std::holds_alternative<Tensor>(operands[static_cast<std::size_t>(i)]);
  }
  return number;
}

// What the gradient will read: what the definition names, or what the rules' program reads.
void save(RecordedCall& call, Operands operands, const std::vector<const Tensor*>& tensors,
          const std::vector<Tensor>& results) {
  const Invocation& invocation = call.record->invocation();
  const OperationDefinition* definition = invocation.definition();
  std::vector<std::size_t> read;
  if (definition != nullptr && definition->vjp.vjp() != nullptr) {
    for (int i : invocation.saved) read.push_back(tensor_number(operands, i));
    for (const Tensor& r : results) call.outputs.push_back(without_link(r));
  } else {
    read = call.record->reverse(call.wrt).operands;
  }
  for (std::size_t i : read) {
    call.saved.push_back({i, without_link(*tensors[i]), tensors[i]->storage()->version()});
  }
}

}  // namespace

// A long chain of calls would be freed by one recursion per link: they are taken apart in a loop.
RecordedCall::~RecordedCall() {
  std::vector<std::shared_ptr<RecordedCall>> doomed;
  auto take = [&](RecordedCall& call) {
    for (std::shared_ptr<GradientLink>& link : call.into) {
      if (link.use_count() == 1 && link->call.use_count() == 1) {
        doomed.push_back(std::move(link->call));
      }
    }
  };
  take(*this);
  while (!doomed.empty()) {
    const std::shared_ptr<RecordedCall> call = std::move(doomed.back());
    doomed.pop_back();
    take(*call);
  }
}

bool takes_part(const Invocation& invocation, Operands operands) {
  const std::vector<const Tensor*> tensors = tensors_of(operands);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (flows(invocation, i, *tensors[i])) return true;
  }
  return false;
}

void record_call(const Invocation& invocation, const std::shared_ptr<CallRecord>& record,
                 Operands operands, Location where, std::vector<Tensor>& results) {
  auto call = std::make_shared<RecordedCall>();
  const std::vector<const Tensor*> tensors = tensors_of(operands);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!flows(invocation, i, *tensors[i])) continue;
    call->wrt.push_back(i);
    call->into.push_back(tensors[i]->gradient_link());
  }
  if (call->wrt.empty()) return;
  for (const Tensor& r : results) call->results.push_back(r.type());
  call->number = next_number.fetch_add(1, std::memory_order_relaxed);
  call->record = record;
  call->operation = invocation.call.op->name;
  call->where = where;
  save(*call, operands, tensors, results);
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!is_floating(results[r].type().dtype)) continue;
    auto link = std::make_shared<GradientLink>();
    link->call = call;
    link->result = r;
    results[r].set_gradient_link(std::move(link));
  }
}

}  // namespace heddle
