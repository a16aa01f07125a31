// Which kernel runs a call: bucket, plan, availability, refusal, precedence. One selector for the
// operations' own kernels, where a choice must be unique, and for packs, where candidates are tried
// in an order.
#ifndef HEDDLE_BACKENDS_SELECT_H_
#define HEDDLE_BACKENDS_SELECT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "heddle/backends/built_kernels.h"
#include "heddle/graph/bounded_cache.h"
#include "heddle/graph/call.h"

namespace heddle {

/// The facts of a call that may decide. Compared in full.
struct KernelRequest {
  const Operation* operation = nullptr;
  std::string interface;  ///< a position that an operation has several kernels for; mostly ""
  DtypePlan plan;
  std::vector<Type> operands;  ///< of the tensors, in order
  Attributes options;          ///< and the operands that are no tensors, by name
  bool operator==(const KernelRequest&) const = default;
};
KernelRequest request_of(const Invocation& invocation);
/// Whether a result, or an operand that changes, has elements; else no kernel runs (step 20).
bool writes_elements(const Invocation& invocation);

/// Where it would run. A table serves one device: these are read at a request's first appearance
/// only.
struct DeviceFacts {
  std::string type = "cpu", arch;
};

/// One candidate. What it is preferred over has no numbers and no order: it is a relation, and
/// transitive.
struct KernelEntry {
  std::string id;                        ///< unique in its table
  const Operation* operation = nullptr;  ///< null: every one for which `serves`
  bool (*serves)(const Operation&) = nullptr;
  std::string interface;
  std::vector<DtypePlan> plans;             ///< equal in every field; empty: any
  std::vector<std::string> devices{"cpu"};  ///< types of device
  std::vector<std::string> archs;           ///< empty: any
  /// Why it does not serve a request, or "".
  std::function<std::string(const KernelRequest&)> refusal{};
  bool general = false;                     ///< below all that are not
  std::vector<std::string> preferred_over;  ///< ids of its bucket
  /// What a call needs built: calls of one identity share it. Only kernel_for() asks.
  std::function<KernelBuild(const KernelRequest&)> entry_for{};
  int preference = 0;  ///< among equals of policy `ranked`
  std::string pack;    ///< its namespace; "": built in
  int pack_version = 0;
};

/// strict: the one entry that no other is preferred over. ranked: all that apply; layer by layer of
/// those that none left is preferred over, in a layer by descending preference, built-in ones
/// first, then by pack, its version, and the order of registration.
enum class TiePolicy : std::uint8_t { strict, ranked };

class KernelTable {
 public:
  /// ValueError when the id is taken; TypeError once sealed.
  void add(KernelEntry entry);
  /// No more entries from here on. ValueError: entries that are preferred over themselves, over one
  /// of another bucket, or in a cycle; a general one that is preferred; two general ones.
  void seal();
  bool sealed() const { return sealed_.load(std::memory_order_acquire); }
  bool holds(const std::string& id);

  /// UnsupportedOperationPlan: no entry for the operation, or none for the plan (step 21).
  /// NotAvailableError: none for the type of device (22). UnsupportedOperationPlan, or for an
  /// interface ValueError, with all reasons: none applies (23). AmbiguousDispatchError: strict, and
  /// several are left (24). Any number of threads, once sealed.
  std::vector<const KernelEntry*> select(const KernelRequest& request, const DeviceFacts& device,
                                         TiePolicy policy);
  /// What the one kernel of `strict` has built for the call. Each distinct request is asked about
  /// once; two requests of one identity get the same. Errors as select; TypeError: the kernel
  /// builds nothing. What a build throws passes, and nothing is kept. A build must not ask this
  /// table.
  std::shared_ptr<const void> kernel_for(const KernelRequest& request, const DeviceFacts& device);
  /// There is an entry for the operation.
  bool serves(const Operation& operation, const std::string& interface = "");
  CacheStatistics statistics();
  CacheStatistics built_statistics() { return built_.statistics(); }

 private:
  struct Answer {
    KernelRequest request;
    TiePolicy policy;
    std::vector<const KernelEntry*> order;
    mutable std::shared_ptr<const void> built;  // by kernel_for, under the lock
  };
  using Candidates = std::vector<const KernelEntry*>;

  void check_entry(const KernelEntry& entry) const;
  const Answer* known(const KernelRequest& request, TiePolicy policy);
  Candidates bucket(const Operation* operation, const std::string& interface) const;
  Candidates applicable(const KernelRequest& request, const DeviceFacts& device) const;
  bool prefers(const KernelEntry& one, const KernelEntry& other) const;
  Candidates undominated(const Candidates& candidates) const;
  Candidates ranked(Candidates candidates) const;
  const KernelEntry* find(const std::string& id) const;

  std::vector<std::unique_ptr<const KernelEntry>> entries_;  // in order of registration
  std::atomic<bool> sealed_ = false;
  std::mutex mutex_;
  BoundedCache<Answer> answers_{1024, std::size_t{4} << 20};
  BuiltKernels built_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_SELECT_H_
