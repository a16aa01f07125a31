// Files by descriptor: what the cache and the worker need of POSIX. Failures of
// files are answers, not errors.
#ifndef HEDDLE_BACKENDS_FILE_H_
#define HEDDLE_BACKENDS_FILE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle {

/// An open descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Text of the last system error.
std::string system_error();
/// Nothing when it cannot be opened or read. `follow`: through a symbolic link.
std::optional<std::vector<std::byte>> try_read_file(const std::string& path, bool follow = true);
/// False when a write or the sync fails; the file may then be incomplete.
bool try_write_file(const std::string& path, std::span<const std::byte> bytes, bool sync = false);
/// Syncs a folder, so that a rename in it lasts.
void sync_folder(const std::string& path);

/// A fresh folder for temporary files, removed with everything in it.
class TemporaryFolder {
 public:
  /// In TMPDIR, else /tmp. RuntimeError when it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_FILE_H_
