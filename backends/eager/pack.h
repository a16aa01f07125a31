// Kernels from outside for a carrier: packs, registered before the carrier is first used.
//
//   hd::register_kernel_pack({.name = "acme", .version = 1, .carrier = hd::cpu_carrier(),
//       .patterns = {{square.operation(), {hd::kAnyPlan}, "acme.square.c",
//       hd::host_kernel(run)}}});
#ifndef HEDDLE_BACKENDS_EAGER_PACK_H_
#define HEDDLE_BACKENDS_EAGER_PACK_H_

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/backends/eager/composite.h"
#include "heddle/backends/eager/storage_provider.h"
#include "heddle/backends/select.h"
#include "heddle/schedule/recipe.h"

namespace heddle {

/// In place of plans: the kernel looks at the plan itself.
struct AnyPlan {};
inline constexpr AnyPlan kAnyPlan{};

/// The same kernel as compiled programs call it (runtime/kernel.h): a C function in an object file,
/// which is linked into them and shipped in their libraries.
struct ObjectKernel {
  std::string symbol;
  std::string object;  ///< path of a relocatable object file for this machine
};

/// A kernel for the calls of one operation with one of some plans.
struct KernelPattern {
  /// ValueError: no plans, one that stands twice or is another operation's, an empty id; TypeError:
  /// an empty `prepare`. Higher preferences are asked first; the carrier's own kernels have 0.
  /// Without an object compiled programs do without it. ValueError: an object that cannot be read,
  /// or a symbol that is no C identifier.
  KernelPattern(const Operation& matched, std::vector<DtypePlan> matched_plans, std::string id,
                PrepareFunction preparing, int preferred = 0,
                const std::optional<ObjectKernel>& as_object = std::nullopt,
                Location where = std::source_location::current());
  KernelPattern(const Operation& matched, AnyPlan, std::string id, PrepareFunction preparing,
                int preferred = 0, const std::optional<ObjectKernel>& as_object = std::nullopt,
                Location where = std::source_location::current());
  template <class Plans, std::same_as<bool> Flag>
  KernelPattern(const Operation&, Plans, std::string, PrepareFunction, Flag) = delete;

  const Operation* const operation;
  const std::vector<DtypePlan> plans;  ///< empty: any
  const std::string kernel_id;
  const PrepareFunction prepare;
  const int preference;
  const std::optional<External> compiled;
};

/// A carrier's own kernels. ValueError when an id stands twice.
struct KernelProvider {
  KernelProvider(KernelInterface spoken, std::vector<KernelPattern> own,
                 Location where = std::source_location::current());
  const KernelInterface interface;
  const std::vector<KernelPattern> patterns;
};

struct KernelPack {
  std::string name;  ///< its namespace
  int version = 1;
  const Carrier& carrier;
  KernelInterface interface = host_interface();
  std::vector<KernelPattern> patterns{};
};
/// All of it or nothing. TypeError: a carrier that computes by others, another interface than the
/// carrier's, or a carrier in use.
/// ValueError: an empty name, no patterns, a (name, version) or a kernel id that the carrier has.
void register_kernel_pack(const KernelPack& pack, Location where = std::source_location::current());

/// A carrier of one's own. With neither kernels nor a composite it only stores.
struct CarrierDefinition {
  std::string_view name;
  BuiltInKernels built_in = BuiltInKernels::none;  ///< which of Heddle's kernels run on it
  std::optional<KernelProvider> kernels{};         ///< besides
  std::optional<CompositeProvider> composite{};    ///< instead: it computes by other carriers
  std::optional<StorageProvider> storage{};        ///< absent: its tensors are in host memory
};
/// TypeError: a composite beside kernels, Heddle's kernels or kernels of the host interface where
/// tensors are not in host memory, a provider with a missing function. ValueError: no name, or one
/// that is taken.
const Carrier& define_carrier(CarrierDefinition definition,
                              Location where = std::source_location::current());
/// In host memory, with kernels.
const Carrier& define_carrier(std::string_view name, BuiltInKernels built_in,
                              const KernelProvider& provider = {host_interface(), {}},
                              Location where = std::source_location::current());

/// The plans of an operation that a carrier's patterns name, in their order, each once. Seals the
/// carrier's kernels, as its first tensor does.
std::vector<DtypePlan> capabilities(const Carrier& carrier, const Operation& op);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_PACK_H_
