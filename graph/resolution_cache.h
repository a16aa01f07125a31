// Calls that were resolved before: found by operation, operand types, weak scalars and options,
// without binding, planning or allocating anything again.
#ifndef HEDDLE_GRAPH_RESOLUTION_CACHE_H_
#define HEDDLE_GRAPH_RESOLUTION_CACHE_H_

#include <memory>
#include <mutex>

#include "heddle/graph/bounded_cache.h"
#include "heddle/graph/call.h"

namespace heddle {

/// One resolved call and what the executor made of it for one carrier.
struct ResolvedCall {
  Invocation invocation;  ///< its operands hold types, no storage
  Attributes given;       ///< the options as the caller wrote them
  const void* carrier = nullptr;
  std::shared_ptr<void> prepared;
};

class ResolutionCache {
 public:
  std::shared_ptr<const ResolvedCall> find(const Operation& op, Operands operands,
                                           const Attributes& options, const void* carrier);
  /// Keeps the call. The invocation's tensors have types only: storage would live on with it.
  std::shared_ptr<const ResolvedCall> insert(ResolvedCall call);
  CacheStatistics statistics();
  void clear();

 private:
  std::mutex mutex_;
  BoundedCache<std::shared_ptr<const ResolvedCall>> cache_{4096, std::size_t{64} << 20};
};

/// The one that `call` uses.
ResolutionCache& resolution_cache();

}  // namespace heddle

#endif  // HEDDLE_GRAPH_RESOLUTION_CACHE_H_
