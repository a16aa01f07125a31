#include "heddle/backends/tiled/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

class TileFile {
 public:
  TileFile(const std::string& folder, std::size_t bytes) : folder_(folder), bytes_(bytes) {
    descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) descriptor_ = open_named();
    if (descriptor_ < 0) fail("make");
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0) return;
    const int error = errno;
    ::close(descriptor_);
    errno = error;
    fail("make");
  }
  ~TileFile() { ::close(descriptor_); }
  TileFile(const TileFile&) = delete;
  TileFile& operator=(const TileFile&) = delete;

  void read(std::size_t offset, std::span<std::byte> into) const {
    transfer(into, [&](std::span<std::byte> rest) {
      const auto at = static_cast<off_t>(offset + (into.size() - rest.size()));
      return ::pread(descriptor_, rest.data(), rest.size(), at);
    });
  }
  void write(std::size_t offset, std::span<const std::byte> from) {
    transfer(from, [&](std::span<const std::byte> rest) {
      const auto at = static_cast<off_t>(offset + (from.size() - rest.size()));
      return ::pwrite(descriptor_, rest.data(), rest.size(), at);
    });
  }

 private:
  // Folders that cannot hold files without a name: the name is gone before anyone sees it.
  int open_named() const {
    std::string name = folder_ + "/heddle-XXXXXX";
    const int made = ::mkostemp(name.data(), O_CLOEXEC);
    if (made >= 0) ::unlink(name.c_str());
    return made;
  }

  template <class Bytes, class Once>
  void transfer(Bytes rest, Once once) const {
    while (!rest.empty()) {
      const ssize_t done = once(rest);
      if (done < 0 && errno == EINTR) continue;
      if (done == 0) errno = EIO;  // the file is shorter than its tensor
      if (done <= 0) fail(std::is_const_v<typename Bytes::element_type> ? "write" : "read");
      rest = rest.subspan(static_cast<std::size_t>(done));
    }
  }

  [[noreturn]] void fail(const char* what) const {
    throw RuntimeError({.message = absl::StrCat("cannot ", what, " a tensor's file in folder ",
                                                folder_, ": ", std::strerror(errno)),
                        .field = "folder",
                        .found = folder_,
                        .needed = absl::StrCat(bytes_, " bytes")});
  }

  const std::string folder_;
  const std::size_t bytes_;
  int descriptor_ = -1;
};

// One of the two.
struct Place {
  std::vector<std::byte> memory;
  std::unique_ptr<TileFile> file;
};
Place& place(const StorageHandle& handle) { return *static_cast<Place*>(handle.get()); }

void read(const StorageHandle& handle, std::size_t offset, std::span<std::byte> into) {
  const Place& p = place(handle);
  if (p.file != nullptr) return p.file->read(offset, into);
  std::copy_n(p.memory.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
}
void write(const StorageHandle& handle, std::size_t offset, std::span<const std::byte> from) {
  Place& p = place(handle);
  if (p.file != nullptr) return p.file->write(offset, from);
  std::copy(from.begin(), from.end(), p.memory.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

StorageProvider tiled_storage(const std::string& folder, std::size_t in_memory) {
  return {.supports_dtype = [](DType) { return true; },
          .physical_size = [](const Type& type) { return byte_count(type); },
          .allocate = [folder, in_memory](std::int64_t size) -> StorageHandle {
            const auto bytes = static_cast<std::size_t>(size);
            auto made = std::make_shared<Place>();
            if (bytes <= in_memory) {
              made->memory.resize(bytes);
            } else {
              made->file = std::make_unique<TileFile>(folder, bytes);
            }
            return made;
          },
          .release = [](const StorageHandle& handle) { place(handle) = {}; },
          .read = read,
          .write = write};
}

}  // namespace heddle
