// What kernels build for calls, each once: shared by all calls for which the same thing would be
// built, and bounded.
#ifndef HEDDLE_BACKENDS_BUILT_KERNELS_H_
#define HEDDLE_BACKENDS_BUILT_KERNELS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "heddle/graph/bounded_cache.h"

namespace heddle {

/// What a kernel would build for one call.
struct KernelBuild {
  std::string identity;  ///< equal: the same thing would be built
  std::function<std::shared_ptr<const void>()> make;
  std::size_t bytes = 0;  ///< what it counts against the limit
};

/// Any number of threads; builds one at a time. At most 256 things and 256 MiB: what was used
/// longest ago is forgotten first, and lives on with those who hold it.
class BuiltKernels {
 public:
  /// TypeError: no `make`, or it gave nothing. What it throws passes; nothing is kept then.
  std::shared_ptr<const void> get(const std::string& kernel, const KernelBuild& build);
  CacheStatistics statistics();

 private:
  struct Built {
    std::string kernel, identity;
    std::shared_ptr<const void> thing;
  };
  std::mutex mutex_;
  BoundedCache<Built> built_{256, std::size_t{256} << 20};
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_BUILT_KERNELS_H_
