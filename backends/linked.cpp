#include "heddle/backends/linked.h"

#include "heddle/backends/artifact/embedded.h"
#include "heddle/backends/artifact/link.h"

namespace heddle {

std::vector<std::byte> linked(const std::vector<KernelObject>& objects, const Cache& cache) {
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  std::vector<std::string_view> parts{"linked kernels", text(glue_object())};
  for (const KernelObject& o : objects) {
    parts.push_back(o.symbol);
    parts.push_back(text(o.object));
  }
  const CacheKey key = cache_key(parts);
  if (auto bytes = cache.get(key)) return *bytes;
  std::vector<std::byte> bytes = link_kernels(objects);
  cache.put(key, bytes);
  return bytes;
}

}  // namespace heddle
