#include "heddle/backends/linked.h"

#include "heddle/backends/artifact/link.h"

namespace heddle {

std::vector<std::byte> linked(const std::vector<KernelObject>& objects, const Cache& cache) {
  std::vector<std::string_view> parts{"linked kernels 2"};
  for (const KernelObject& o : objects) {
    parts.push_back(o.symbol);
    parts.emplace_back(reinterpret_cast<const char*>(o.object.data()), o.object.size());
  }
  const CacheKey key = cache_key(parts);
  if (auto bytes = cache.get(key)) return *bytes;
  std::vector<std::byte> bytes = link_kernels(objects);
  cache.put(key, bytes);
  return bytes;
}

}  // namespace heddle
