// Places values in the arena: offsets such that values alive at the same time do not overlap.
#ifndef HEDDLE_SCHEDULE_MEMORY_H_
#define HEDDLE_SCHEDULE_MEMORY_H_

#include <cstdint>
#include <vector>

#include "heddle/schedule/target.h"

namespace heddle {

inline constexpr std::int64_t kArenaAlignment = 64;
inline constexpr std::int64_t kDeviceAlignment = 512;
/// Of a plan's buffers, in bytes: a cache line, or what a device has views of.
inline std::int64_t buffer_alignment(const Target& target) {
  return target.on_device() ? kDeviceAlignment : kArenaAlignment;
}

/// Alive from the step that writes it to the last that reads it, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::size_t first = 0, last = 0;
};

struct ArenaLayout {
  std::vector<std::int64_t> offsets;  ///< by lifetime; multiples of the alignment
  std::int64_t bytes = 0;
};

/// Largest first, each into the lowest gap of the right size (best fit). Deterministic: equal sizes
/// in their order.
ArenaLayout plan_arena(const std::vector<Lifetime>& lifetimes,
                       std::int64_t alignment = kArenaAlignment);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_MEMORY_H_
