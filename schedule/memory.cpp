#include "heddle/schedule/memory.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace heddle {
namespace {

std::int64_t rounded(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

struct Taken {
  std::int64_t begin, end;
};

// The smallest gap between the taken ranges that holds `bytes`; else behind them all.
std::int64_t best_gap(std::vector<Taken> taken, std::int64_t bytes) {
  std::sort(taken.begin(), taken.end(),
            [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
  std::int64_t best = -1, best_size = std::numeric_limits<std::int64_t>::max(), free = 0;
  for (const Taken& t : taken) {
    const std::int64_t gap = t.begin - free;
    if (gap >= bytes && gap < best_size) {
      best = free;
      best_size = gap;
    }
    free = std::max(free, t.end);
  }
  return best >= 0 ? best : free;
}

}  // namespace

ArenaLayout plan_arena(const std::vector<Lifetime>& lifetimes, std::int64_t alignment) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  ArenaLayout layout{std::vector<std::int64_t>(lifetimes.size(), 0), 0};
  std::vector<std::size_t> placed;
  for (std::size_t v : order) {
    const Lifetime& mine = lifetimes[v];
    std::vector<Taken> taken;
    for (std::size_t p : placed) {
      const Lifetime& other = lifetimes[p];
      if (other.first > mine.last || mine.first > other.last) continue;
      taken.push_back({layout.offsets[p], layout.offsets[p] + rounded(other.bytes, alignment)});
    }
    layout.offsets[v] = best_gap(std::move(taken), rounded(mine.bytes, alignment));
    layout.bytes = std::max(layout.bytes, layout.offsets[v] + rounded(mine.bytes, alignment));
    placed.push_back(v);
  }
  return layout;
}

}  // namespace heddle
