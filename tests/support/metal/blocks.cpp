#include "support/metal/blocks.h"

#include <setjmp.h>
#include <ucontext.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace heddle::testing::metal {
namespace {

constexpr std::size_t kStack = 256 * 1024;

// Fibers are kept for the next block. _setjmp saves no signal mask, so a switch is no system call.
struct Fiber {
  jmp_buf at;
  std::vector<char> stack;
  bool done = true;
};
std::vector<std::unique_ptr<Fiber>> fibers;
jmp_buf scheduler;
std::size_t current;
const std::function<void(int)>* work;

void give_way() {
  if (_setjmp(fibers[current]->at) == 0) _longjmp(scheduler, 1);
}

void fiber_main() {
  for (;;) {
    give_way();
    (*work)(static_cast<int>(current));
    fibers[current]->done = true;
  }
}

void resume(std::size_t i) {
  current = i;
  if (_setjmp(scheduler) == 0) _longjmp(fibers[i]->at, 1);
}

// Runs up to the first time it gives way.
void add_fiber() {
  current = fibers.size();
  fibers.push_back(std::make_unique<Fiber>());
  fibers.back()->stack.resize(kStack);
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = fibers.back()->stack.data();
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, fiber_main, 0);
  if (_setjmp(scheduler) == 0) setcontext(&context);
}

}  // namespace

void wait_at_barrier() { give_way(); }

bool run_block(int count, bool barriers, bool descending, const std::function<void(int)>& thread) {
  const auto nth = [&](int i) { return descending ? count - 1 - i : i; };
  if (!barriers) {
    for (int i = 0; i < count; ++i) thread(nth(i));
    return true;
  }
  while (fibers.size() < static_cast<std::size_t>(count)) add_fiber();
  work = &thread;
  for (int i = 0; i < count; ++i) fibers[static_cast<std::size_t>(i)]->done = false;
  bool together = true;
  for (int left = count; left > 0;) {
    int ended = 0;
    for (int i = 0; i < count; ++i) {
      const auto f = static_cast<std::size_t>(nth(i));
      if (fibers[f]->done) continue;
      resume(f);
      ended += fibers[f]->done;
    }
    together = together && (ended == 0 || ended == left);
    left -= ended;
  }
  return together;
}

}  // namespace heddle::testing::metal
