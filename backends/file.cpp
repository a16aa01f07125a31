#include "heddle/backends/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "heddle/graph/error.h"

namespace heddle {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::string system_error() { return std::strerror(errno); }

std::optional<std::vector<std::byte>> try_read_file(const std::string& path, bool follow) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)));
  struct stat info {};
  if (!file.open() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return std::nullopt;
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

bool try_write_file(const std::string& path, std::span<const std::byte> bytes, bool sync) {
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  const Descriptor file(::open(path.c_str(), flags, 0600));
  if (!file.open()) return false;
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return !sync || ::fsync(file.get()) == 0;
}

void sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) ::fsync(folder.get());
}

TemporaryFolder::TemporaryFolder() {
  const char* root = std::getenv("TMPDIR");
  path_ = std::string(root != nullptr && *root != '\0' ? root : "/tmp") + "/heddle-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) {
    throw RuntimeError(
        {.message = "cannot make a temporary folder '" + path_ + "': " + system_error(),
         .field = "TMPDIR"});
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace heddle
