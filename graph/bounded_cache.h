// A cache with two limits: entries and bytes. What was used longest ago goes first. Found by a hash
// and then by full equality, so that two keys of one hash are no danger. Not locked.
#ifndef HEDDLE_GRAPH_BOUNDED_CACHE_H_
#define HEDDLE_GRAPH_BOUNDED_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace heddle {

struct CacheStatistics {
  std::uint64_t hits = 0, misses = 0, evictions = 0, clears = 0;
  std::size_t entries = 0, bytes = 0;
};

template <class Value>
class BoundedCache {
 public:
  BoundedCache(std::size_t most_entries, std::size_t most_bytes)
      : most_entries_(most_entries), most_bytes_(most_bytes) {}

  /// The entry of that hash for which `equal(value)`, or null. It is the latest used from here on;
  /// the pointer lives until the next insert or clear.
  template <class Equal>
  const Value* find(std::size_t hash, Equal equal) {
    auto [first, last] = places_.equal_range(hash);
    for (; first != last; ++first) {
      if (!equal(first->second->value)) continue;
      entries_.splice(entries_.begin(), entries_, first->second);
      ++statistics_.hits;
      return &entries_.front().value;
    }
    ++statistics_.misses;
    return nullptr;
  }

  /// `bytes`: what the entry counts against the limit. An entry above the limit alone is not kept.
  void insert(std::size_t hash, Value value, std::size_t bytes) {
    entries_.push_front({hash, bytes, std::move(value)});
    places_.emplace(hash, entries_.begin());
    statistics_.bytes += bytes;
    while (entries_.size() > most_entries_ || statistics_.bytes > most_bytes_) evict();
    statistics_.entries = entries_.size();
  }

  /// Everything but the number of clears starts anew.
  void clear() {
    entries_.clear();
    places_.clear();
    statistics_ = {.clears = statistics_.clears + 1};
  }
  const CacheStatistics& statistics() const { return statistics_; }

 private:
  struct Entry {
    std::size_t hash, bytes;
    Value value;
  };
  using Entries = std::list<Entry>;

  void evict() {
    const auto oldest = std::prev(entries_.end());
    auto [first, last] = places_.equal_range(oldest->hash);
    while (first != last && first->second != oldest) ++first;
    places_.erase(first);
    statistics_.bytes -= oldest->bytes;
    entries_.erase(oldest);
    ++statistics_.evictions;
  }

  std::size_t most_entries_, most_bytes_;
  Entries entries_;
  std::unordered_multimap<std::size_t, typename Entries::iterator> places_;
  CacheStatistics statistics_;
};

}  // namespace heddle

#endif  // HEDDLE_GRAPH_BOUNDED_CACHE_H_
