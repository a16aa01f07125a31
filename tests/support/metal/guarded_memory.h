// Memory that ends where a page begins that nobody may touch: an access beyond it ends the process.
#ifndef HEDDLE_TESTS_SUPPORT_METAL_GUARDED_MEMORY_H_
#define HEDDLE_TESTS_SUPPORT_METAL_GUARDED_MEMORY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace heddle::testing::metal {

/// Filled with 0xFF: as numbers, NaN and -1.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    mapped_ = (bytes + page - 1) / page * page + page;
    base_ = static_cast<std::byte*>(
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(base_ + mapped_ - page, page, PROT_NONE);
    start_ = base_ + mapped_ - page - (bytes + 3) / 4 * 4;  // numbers are aligned
    std::memset(base_, 0xFF, mapped_ - page);
  }
  ~GuardedMemory() { ::munmap(base_, mapped_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  std::byte* start() const { return start_; }

 private:
  std::byte *base_, *start_;
  std::size_t mapped_;
};

}  // namespace heddle::testing::metal

#endif  // HEDDLE_TESTS_SUPPORT_METAL_GUARDED_MEMORY_H_
