// What a linked program or library for macOS says of itself: what it takes from whom, and whether
// its signature is that of its bytes.
#ifndef HEDDLE_TESTS_CROSS_MACH_O_H_
#define HEDDLE_TESTS_CROSS_MACH_O_H_

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::testing {

struct MachO {
  bool is_arm = false;
  std::vector<std::string> libraries;   ///< in the order of their numbers, which begin at 1
  std::vector<std::string> unresolved;  ///< symbols that no library of the list gives
  std::vector<std::string> imported;    ///< symbols that one of them gives
  std::vector<std::string> exported;
  std::string smallest_system;        ///< "11.0"
  int good_pages = 0, bad_pages = 0;  ///< of the signature; none: not signed
};

/// std::runtime_error when the bytes are no linked Mach-O file of 64 bits.
MachO read_mach_o(const std::vector<std::byte>& file);

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_CROSS_MACH_O_H_
