#include "heddle/runtime/shared_object.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#ifdef __linux__
#include <elf.h>
#include <sys/mman.h>
#endif

#include "heddle/runtime/status.h"

namespace heddle {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw StatusError(HD_BAD_FILE, path + ": " + why);
}

#ifdef __linux__

// The bytes that an ELF file must have by its own headers; 0: not an ELF file of this machine's
// kind.
template <class ReadAt>
std::uint64_t bytes_needed(ReadAt read_at) {
  Elf64_Ehdr header;
  if (!read_at(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) {
    return 0;
  }
  std::uint64_t needed = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t at = header.e_phoff + std::uint64_t{i} * header.e_phentsize;
    if (!read_at(at, &segment, sizeof segment)) return at + sizeof segment;
    needed = std::max(needed, std::uint64_t{segment.p_offset} + segment.p_filesz);
  }
  return needed;
}

void check_whole(const std::string& path, std::uint64_t size, std::uint64_t needed) {
  if (needed == 0) refuse(path, "is not a shared library of this machine");
  if (size < needed) {
    refuse(path, "is cut short: " + std::to_string(size) + " bytes of " + std::to_string(needed));
  }
}

void check_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) refuse(path, "cannot be opened");
  const std::uint64_t size = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  check_whole(path, size, bytes_needed([&](std::uint64_t at, void* to, std::size_t count) {
                file.clear();
                file.seekg(static_cast<std::streamoff>(at));
                return static_cast<bool>(
                    file.read(static_cast<char*>(to), static_cast<std::streamsize>(count)));
              }));
}

#else

void check_file(const std::string& path) {
  if (!std::ifstream(path, std::ios::binary)) refuse(path, "cannot be opened");
}

#endif

void* open_handle(const std::string& path, const std::string& shown) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* error = dlerror();
    refuse(shown, error ? error : "cannot be loaded");
  }
  return handle;
}

}  // namespace

SharedObject SharedObject::open(const std::string& path) {
  check_file(path);
  const std::string with_folder = path.find('/') == std::string::npos ? "./" + path : path;
  return SharedObject(open_handle(with_folder, path));
}

#ifdef __linux__

SharedObject SharedObject::from_bytes(std::span<const std::byte> bytes) {
  const std::string shown = "kernels in memory";
  check_whole(shown, bytes.size(), bytes_needed([&](std::uint64_t at, void* to, std::size_t count) {
                if (at > bytes.size() || count > bytes.size() - at) return false;
                std::memcpy(to, bytes.data() + at, count);
                return true;
              }));
  const int file = memfd_create("heddle-kernels", MFD_CLOEXEC);
  if (file < 0) refuse(shown, "no memory file");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n <= 0) {
      close(file);
      refuse(shown, "no memory");
    }
    done += static_cast<std::size_t>(n);
  }
  try {
    return SharedObject(open_handle("/proc/self/fd/" + std::to_string(file), shown), file);
  } catch (...) {
    close(file);
    throw;
  }
}

#else

SharedObject SharedObject::from_bytes(std::span<const std::byte> bytes) {
  std::string path = "/tmp/heddle-kernels-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) refuse(path, "cannot be made");
  const bool whole = write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  close(file);
  void* handle = whole ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path.c_str());
  if (!handle) refuse("kernels in memory", "cannot be loaded");
  return SharedObject(handle);
}

#endif

SharedObject::~SharedObject() {
  if (handle_) dlclose(handle_);
  if (file_ >= 0) close(file_);
}

SharedObject::SharedObject(SharedObject&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), file_(std::exchange(other.file_, -1)) {}

SharedObject& SharedObject::operator=(SharedObject&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(file_, other.file_);
  return *this;
}

void* SharedObject::find(const std::string& symbol) const {
  return handle_ ? dlsym(handle_, symbol.c_str()) : nullptr;
}

}  // namespace heddle
