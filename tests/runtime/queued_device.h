// A device that is none: plain memory, and a queue that nothing leaves before somebody waits. It
// counts what is alive, knows what was asked for, and fails where it is told to.
#ifndef HEDDLE_TESTS_RUNTIME_QUEUED_DEVICE_H_
#define HEDDLE_TESTS_RUNTIME_QUEUED_DEVICE_H_

#include <string>
#include <vector>

#include "heddle/runtime/core/abi.h"

namespace heddle::testing::queued {

inline constexpr std::uint64_t kAlignment = 256;
extern const hd_device device;

/// Nothing is alive and nothing is known from here on. `fail_at`: the call that fails, counted from
/// 0 among those that can; -1: none. `absent`: the device does not open.
void reset(int fail_at = -1, bool absent = false);
/// Those that could have failed.
int fallible_calls();
/// "allocate", "view", "write", "read", "copy", "wait", or a launch's name; in their order.
std::vector<std::string> take_calls();
int live_memories();
/// Rules that were broken: a view after its memory, a call outside of a run, an end without a wait.
std::vector<std::string> faults();

/// A kernel that launches `name` on its buffers: "add_one", "twice", "root" or "is_big" (sets a
/// flag when an element is above 100) of arrays of f32.
template <const char* kName>
int launch(void** argv) {
  const auto* context = *static_cast<hd_context**>(argv[0]);
  const std::int32_t one[3] = {1, 1, 1};
  context->device->launch(nullptr, kName, one, one, 0, nullptr, argv + 1, nullptr);
  return 0;
}
inline constexpr char kAddOne[] = "add_one", kTwice[] = "twice", kRoot[] = "root",
                      kIsBig[] = "is_big";

}  // namespace heddle::testing::queued

#endif  // HEDDLE_TESTS_RUNTIME_QUEUED_DEVICE_H_
