#include "heddle/runtime/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace heddle {
namespace {

/// An open stream, and the first thing that went wrong with it.
class Stream {
 public:
  Stream(const std::string& path, const char* mode) : file_(std::fopen(path.c_str(), mode)) {
    keep_error(file_ == nullptr);
  }
  ~Stream() { close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::size_t read(std::span<std::byte> into) {
    if (file_ == nullptr) return 0;
    const std::size_t count = std::fread(into.data(), 1, into.size(), file_);
    keep_error(std::ferror(file_) != 0);
    return count;
  }
  void write(std::span<const std::byte> bytes) {
    if (file_ == nullptr) return;
    keep_error(std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size());
  }
  void close() {
    if (file_ != nullptr) keep_error(std::fclose(file_) != 0);
    file_ = nullptr;
  }
  int error() const { return error_; }

 private:
  void keep_error(bool failed) {
    if (failed && error_ == 0) error_ = errno;
  }

  int error_ = 0;
  std::FILE* file_;
};

bool is_replaceable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

}  // namespace

std::optional<std::vector<std::byte>> read_whole_file(const std::string& path,
                                                      std::string& reason) {
  Stream file(path, "rb");
  std::vector<std::byte> bytes, part(std::size_t{1} << 16);
  while (const std::size_t count = file.read(part)) {
    bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (file.error() == 0) return bytes;
  reason = std::strerror(file.error());
  return std::nullopt;
}

std::optional<std::string> write_whole_file(const std::string& path,
                                            std::span<const std::byte> bytes) {
  const bool replace = is_replaceable(path);
  const std::string beside = replace ? path + ".tmp" + std::to_string(getpid()) : path;
  Stream file(beside, "wb");
  file.write(bytes);
  file.close();
  int error = file.error();
  if (error == 0 && replace && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return std::nullopt;
  if (replace) std::remove(beside.c_str());
  return std::strerror(error);
}

}  // namespace heddle
