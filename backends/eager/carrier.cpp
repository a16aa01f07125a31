// The carriers of this process.
#include <deque>
#include <mutex>

#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

// Never destroyed: tensors with static lifetime may outlive it.
struct Carriers {
  std::mutex mutex;
  std::deque<Carrier> all;  // their addresses are their identities
};
Carriers& carriers() {
  static Carriers* const made = new Carriers;
  return *made;
}

const Carrier* find(std::string_view name) {
  for (const Carrier& c : carriers().all) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

}  // namespace

const Carrier& define_carrier(std::string_view name, BuiltInKernels built_in,
                              const KernelProvider& provider) {
  const std::lock_guard lock(carriers().mutex);
  if (name.empty() || find(name) != nullptr) {
    throw ValueError({.message = name.empty() ? "a carrier has a name" : "there is such a carrier",
                      .found = "'" + std::string(name) + "'"});
  }
  return carriers().all.emplace_back(std::string(name), built_in,
                                     new CarrierKernels(name, built_in, provider));
}

const Carrier& cpu_carrier() {
  static const Carrier& cpu = define_carrier("cpu", BuiltInKernels::compiled);
  return cpu;
}
const Carrier& reference_carrier() {
  static const Carrier& reference = define_carrier("reference", BuiltInKernels::interpreted);
  return reference;
}

const Carrier& find_carrier(std::string_view name) {
  cpu_carrier();
  reference_carrier();
  const std::lock_guard lock(carriers().mutex);
  if (const Carrier* found = find(name)) return *found;
  std::string names;
  for (const Carrier& c : carriers().all) names += (names.empty() ? "" : " or ") + c.name;
  throw NotAvailableError(
      {.message = "no such carrier", .found = "'" + std::string(name) + "'", .needed = names});
}

}  // namespace heddle
