#include "heddle/backends/select.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "heddle/graph/operation.h"

namespace heddle {
namespace {

using Candidates = std::vector<const KernelEntry*>;

template <class E>
[[noreturn]] void fail(const KernelRequest& request, int step, std::string message,
                       std::string found = "") {
  throw E(ErrorDetail{.message = std::move(message),
                      .step = step,
                      .operation = request.operation ? std::string(request.operation->name) : "",
                      .field = request.interface.empty() ? "" : "interface " + request.interface,
                      .found = std::move(found)});
}

[[noreturn]] void fail_entry(const KernelEntry& entry, const std::string& rule,
                             const std::string& other = "") {
  throw ValueError({.message = "kernel '" + entry.id + "' " + rule,
                    .found = other.empty() ? "" : "'" + other + "'"});
}

bool among(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string ids_of(const Candidates& candidates) {
  std::string ids;
  for (const KernelEntry* e : candidates) ids += (ids.empty() ? "" : ", ") + e->id;
  return ids;
}

std::size_t hash_of(const KernelRequest& request, TiePolicy policy) {
  std::size_t hash =
      std::hash<const void*>()(request.operation) * 2 + (policy == TiePolicy::strict);
  auto add = [&](std::size_t x) { hash = (hash ^ x) * 0x9e3779b97f4a7c15u + (hash >> 29); };
  add(std::hash<std::string>()(request.interface));
  add(static_cast<std::size_t>(request.plan.output));
  for (const Type& t : request.operands) {
    add(static_cast<std::size_t>(t.dtype));
    for (const Dim& d : t.dims) add(static_cast<std::size_t>(d.offset()));
  }
  return hash;
}

std::size_t bytes_of(const KernelRequest& request, std::size_t candidates) {
  return 512 + 64 * request.options.entries().size() + 128 * request.operands.size() +
         8 * candidates;
}

// "": it does.
std::string why_not(const KernelEntry& entry, const KernelRequest& request,
                    const DeviceFacts& device) {
  if (!among(entry.devices, device.type)) return "does not run on " + device.type;
  if (!entry.archs.empty() && !among(entry.archs, device.arch)) {
    return "does not run on " + (device.arch.empty() ? "this machine" : device.arch);
  }
  return entry.refusal ? entry.refusal(request) : "";
}

}  // namespace

bool writes_elements(const Invocation& invocation) {
  for (const ResultSpec& r : invocation.results) {
    if (element_count(r.type) != 0) return true;
  }
  for (int i : invocation.mutated) {
    if (element_count(invocation.call.tensor(static_cast<std::size_t>(i)).type()) != 0) return true;
  }
  return false;
}

KernelRequest request_of(const Invocation& invocation) {
  const BoundOperationCall& call = invocation.call;
  std::vector<Attributes::Entry> options = call.options.entries();
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (std::holds_alternative<Tensor>(call.operands[i])) continue;
    options.push_back({std::string(call.schema->operands[i].name), to_attribute(call.operands[i])});
  }
  return {.operation = call.op,
          .interface = "",
          .plan = invocation.plan,
          .operands = call.tensor_types(),
          .options = Attributes(std::move(options))};
}

const KernelEntry* KernelTable::find(const std::string& id) const {
  for (const auto& e : entries_) {
    if (e->id == id) return e.get();
  }
  return nullptr;
}
bool KernelTable::holds(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return find(id) != nullptr;
}

void KernelTable::add(KernelEntry entry) {
  const std::lock_guard lock(mutex_);
  if (sealed()) {
    throw TypeError({.message = "kernel '" + entry.id + "' comes too late: the table is in use"});
  }
  if (entry.id.empty() || find(entry.id) != nullptr) {
    fail_entry(entry, entry.id.empty() ? "has no name" : "is there already");
  }
  entries_.push_back(std::make_unique<const KernelEntry>(std::move(entry)));
}

Candidates KernelTable::bucket(const Operation* operation, const std::string& interface) const {
  Candidates found;
  for (const auto& e : entries_) {
    if (e->interface != interface) continue;
    const bool any =
        e->operation == nullptr && (operation == nullptr || !e->serves || e->serves(*operation));
    if (any || (e->operation != nullptr && e->operation == operation)) found.push_back(e.get());
  }
  return found;
}

// `one` is preferred over `other`, through any number of others.
bool KernelTable::prefers(const KernelEntry& one, const KernelEntry& other) const {
  std::set<std::string> seen;
  Candidates open{&one};
  while (!open.empty()) {
    const KernelEntry* e = open.back();
    open.pop_back();
    for (const std::string& id : e->preferred_over) {
      if (id == other.id) return true;
      if (seen.insert(id).second) open.push_back(find(id));
    }
  }
  return false;
}

void KernelTable::check_entry(const KernelEntry& entry) const {
  const Candidates neighbours = bucket(entry.operation, entry.interface);
  if (entry.general && !entry.preferred_over.empty()) {
    fail_entry(entry, "is general and preferred over another", entry.preferred_over[0]);
  }
  for (const std::string& id : entry.preferred_over) {
    if (id == entry.id) fail_entry(entry, "is preferred over itself");
    const bool near = std::any_of(neighbours.begin(), neighbours.end(),
                                  [&](const KernelEntry* e) { return e->id == id; });
    if (!near) fail_entry(entry, "is preferred over one that serves something else", id);
  }
  for (const KernelEntry* e : neighbours) {
    if (e != &entry && e->general && entry.general) {
      fail_entry(entry, "is general, and there is another general one", e->id);
    }
  }
}

void KernelTable::seal() {
  if (sealed()) return;
  const std::lock_guard lock(mutex_);
  for (const auto& e : entries_) check_entry(*e);
  for (const auto& e : entries_) {
    if (prefers(*e, *e)) fail_entry(*e, "is preferred over itself by way of others");
  }
  sealed_ = true;
}

Candidates KernelTable::applicable(const KernelRequest& request, const DeviceFacts& device) const {
  const Candidates all = bucket(request.operation, request.interface);
  if (all.empty() && !request.interface.empty()) {
    fail<NotAvailableError>(request, 22, "no kernel has this interface");
  }
  if (all.empty()) fail<UnsupportedOperationPlan>(request, 21, "no kernel for this operation");
  Candidates planned, runnable, fitting;
  for (const KernelEntry* e : all) {
    const auto& plans = e->plans;
    if (plans.empty() || std::find(plans.begin(), plans.end(), request.plan) != plans.end()) {
      planned.push_back(e);
    }
  }
  if (planned.empty()) {
    fail<UnsupportedOperationPlan>(
        request, 21, "kernels for this operation, but none for these dtypes", ids_of(all));
  }
  std::string reasons;
  for (const KernelEntry* e : planned) {
    if (among(e->devices, device.type)) runnable.push_back(e);
    const std::string reason = why_not(*e, request, device);
    if (reason.empty()) fitting.push_back(e);
    if (!reason.empty()) reasons += (reasons.empty() ? "" : "; ") + e->id + ": " + reason;
  }
  if (runnable.empty()) {
    fail<NotAvailableError>(request, 22, "its kernels do not run on " + device.type, ids_of(all));
  }
  if (fitting.empty() && !request.interface.empty()) {
    fail<ValueError>(request, 23, "no kernel serves this call: " + reasons);
  }
  if (fitting.empty()) {
    fail<UnsupportedOperationPlan>(request, 23, "no kernel serves this call: " + reasons);
  }
  return fitting;
}

Candidates KernelTable::undominated(const Candidates& candidates) const {
  const bool special = std::any_of(candidates.begin(), candidates.end(),
                                   [](const KernelEntry* e) { return !e->general; });
  Candidates left;
  for (const KernelEntry* e : candidates) {
    bool below = e->general && special;
    for (const KernelEntry* other : candidates) below |= other != e && prefers(*other, *e);
    if (!below) left.push_back(e);
  }
  return left;
}

Candidates KernelTable::ranked(Candidates candidates) const {
  const auto rank = [](const KernelEntry* e) {
    return std::tuple(-static_cast<std::int64_t>(e->preference), !e->pack.empty(), e->pack,
                      e->pack_version);
  };
  Candidates order;
  while (!candidates.empty()) {
    Candidates layer = undominated(candidates);
    std::stable_sort(layer.begin(), layer.end(),
                     [&](const KernelEntry* a, const KernelEntry* b) { return rank(a) < rank(b); });
    for (const KernelEntry* e : layer) std::erase(candidates, e);
    order.insert(order.end(), layer.begin(), layer.end());
  }
  return order;
}

const KernelTable::Answer* KernelTable::known(const KernelRequest& request, TiePolicy policy) {
  return answers_.find(hash_of(request, policy),
                       [&](const Answer& a) { return a.policy == policy && a.request == request; });
}

Candidates KernelTable::select(const KernelRequest& request, const DeviceFacts& device,
                               TiePolicy policy) {
  const std::lock_guard lock(mutex_);
  internal_check(sealed(), "a selection among kernels that are not sealed");
  if (const Answer* answer = known(request, policy)) return answer->order;
  Candidates found = applicable(request, device);
  if (policy == TiePolicy::ranked) {
    found = ranked(std::move(found));
  } else {
    found = undominated(found);
    if (found.size() > 1) {
      fail<AmbiguousDispatchError>(request, 24,
                                   "several kernels serve this call and none of them "
                                   "is preferred",
                                   ids_of(found));
    }
  }
  answers_.insert(hash_of(request, policy), {request, policy, found, nullptr},
                  bytes_of(request, found.size()));
  return found;
}

std::shared_ptr<const void> KernelTable::kernel_for(const KernelRequest& request,
                                                    const DeviceFacts& device) {
  const KernelEntry& entry = *select(request, device, TiePolicy::strict)[0];
  {
    const std::lock_guard lock(mutex_);
    const Answer* answer = known(request, TiePolicy::strict);
    if (answer != nullptr && answer->built != nullptr) return answer->built;
  }
  if (!entry.entry_for) {
    fail<TypeError>(request, 26, "kernel '" + entry.id + "' says nothing of what it builds");
  }
  std::shared_ptr<const void> built = built_.get(entry.id, entry.entry_for(request));
  const std::lock_guard lock(mutex_);
  if (const Answer* answer = known(request, TiePolicy::strict)) answer->built = built;
  return built;
}

bool KernelTable::serves(const Operation& operation, const std::string& interface) {
  const std::lock_guard lock(mutex_);
  return !bucket(&operation, interface).empty();
}

CacheStatistics KernelTable::statistics() {
  const std::lock_guard lock(mutex_);
  return answers_.statistics();
}

}  // namespace heddle
