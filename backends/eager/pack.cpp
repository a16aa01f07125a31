#include "heddle/backends/eager/pack.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "heddle/backends/artifact/object_file.h"
#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/backends/file.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

[[noreturn]] void refuse(const std::string& what, std::string message, std::string found = "",
                         std::string needed = "") {
  throw ValueError({.message = what + ": " + std::move(message),
                    .found = std::move(found),
                    .needed = std::move(needed)});
}
[[noreturn]] void refuse_kind(const std::string& what, std::string message, std::string found = "",
                              std::string needed = "") {
  throw TypeError({.message = what + ": " + std::move(message),
                   .found = std::move(found),
                   .needed = std::move(needed)});
}

void check_pattern(const KernelPattern& p) {
  const std::string what = "kernel '" + p.kernel_id + "'";
  if (!p.prepare) refuse_kind(what, "it cannot be prepared");
  if (p.kernel_id.empty()) refuse(what, "a kernel has an id");
  for (std::size_t i = 0; i < p.plans.size(); ++i) {
    if (p.plans[i].operation != p.operation->name) {
      refuse(what, "a plan of another operation", "'" + p.plans[i].operation + "'",
             "'" + std::string(p.operation->name) + "'");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (p.plans[i] == p.plans[j]) refuse(what, "a plan stands twice");
    }
  }
}

void check_defines(const std::string& what, const ObjectKernel& object,
                   const std::vector<std::byte>& bytes) {
  std::vector<std::string> symbols;
  try {
    symbols = ObjectFile(object.object, bytes).defined();
  } catch (const CompileError&) {
    refuse(what, "this is no object file", "'" + object.object + "'");
  }
  if (std::find(symbols.begin(), symbols.end(), object.symbol) != symbols.end()) return;
  refuse(what, "its object file has no global function of this name", "'" + object.symbol + "'",
         absl::StrJoin(symbols, " or "));
}

External read_object(const std::string& what, const ObjectKernel& object) {
  if (!internal::is_identifier(object.symbol)) {
    refuse(what, "a symbol is a C identifier", "'" + object.symbol + "'");
  }
  auto bytes = try_read_file(object.object);
  if (!bytes) refuse(what, "its object file cannot be read", "'" + object.object + "'");
  check_defines(what, object, *bytes);
  const std::string digest = hex(sha256(*bytes));
  return {object.symbol, digest, std::make_shared<const std::vector<std::byte>>(std::move(*bytes))};
}
std::optional<External> read_object(const std::string& id,
                                    const std::optional<ObjectKernel>& object, Location where) {
  if (!object) return std::nullopt;
  return with_context({.where = where},
                      [&] { return read_object("kernel '" + id + "'", *object); });
}

std::string text_of(const KernelInterface& interface) {
  return absl::StrCat(interface.type, " ", interface.version);
}

bool compiles(const Operation& op) { return op.extension == nullptr || op.strict.decompose; }
bool interprets(const Operation& op) { return compiles(op) || op.extension->reference; }

KernelEntry built_in_entry(std::string_view carrier, BuiltInKernels built_in) {
  const bool compiled = built_in == BuiltInKernels::compiled;
  return {.id = std::string(carrier) + (compiled ? ".compiled" : ".interpreted"),
          .serves = compiled ? compiles : interprets};
}

}  // namespace

KernelPattern::KernelPattern(const Operation& matched, std::vector<DtypePlan> matched_plans,
                             std::string id, PrepareFunction preparing, int preferred,
                             const std::optional<ObjectKernel>& as_object, Location where)
    : operation(&matched),
      plans(std::move(matched_plans)),
      kernel_id(std::move(id)),
      prepare(std::move(preparing)),
      preference(preferred),
      compiled(read_object(kernel_id, as_object, where)) {
  with_context({.where = where}, [&] {
    if (plans.empty()) refuse("kernel '" + kernel_id + "'", "it has no plan");
    check_pattern(*this);
  });
}
KernelPattern::KernelPattern(const Operation& matched, AnyPlan, std::string id,
                             PrepareFunction preparing, int preferred,
                             const std::optional<ObjectKernel>& as_object, Location where)
    : operation(&matched),
      kernel_id(std::move(id)),
      prepare(std::move(preparing)),
      preference(preferred),
      compiled(read_object(kernel_id, as_object, where)) {
  with_context({.where = where}, [&] { check_pattern(*this); });
}

KernelProvider::KernelProvider(KernelInterface spoken, std::vector<KernelPattern> own,
                               Location where)
    : interface(std::move(spoken)), patterns(std::move(own)) {
  std::set<std::string> ids;
  for (const KernelPattern& p : patterns) {
    if (ids.insert(p.kernel_id).second) continue;
    with_context({.where = where},
                 [&] { refuse("a provider", "two kernels of one id", p.kernel_id); });
  }
}

CarrierKernels::CarrierKernels(std::string_view carrier, BuiltInKernels built_in,
                               const KernelProvider& provider)
    : interface_(provider.interface) {
  for (const KernelPattern& p : provider.patterns) add_pattern(p, "", 0);
  if (built_in != BuiltInKernels::none) table_.add(built_in_entry(carrier, built_in));
}

void CarrierKernels::add_pattern(const KernelPattern& p, const std::string& pack, int version) {
  table_.add({.id = p.kernel_id,
              .operation = p.operation,
              .plans = p.plans,
              .preference = p.preference,
              .pack = pack,
              .pack_version = version});
  by_id_[p.kernel_id] = &patterns_.emplace_back(p);
}

void CarrierKernels::add(const KernelPack& pack) {
  const std::string what = absl::StrCat("kernel pack '", pack.name, "' ", pack.version);
  const std::lock_guard lock(mutex_);
  if (pack.interface != interface_) {
    refuse_kind(what, "the carrier has another interface", text_of(pack.interface),
                text_of(interface_));
  }
  if (table_.sealed()) refuse_kind(what, "it comes too late: the carrier is in use");
  if (pack.name.empty()) refuse(what, "a pack has a name");
  if (pack.patterns.empty()) refuse(what, "a pack has kernels");
  if (packs_.count({pack.name, pack.version}) != 0) refuse(what, "it is registered already");
  std::set<std::string> ids;
  for (const KernelPattern& p : pack.patterns) {
    if (ids.insert(p.kernel_id).second && !table_.holds(p.kernel_id)) continue;
    refuse(what, "the carrier has a kernel of this id", "'" + p.kernel_id + "'");
  }
  packs_.insert({pack.name, pack.version});
  for (const KernelPattern& p : pack.patterns) add_pattern(p, pack.name, pack.version);
}

void CarrierKernels::seal() {
  if (table_.sealed()) return;
  const std::lock_guard lock(mutex_);
  table_.seal();
}

std::vector<const KernelEntry*> CarrierKernels::select(const Invocation& invocation) {
  seal();
  return table_.select(request_of(invocation), {}, TiePolicy::ranked);
}

const KernelPattern* CarrierKernels::pattern(const KernelEntry& entry) const {
  const auto found = by_id_.find(entry.id);
  return found == by_id_.end() ? nullptr : found->second;
}

bool CarrierKernels::has_objects(const Operation& op) {
  const std::lock_guard lock(mutex_);
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const KernelPattern& p) { return p.operation == &op && p.compiled; });
}

std::vector<DtypePlan> CarrierKernels::plans(const Operation& op) {
  seal();
  std::vector<DtypePlan> all;
  for (const KernelPattern& p : patterns_) {
    for (const DtypePlan& plan : p.plans) {
      const bool known = std::find(all.begin(), all.end(), plan) != all.end();
      if (p.operation == &op && !known) all.push_back(plan);
    }
  }
  return all;
}

void register_kernel_pack(const KernelPack& pack, Location where) {
  with_context({.where = where}, [&] {
    if (pack.carrier.composite != nullptr) {
      refuse_kind(absl::StrCat("kernel pack '", pack.name, "' ", pack.version),
                  "the carrier computes by other carriers and has no kernels", pack.carrier.name,
                  "a carrier with kernels");
    }
    pack.carrier.kernels->add(pack);
  });
}

std::vector<DtypePlan> capabilities(const Carrier& carrier, const Operation& op) {
  return carrier.kernels->plans(op);
}

}  // namespace heddle
