// Measured numbers of schedules: which line a target gets, and that tiles fit its registers.
#include "heddle/schedule/tuned.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(Tuned, EveryTileFitsItsRegisterFile) {
  for (const Tuned& t : all_tuned()) {
    for (const Tuned::Tile& tile : {t.tile, t.narrow, t.few, t.prepared, t.block}) {
      EXPECT_LE(tile.rows * tile.vectors + tile.vectors + 1, t.registers) << to_text(t);
    }
    EXPECT_EQ(t.queries % t.block.rows, 0) << to_text(t);
    EXPECT_EQ(t.causal % t.block.rows, 0) << to_text(t);
  }
}

TEST(Tuned, TheLineOfATarget) {
  const Tuned& avx2 = tuned_for(parse_target("x86-64-linux-avx2"));
  EXPECT_EQ(to_text(avx2).substr(0, 18), "TUNED(16, 8, 512, ");
  EXPECT_EQ(tuned_for(parse_target("x86-64-linux-avx512")).floats, 16);
  const Tuned& arm = tuned_for(parse_target("arm-64-osx"));
  EXPECT_EQ(arm.registers, 32);
  EXPECT_EQ(arm.floats, 4);
}

TEST(Tuned, TheNearestLineIsSaidOnce) {
  const Target old = parse_target("x86-64-linux-sse41");
  ::testing::internal::CaptureStderr();
  const Tuned &first = tuned_for(old), &second = tuned_for(old);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(first, tuned_for(parse_target("x86-64-linux-avx2")));
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(said,
            "heddle: no measured numbers of schedules for 16 registers of 4 floats, 256 KB of "
            "cache; those for 16 registers of 8 floats, 512 KB of cache are used (./dev bench tune "
            "measures them)\n");
}

TEST(Tuned, TheSweepsNumbersAreForAllTargetsWhileTheyLive) {
  const Target target = parse_target("x86-64-linux-avx2");
  Tuned other = tuned_for(target);
  other.strip = 99;
  {
    const TunedOverride numbers(other);
    EXPECT_EQ(tuned_for(target).strip, 99);
  }
  EXPECT_NE(tuned_for(target).strip, 99);
}

}  // namespace
}  // namespace heddle
