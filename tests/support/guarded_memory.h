// Memory that nothing beside it may be read or written without a fault.
#ifndef HEDDLE_TESTS_SUPPORT_GUARDED_MEMORY_H_
#define HEDDLE_TESTS_SUPPORT_GUARDED_MEMORY_H_

#include <cstddef>
#include <string>

namespace heddle::testing {

/// Which end of the memory lies at a page that cannot be touched.
enum class Guard { before, behind };

/// `bytes` bytes of zeros, and the rest of their pages full of 0xAB.
class GuardedMemory {
 public:
  GuardedMemory(std::size_t bytes, Guard guard);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  /// Nothing was written to the rest of the pages.
  bool rest_is_intact() const;

 private:
  std::byte *mapping_, *pages_, *data_;
  std::size_t mapped_, page_bytes_, bytes_;
};

/// While it lives, a fault ends the process with `what` on standard error.
class FaultNote {
 public:
  explicit FaultNote(const std::string& what);
  ~FaultNote();
  FaultNote(const FaultNote&) = delete;
  FaultNote& operator=(const FaultNote&) = delete;
};

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_SUPPORT_GUARDED_MEMORY_H_
