#include "heddle/backends/eager/gradient.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/callback.h"
#include "heddle/backends/eager/composite.h"
#include "heddle/backends/eager/record.h"
#include "heddle/backends/eager/transfer.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

thread_local bool enabled = true;

using MaybeTensor = std::optional<Tensor>;

Tensor sum(const Tensor& a, const Tensor& b, Location where) {
  const Operand operands[] = {a, b};
  return call(op_add, operands, {}, where)[0];
}

void accumulate(MaybeTensor& total, const Tensor& addend, Location where) {
  total = total ? sum(*total, addend, where) : addend;
}

// What flows back into a value, and, when it is known, where that may be other than 0 (bool).
struct Cotangent {
  Tensor value;
  MaybeTensor mask;
};
using MaybeCotangent = std::optional<Cotangent>;

void accumulate(MaybeCotangent& total, const Cotangent& addend, Location where) {
  if (!total) {
    total = addend;
    return;
  }
  total->value = sum(total->value, addend.value, where);
  if (total->mask && addend.mask) {
    const Operand operands[] = {*total->mask, *addend.mask};
    total->mask = call(op_or_, operands, {}, where)[0];
  } else {
    total->mask.reset();
  }
}

// Where the elements of a tensor, or its gradient, belong.
const Carrier& carrier_of(const Tensor& t) {
  const CarrierStorage* storage = carrier_storage(t);
  return storage ? storage->carrier_object() : cpu_carrier();
}

// Where the pass begins: the tensor's link, and its cotangent.
struct Start {
  std::shared_ptr<GradientLink> link;
  Tensor cotangent;
};

Start start_of(const Tensor& tensor, const BackwardOptions& options, Location where) {
  auto fail = [&](const std::string& message, const std::string& found, const std::string& needed) {
    throw ValueError({.message = message, .found = found, .needed = needed, .where = where});
  };
  if (traced(tensor) != nullptr) {
    fail("a traced tensor has no gradients of its own", to_text(tensor.type()),
         "the derivative of the program: hd::grad(hd::trace(...), \"x\") or hd::vjp");
  }
  if (tensor.empty() || tensor.gradient_link() == nullptr) {
    fail("no gradient flows into this tensor",
         tensor.empty() ? "an empty tensor" : to_text(tensor.type()),
         "a result of calls on tensors with hd::require_gradient");
  }
  if (!options.cotangent) {
    if (element_count(tensor.type()) != 1) {
      fail("a tensor of several elements needs a cotangent", to_text(tensor.type()),
           "one element, or BackwardOptions::cotangent");
    }
    return {tensor.gradient_link(), filled(tensor.type(), 1, carrier_of(tensor))};
  }
  if (options.cotangent->empty() || options.cotangent->storage()->released()) {
    throw ReleasedError({.message = "the cotangent is empty or was released",
                         .needed = to_text(tensor.type()),
                         .where = where});
  }
  if (options.cotangent->type() != tensor.type()) {
    fail("the cotangent has another type", to_text(options.cotangent->type()),
         to_text(tensor.type()));
  }
  const Carrier& carrier = carrier_of(tensor);
  if (const CarrierStorage* given = carrier_storage(*options.cotangent);
      given != nullptr && &given->carrier_object() != &carrier) {
    fail("the cotangent is on another carrier", given->carrier_object().name,
         carrier.name + ": hd::on(it, \"" + carrier.name + "\")");
  }
  return {tensor.gradient_link(), on_carrier(*options.cotangent, carrier)};
}

// Calls wait with the cotangents of their results, latest call first: whoever adds to a call's
// cotangents comes later than the call.
class Pass {
 public:
  Pass(bool retain, Location where) : retain_(retain), where_(where) {}

  void add(const std::shared_ptr<GradientLink>& link, const Cotangent& cotangent) {
    if (link->call == nullptr) {
      accumulate(leaves_[link.get()], cotangent.value, where_);
      kept_[link.get()] = link;
      return;
    }
    if (watched_.count(link.get()) != 0) accumulate(leaves_[link.get()], cotangent.value, where_);
    Waiting& waiting = waiting_[link->call->number];
    waiting.call = link->call;
    waiting.cotangents.resize(link->call->results.size());
    accumulate(waiting.cotangents[link->result], cotangent, where_);
  }
  /// Also gathers what flows into results of calls.
  void watch(const GradientLink* link) { watched_.insert(link); }

  void run() {
    while (!waiting_.empty()) {
      const auto latest = std::prev(waiting_.end());
      const Waiting waiting = std::move(latest->second);
      waiting_.erase(latest);
      const RecordedCall& call = *waiting.call;
      with_context({.operation = call.operation,
                    .carrier = call.record->carrier().name,
                    .where = call.where},
                   [&] { visit(waiting.call, waiting.cotangents); });
    }
    if (retain_) return;
    for (const std::shared_ptr<RecordedCall>& call : visited_) {
      call->freed = true;
      call->saved.clear();
      call->outputs.clear();
    }
  }

  MaybeTensor at(const GradientLink* link) const {
    const auto found = leaves_.find(link);
    return found == leaves_.end() ? std::nullopt : found->second;
  }
  void leave_gradients() const {
    for (const auto& [raw, link] : kept_) {
      const std::lock_guard lock(link->mutex);
      accumulate(link->gradient, *leaves_.at(raw), where_);
    }
  }

 private:
  struct Waiting {
    std::shared_ptr<RecordedCall> call;
    std::vector<MaybeCotangent> cotangents;
  };

  void check(const RecordedCall& call) const {
    if (call.freed) {
      throw GraphFreedError({.message = "what this call saved is gone: the first pass freed it; "
                                        "give that one retain_graph = true",
                             .operation = call.operation,
                             .where = call.where});
    }
    for (const SavedTensor& s : call.saved) {
      if (s.tensor.storage()->version() == s.version) continue;
      throw SavedVersionError(
          {.message = "a tensor that the gradient needs was modified in-place after the call",
           .operation = call.operation,
           .field = absl::StrCat("operands[", s.operand, "]"),
           .found = absl::StrCat("version ", s.tensor.storage()->version()),
           .needed = absl::StrCat("version ", s.version),
           .where = call.where});
    }
    for (const SavedTensor& s : call.saved) {
      if (!s.tensor.storage()->released()) continue;
      throw ReleasedError({.message = "a tensor that the gradient needs was released",
                           .operation = call.operation,
                           .field = absl::StrCat("operands[", s.operand, "]"),
                           .where = call.where});
    }
  }

  void visit(const std::shared_ptr<RecordedCall>& call, const std::vector<MaybeCotangent>& given) {
    check(*call);
    const Carrier& carrier = call->record->carrier();
    if (has_callback(*call)) {
      MaybeTensors values;
      for (const MaybeCotangent& c : given)
        values.push_back(c ? MaybeTensor(c->value) : std::nullopt);
      const MaybeTensors found = run_callback(*call, values);
      visited_.push_back(call);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i]) add(call->into[i], {on_carrier(*found[i], carrier), std::nullopt});
      }
      return;
    }
    const bool by_calls = carrier.composite != nullptr || carrier.storage != nullptr;
    const std::vector<Cotangent> found =
        by_calls ? run_composed(*call, given) : run_reverse(*call, given);
    visited_.push_back(call);
    for (std::size_t i = 0; i < found.size(); ++i) add(call->into[i], found[i]);
  }

  // What the reverse of a call reads: saved operands, masks, then cotangents.
  static std::vector<Tensor> arguments(const RecordedCall& call, const Reverse& reverse,
                                       const std::vector<MaybeCotangent>& given) {
    const Carrier& carrier = call.record->carrier();
    std::vector<Tensor> all;
    for (std::size_t i : reverse.operands) {
      const auto saved = std::find_if(call.saved.begin(), call.saved.end(),
                                      [&](const SavedTensor& s) { return s.operand == i; });
      internal_check(saved != call.saved.end(), "a gradient reads an operand that was not saved");
      all.push_back(saved->tensor);
    }
    for (std::size_t r : reverse.masks) all.push_back(*given[r]->mask);
    for (std::size_t r : reverse.cotangents) {
      all.push_back(given[r] ? on_carrier(given[r]->value, carrier)
                             : filled(call.results[r], 0, carrier));
    }
    return all;
  }

  std::vector<Cotangent> run_composed(const RecordedCall& call,
                                      const std::vector<MaybeCotangent>& given) const {
    Reverse& reverse = call.record->reverse(call.wrt);
    std::vector<Cotangent> found;
    for (const Tensor& t : call.record->program(reverse)(arguments(call, reverse, given), where_)) {
      found.push_back({t, std::nullopt});
    }
    return found;
  }

  static std::vector<Cotangent> run_reverse(const RecordedCall& call,
                                            const std::vector<MaybeCotangent>& given) {
    Reverse& reverse = call.record->reverse(call.wrt, masks_of(call, given));
    const std::vector<Tensor> alive = arguments(call, reverse, given);
    std::vector<const std::byte*> inputs;
    for (const Tensor& t : alive) inputs.push_back(t.storage()->host());
    std::vector<Tensor> results;
    std::vector<std::byte*> outputs;
    for (const Output& out : reverse.function.outputs) {
      results.push_back(new_tensor(reverse.function.type(out.value), call.record->carrier()));
      outputs.push_back(host_storage(results.back())->data());
    }
    call.record->runnable(reverse).run(inputs, outputs);
    std::vector<Cotangent> found;
    for (std::size_t i = 0; i < call.wrt.size(); ++i) found.push_back({results[i], std::nullopt});
    for (std::size_t m = 0; m < reverse.masked.size(); ++m) {
      found[reverse.masked[m]].mask = results[call.wrt.size() + m];
    }
    return found;
  }

  // The results whose cotangents come with a mask, where that matters.
  static std::vector<std::size_t> masks_of(const RecordedCall& call,
                                           const std::vector<MaybeCotangent>& given) {
    std::vector<std::size_t> masks;
    for (std::size_t r = 0; r < given.size(); ++r) {
      if (given[r] && given[r]->mask) masks.push_back(r);
    }
    if (!masks.empty() && !call.record->carries_masks()) masks.clear();
    return masks;
  }

  bool retain_;
  Location where_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::map<const GradientLink*, MaybeTensor> leaves_;
  std::map<const GradientLink*, std::shared_ptr<GradientLink>> kept_;
  std::set<const GradientLink*> watched_;
  std::vector<std::shared_ptr<RecordedCall>> visited_;
};

}  // namespace

bool gradients_enabled() { return enabled; }
GradientMode::GradientMode(bool on) : before_(enabled) { enabled = on; }
GradientMode::~GradientMode() { enabled = before_; }

Tensor& require_gradient(Tensor& tensor, std::source_location where) {
  if (tensor.empty() || traced(tensor) != nullptr) {
    throw ValueError({.message = "require_gradient: only a concrete tensor can be marked",
                      .found = tensor.empty() ? "an empty tensor" : "a traced tensor",
                      .needed = "a concrete one; of a program: hd::grad(program, \"x\")",
                      .where = where});
  }
  if (tensor.storage()->released()) {
    throw ReleasedError({.message = "require_gradient: this tensor was released",
                         .found = to_text(tensor.type()),
                         .where = where});
  }
  if (!is_floating(tensor.type().dtype)) {
    throw TypeError({.message = "require_gradient: gradients are of floating tensors",
                     .found = to_text(tensor.type()),
                     .needed = "a floating dtype",
                     .where = where});
  }
  const std::shared_ptr<GradientLink>& link = tensor.gradient_link();
  if (link != nullptr && link->call != nullptr) {
    throw ValueError({.message = "require_gradient: a recorded call made this tensor",
                      .found = "a result of " + link->call->operation,
                      .needed = "a tensor without a past, such as hd::detach(it)",
                      .where = where});
  }
  if (link == nullptr) tensor.set_gradient_link(std::make_shared<GradientLink>());
  return tensor;
}

bool requires_gradient(const Tensor& tensor) { return tensor.gradient_link() != nullptr; }

std::optional<Tensor> gradient(const Tensor& tensor) {
  const std::shared_ptr<GradientLink>& link = tensor.gradient_link();
  if (link == nullptr) return std::nullopt;
  const std::lock_guard lock(link->mutex);
  return link->gradient;
}

void clear_gradient(const Tensor& tensor) {
  const std::shared_ptr<GradientLink>& link = tensor.gradient_link();
  if (link == nullptr) return;
  const std::lock_guard lock(link->mutex);
  link->gradient.reset();
}

Tensor detach(const Tensor& tensor) { return {tensor.type(), tensor.storage()}; }

namespace {

void check_inputs(std::span<const Tensor> inputs, Location where) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].empty()) continue;
    throw ValueError({.message = "there is no gradient for an empty tensor",
                      .field = absl::StrCat("inputs[", i, "]"),
                      .found = "an empty tensor",
                      .needed = "a concrete one",
                      .where = where});
  }
}

std::vector<MaybeTensor> pass_back(const Tensor& tensor, std::span<const Tensor> inputs,
                                   bool leaves, const BackwardOptions& options, Location where) {
  const GradientMode off(false);
  check_inputs(inputs, where);
  const Start start = start_of(tensor, options, where);
  Pass pass(options.retain_graph, where);
  for (const Tensor& in : inputs) {
    if (in.gradient_link() != nullptr) pass.watch(in.gradient_link().get());
  }
  pass.add(start.link, {detach(start.cotangent), std::nullopt});
  pass.run();
  if (leaves) pass.leave_gradients();
  std::vector<MaybeTensor> result;
  for (const Tensor& in : inputs) {
    result.push_back(in.gradient_link() ? pass.at(in.gradient_link().get()) : std::nullopt);
  }
  return result;
}

}  // namespace

void backward(const Tensor& tensor, const BackwardOptions& options, std::source_location where) {
  with_context({.operation = "backward", .where = where},
               [&] { pass_back(tensor, {}, true, options, where); });
}

std::vector<std::optional<Tensor>> gradients(const Tensor& tensor, std::span<const Tensor> inputs,
                                             const BackwardOptions& options,
                                             std::source_location where) {
  return with_context({.operation = "gradients", .where = where},
                      [&] { return pass_back(tensor, inputs, false, options, where); });
}

}  // namespace heddle
