#include "support/guarded_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>

namespace heddle::testing {
namespace {

constexpr std::byte kRest{0xAB};

std::atomic<const std::string*> noted{nullptr};
struct sigaction before {};

void write_note(int) {
  const std::string* what = noted.load();
  if (what != nullptr) {
    [[maybe_unused]] const auto written = ::write(2, what->data(), what->size());
  }
  ::_exit(1);
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, Guard guard) : bytes_(bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  page_bytes_ = std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
  mapped_ = page_bytes_ + 2 * page;
  void* mapping = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  mapping_ = static_cast<std::byte*>(mapping);
  pages_ = mapping_ + page;
  if (::mprotect(pages_, page_bytes_, PROT_READ | PROT_WRITE) != 0) {
    throw std::system_error(errno, std::generic_category(), "mprotect");
  }
  std::fill(pages_, pages_ + page_bytes_, kRest);
  data_ = guard == Guard::before ? pages_ : pages_ + page_bytes_ - bytes;
  std::fill(data_, data_ + bytes_, std::byte{0});
}

GuardedMemory::~GuardedMemory() { ::munmap(mapping_, mapped_); }

bool GuardedMemory::rest_is_intact() const {
  const auto is_rest = [](std::byte b) { return b == kRest; };
  return std::all_of(pages_, data_, is_rest) &&
         std::all_of(data_ + bytes_, pages_ + page_bytes_, is_rest);
}

FaultNote::FaultNote(const std::string& what) {
  noted = &what;
  struct sigaction action {};
  action.sa_handler = write_note;
  ::sigaction(SIGSEGV, &action, &before);
}
FaultNote::~FaultNote() {
  ::sigaction(SIGSEGV, &before, nullptr);
  noted = nullptr;
}

}  // namespace heddle::testing
