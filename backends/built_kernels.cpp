#include "heddle/backends/built_kernels.h"

#include "heddle/graph/error.h"

namespace heddle {

std::shared_ptr<const void> BuiltKernels::get(const std::string& kernel, const KernelBuild& build) {
  const std::hash<std::string> hash_of;
  const std::size_t hash = hash_of(kernel) * 31 + hash_of(build.identity);
  const std::lock_guard lock(mutex_);
  const Built* known = built_.find(
      hash, [&](const Built& b) { return b.kernel == kernel && b.identity == build.identity; });
  if (known != nullptr) return known->thing;
  std::shared_ptr<const void> thing = build.make ? build.make() : nullptr;
  if (thing == nullptr) {
    throw TypeError(
        {.message = "kernel '" + kernel + "' built nothing for '" + build.identity + "'",
         .step = 26});
  }
  const std::size_t bytes = 256 + kernel.size() + build.identity.size() + build.bytes;
  built_.insert(hash, {kernel, build.identity, thing}, bytes);
  return thing;
}

CacheStatistics BuiltKernels::statistics() {
  const std::lock_guard lock(mutex_);
  return built_.statistics();
}

}  // namespace heddle
