// Blocks of threads on one thread of the CPU: each is a fiber that gives way at barriers.
#ifndef HEDDLE_TESTS_SUPPORT_METAL_BLOCKS_H_
#define HEDDLE_TESTS_SUPPORT_METAL_BLOCKS_H_

#include <functional>

namespace heddle::testing::metal {

struct Index3 {
  unsigned x, y, z;
};

/// Runs `thread(i)` for each i below `count`; all arrive at a barrier before one goes on. The
/// threads start in ascending or in descending order: results must not depend on it. With
/// `barriers` false they run one after another. Returns false when some threads of the block ended
/// while others waited at a barrier.
bool run_block(int count, bool barriers, bool descending, const std::function<void(int)>& thread);

/// Called by the running thread.
void wait_at_barrier();

}  // namespace heddle::testing::metal

#endif  // HEDDLE_TESTS_SUPPORT_METAL_BLOCKS_H_
