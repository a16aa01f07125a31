// The arena: nothing alive overlaps, and what cannot overlap in time shares.
#include "heddle/schedule/memory.h"

#include <random>

namespace heddle {
namespace {

bool overlap(const Lifetime& a, std::int64_t at_a, const Lifetime& b, std::int64_t at_b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  return in_time && at_a < at_b + b.bytes && at_b < at_a + a.bytes;
}

TEST(Arena, values_one_after_the_other_share) {
  const ArenaLayout l = plan_arena({{100, 0, 1}, {100, 2, 3}, {50, 1, 2}});
  EXPECT_EQ(l.bytes, 128 + 64);
  EXPECT_EQ(l.offsets[0], l.offsets[1]);
}

TEST(Arena, random_lifetimes_never_overlap) {
  const unsigned seed = 20261129;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 30; ++i) {
      const std::size_t first = random() % 20;
      lifetimes.push_back(
          {static_cast<std::int64_t>(random() % 1000), first, first + random() % 6});
    }
    const ArenaLayout l = plan_arena(lifetimes);
    for (std::size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(l.offsets[a] % kArenaAlignment, 0);
      EXPECT_LE(l.offsets[a] + lifetimes[a].bytes, l.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        EXPECT_FALSE(overlap(lifetimes[a], l.offsets[a], lifetimes[b], l.offsets[b]));
      }
    }
  }
}

}  // namespace
}  // namespace heddle
