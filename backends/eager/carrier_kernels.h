// The kernels of one carrier: its own, and those of packs until it is first used.
#ifndef HEDDLE_BACKENDS_EAGER_CARRIER_KERNELS_H_
#define HEDDLE_BACKENDS_EAGER_CARRIER_KERNELS_H_

#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "heddle/backends/eager/pack.h"

namespace heddle {

/// define_carrier for the names that Heddle has itself, which nobody else may take.
const Carrier& add_carrier(CarrierDefinition definition);

class CarrierKernels {
 public:
  CarrierKernels(std::string_view carrier, BuiltInKernels built_in, const KernelProvider& provider);

  /// Errors as register_kernel_pack.
  void add(const KernelPack& pack);
  /// A fast no-op but the first time.
  void seal();
  const KernelInterface& interface() const { return interface_; }
  /// Candidates in the order in which they are asked. Errors as KernelTable::select.
  std::vector<const KernelEntry*> select(const Invocation& invocation);
  /// Null: the carrier's built-in kernel.
  const KernelPattern* pattern(const KernelEntry& entry) const;
  std::vector<DtypePlan> plans(const Operation& op);
  /// Whether some pattern of the operation has an object for compiled programs.
  bool has_objects(const Operation& op);

 private:
  void add_pattern(const KernelPattern& pattern, const std::string& pack, int version);

  const KernelInterface interface_;
  std::mutex mutex_;
  KernelTable table_;
  std::deque<KernelPattern> patterns_;  // in order of registration
  std::map<std::string, const KernelPattern*> by_id_;
  std::set<std::pair<std::string, int>> packs_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_CARRIER_KERNELS_H_
