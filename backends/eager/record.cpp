#include "heddle/backends/eager/record.h"

#include <atomic>

#include "heddle/backends/eager/gradient.h"

namespace heddle {
namespace {

std::atomic<std::uint64_t> next_number = 1;

Tensor without_link(const Tensor& t) { return {t.type(), t.storage()}; }

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

void record_call(const Invocation& invocation, const std::shared_ptr<CallRecord>& record,
                 Operands operands, Location where, std::vector<Tensor>& results) {
  auto call = std::make_shared<RecordedCall>();
  std::vector<const Tensor*> tensors;
  for (const Operand& o : operands) {
    if (const Tensor* t = std::get_if<Tensor>(&o)) tensors.push_back(t);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]->gradient_link() == nullptr || !is_floating(tensors[i]->type().dtype)) continue;
    call->wrt.push_back(i);
    call->into.push_back(tensors[i]->gradient_link());
  }
  for (const Tensor& r : results) call->results.push_back(r.type());
  call->number = next_number.fetch_add(1, std::memory_order_relaxed);
  call->record = record;
  call->operation = invocation.call.op->name;
  call->where = where;
  for (std::size_t i : record->reverse(call->wrt).operands) {
    call->saved.push_back({i, without_link(*tensors[i]), tensors[i]->storage()->version()});
  }
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!is_floating(results[r].type().dtype)) continue;
    auto link = std::make_shared<GradientLink>();
    link->call = call;
    link->result = r;
    results[r].set_gradient_link(std::move(link));
  }
}

}  // namespace heddle
