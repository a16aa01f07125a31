// The carriers of this process.
#include "heddle/backends/on_device/carrier.h"

#include <deque>
#include <mutex>

#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/backends/tiled/carrier.h"
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

[[noreturn]] void refuse(const CarrierDefinition& d, std::string message, std::string field) {
  throw TypeError({.message = "carrier " + std::string(d.name) + ": " + std::move(message),
                   .field = std::move(field)});
}

void check(const CarrierDefinition& d) {
  if (d.composite && (d.kernels || d.built_in != BuiltInKernels::none)) {
    refuse(d, "it has kernels or computes by other carriers, not both", "composite");
  }
  if (d.composite && (!d.composite->result_carriers || !d.composite->prepare)) {
    refuse(d, "a composite names the results' carriers and prepares calls", "composite");
  }
  if (!d.storage) return;
  const StorageProvider& s = *d.storage;
  if (!s.supports_dtype || !s.physical_size || !s.allocate || !s.release || !s.read || !s.write) {
    refuse(d, "a storage provider has six functions", "storage");
  }
  if (d.built_in != BuiltInKernels::none ||
      (d.kernels && d.kernels->interface == host_interface())) {
    refuse(d, "these kernels read host memory, and its tensors are elsewhere", "kernels");
  }
}

// Kernels of packs for a carrier that says nothing of kernels.
KernelProvider no_kernels(const CarrierDefinition& d) {
  return {d.storage ? storage_interface() : host_interface(), {}};
}

// Their names are taken, used or not.
void define_own_carriers() {
  cpu_carrier();
  reference_carrier();
  tiled_carrier();
  opencl_carrier();
  metal_carrier();
}

template <class T>
const T* kept(std::optional<T>& part) {
  return part ? new T(std::move(*part)) : nullptr;
}

}  // namespace

const Carrier& define_carrier(CarrierDefinition d, Location where) {
  define_own_carriers();
  return with_context({.where = where},
                      [&]() -> const Carrier& { return add_carrier(std::move(d)); });
}
const Carrier& add_carrier(CarrierDefinition d) {
  check(d);
  const std::lock_guard lock(carriers().mutex);
  if (d.name.empty() || find(d.name) != nullptr) {
    throw ValueError(
        {.message = d.name.empty() ? "a carrier has a name" : "there is such a carrier",
         .found = "'" + std::string(d.name) + "'"});
  }
  const KernelProvider kernels = d.kernels ? *d.kernels : no_kernels(d);
  return carriers().all.emplace_back(std::string(d.name), d.built_in,
                                     new CarrierKernels(d.name, d.built_in, kernels),
                                     kept(d.composite), kept(d.storage));
}
const Carrier& define_carrier(std::string_view name, BuiltInKernels built_in,
                              const KernelProvider& provider, Location where) {
  return define_carrier({.name = name, .built_in = built_in, .kernels = provider}, where);
}

const Carrier& cpu_carrier() {
  static const Carrier& cpu = add_carrier({.name = "cpu", .built_in = BuiltInKernels::compiled});
  return cpu;
}
const Carrier& reference_carrier() {
  static const Carrier& reference =
      add_carrier({.name = "reference", .built_in = BuiltInKernels::interpreted});
  return reference;
}

const Carrier& find_carrier(std::string_view name, Location where) {
  define_own_carriers();
  const std::lock_guard lock(carriers().mutex);
  if (const Carrier* found = find(name)) return *found;
  std::string names;
  for (const Carrier& c : carriers().all) names += (names.empty() ? "" : " or ") + c.name;
  throw NotAvailableError({.message = "no such carrier",
                           .found = "'" + std::string(name) + "'",
                           .needed = names,
                           .where = where});
}

}  // namespace heddle
