// What other tests rely on: a touch beside guarded memory ends the process with its note.
#include "support/guarded_memory.h"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

void touch(Guard guard, std::ptrdiff_t at) {
  const std::string what = "outside of it";
  const FaultNote note(what);
  const GuardedMemory memory(5, guard);
  static_cast<volatile std::byte*>(memory.data())[at] = std::byte{1};
}

TEST(GuardedMemoryDeathTest, TouchesBesideItEndTheProcess) {
  EXPECT_EXIT(touch(Guard::behind, 5), ::testing::ExitedWithCode(1), "outside of it");
  EXPECT_EXIT(touch(Guard::before, -1), ::testing::ExitedWithCode(1), "outside of it");
}

TEST(GuardedMemory, WhatIsWrittenToTheRestIsSeen) {
  const GuardedMemory memory(5, Guard::behind);
  memory.data()[4] = std::byte{1};
  EXPECT_TRUE(memory.rest_is_intact());
  memory.data()[-1] = std::byte{1};
  EXPECT_FALSE(memory.rest_is_intact());
}

}  // namespace
}  // namespace heddle::testing
