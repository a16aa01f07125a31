#include "heddle/backends/cache.h"

#include <cstdio>

#include "heddle/backends/eager/runnable.h"
#include "heddle/frontend/cli/commands.h"
#include "heddle/frontend/cli/print.h"
#include "heddle/frontend/common_calls.h"
#include "heddle/graph/error.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {
namespace {

int list(const std::vector<Cache::Entry>& entries, const std::string& folder, bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::vector<Row> rows{{"entry", "bytes", "state"}};
  std::uint64_t bytes = 0;
  bool intact = true;
  for (const Cache::Entry& e : entries) {
    list.push_back(
        {{"name", e.name}, {"bytes", e.bytes}, {"last_use", e.last_use}, {"intact", e.intact}});
    rows.push_back({e.name, std::to_string(e.bytes), e.intact ? "ok" : "DAMAGED"});
    bytes += e.bytes;
    intact &= e.intact;
  }
  if (json) {
    std::printf("%s\n",
                nlohmann::ordered_json{{"folder", folder}, {"bytes", bytes}, {"entries", list}}
                    .dump(2)
                    .c_str());
  } else {
    std::printf("%s%zu entries, %llu bytes in %s\n", table(rows).c_str(), entries.size(),
                static_cast<unsigned long long>(bytes), folder.c_str());
  }
  return intact ? 0 : 1;
}

int warm(bool json) {
  const std::vector<Function> calls = common_calls();
  const std::size_t kernels = warm_cache(calls, {.progress = progress_bar()});
  std::printf(json ? "{\"calls\": %zu, \"kernels\": %zu}\n" : "%zu calls, %zu kernels ready\n",
              calls.size(), kernels);
  return 0;
}

}  // namespace

int cache_command(const CacheCommand& options) {
  const Cache cache = Cache::open();
  if (!cache.enabled()) throw NotAvailableError({.message = "cache: none is in use"});
  if (options.action == "ls") return list(cache.list(), cache.folder(), options.json);
  if (options.action == "verify")
    return list(cache.verify(/*repair=*/false), cache.folder(), options.json);
  if (options.action == "warm") return warm(options.json);
  std::uint64_t removed = 0;
  if (options.action == "gc") {
    removed = cache.trim(Cache::size_limit());
  } else if (options.action == "clear") {
    for (const Cache::Entry& e : cache.list()) removed += e.bytes;
    cache.clear();
  } else {
    throw ValueError({.message = "cache: unknown action",
                      .found = "'" + options.action + "'",
                      .needed = "ls, verify, warm, gc or clear"});
  }
  std::printf(options.json ? "{\"removed_bytes\": %llu}\n" : "removed %llu bytes\n",
              static_cast<unsigned long long>(removed));
  return 0;
}

}  // namespace heddle::cli
