#include "heddle/backends/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>

#include "heddle/backends/file.h"
#include "heddle/graph/error.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

// The file: this header, then the payload. Every byte of it is compared when it is read.
struct Header {
  char magic[8] = {'H', 'D', 'C', 'A', 'C', 'H', 'E', '\n'};
  std::uint32_t format = 1;
  std::uint32_t zero = 0;
  std::uint64_t bytes = 0;
  CacheKey key{};
  std::array<std::uint8_t, 32> checksum{};
};
static_assert(sizeof(Header) == 88);

void notice(const std::string& text) { std::fprintf(stderr, "[cache] %s\n", text.c_str()); }

Header header_for(const CacheKey& key, std::span<const std::byte> payload) {
  Header h;
  h.bytes = payload.size();
  h.key = key;
  h.checksum = sha256(payload);
  return h;
}

bool is_intact(std::span<const std::byte> file, const CacheKey& key) {
  if (file.size() < sizeof(Header)) return false;
  const Header expected = header_for(key, file.subspan(sizeof(Header)));
  return std::memcmp(file.data(), &expected, sizeof(Header)) == 0;
}

bool is_key(std::string_view name) {
  return name.size() == 64 && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

CacheKey key_of(std::string_view name) {
  CacheKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    std::from_chars(name.data() + 2 * i, name.data() + 2 * i + 2, key[i], 16);
  }
  return key;
}

[[noreturn]] void refuse(const std::string& folder, const std::string& found,
                         const std::string& needed) {
  throw ValueError({.message = "the cache folder '" + folder + "' cannot be used",
                    .operation = "cache",
                    .field = "folder",
                    .found = found,
                    .needed = needed});
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return;
  if (errno != ENOENT) refuse(path, system_error(), "a folder that can be made");
  const fs::path parent = fs::path(path).parent_path();
  if (parent.empty() || parent == fs::path(path)) refuse(path, system_error(), "a folder");
  make_folder(parent.string());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    refuse(path, system_error(), "a folder that can be made");
  }
}

void check_folder(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) refuse(path, system_error(), "a readable folder");
  if (S_ISLNK(info.st_mode)) refuse(path, "a symbolic link", "a folder");
  if (!S_ISDIR(info.st_mode)) refuse(path, "not a folder", "a folder");
  if (info.st_uid != ::geteuid()) {
    refuse(path, "owner " + std::to_string(info.st_uid),
           "this user, " + std::to_string(::geteuid()));
  }
  if ((info.st_mode & 077) != 0) refuse(path, "open to other users", "mode 0700");
  if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    refuse(path, system_error(), "a folder that can be read and written");
  }
}

// Nothing when there is no place for a cache.
std::string default_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') {
    return std::string(xdg) + "/heddle";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.cache/heddle";
  }
  return "";
}

std::string temporary_name() {
  static std::atomic<unsigned> count{0};
  return "tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

}  // namespace

CacheKey cache_key(std::span<const std::string_view> parts) {
  std::string all;
  for (std::string_view p : parts) {
    all += std::to_string(p.size()) + ":";
    all += p;
  }
  return sha256(std::as_bytes(std::span(all)));
}

Cache Cache::open() {
  size_limit();  // here, not after the first kernel
  const char* named = std::getenv("HEDDLE_CACHE");
  if (named != nullptr && std::string_view(named) == "off") return Cache();
  if (named != nullptr && *named != '\0') return Cache(std::string(named));
  const std::string folder = default_folder();
  if (folder.empty()) return Cache();
  try {
    return Cache(folder);
  } catch (const ValueError& e) {
    static std::once_flag once;
    std::call_once(once, [&] { notice(std::string(e.what()) + "; nothing is cached"); });
    return Cache();
  }
}

Cache::Cache(std::string folder) : folder_(std::move(folder)) {
  while (folder_.size() > 1 && folder_.back() == '/') folder_.pop_back();
  make_folder(folder_);
  check_folder(folder_);
}

std::string Cache::path_of(std::string_view name) const {
  return folder_ + "/" + std::string(name.substr(0, 2)) + "/" + std::string(name);
}

std::optional<std::vector<std::byte>> Cache::get(const CacheKey& key) const {
  if (!enabled()) return std::nullopt;
  const std::string path = path_of(hex(key));
  std::optional<std::vector<std::byte>> file = try_read_file(path, false);
  if (!file) return std::nullopt;
  if (!is_intact(*file, key)) {
    notice("entry " + hex(key) + " is damaged; it is removed and made again");
    ::unlink(path.c_str());
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  file->erase(file->begin(), file->begin() + sizeof(Header));
  return file;
}

void Cache::write_entry(const std::string& path, const CacheKey& key,
                        std::span<const std::byte> bytes) const {
  const Header header = header_for(key, bytes);
  const auto head = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> file(head.begin(), head.end());
  file.insert(file.end(), bytes.begin(), bytes.end());
  const std::string folder = fs::path(path).parent_path().string();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return notice("cannot make '" + folder + "': " + system_error());
  }
  const std::string temporary = folder_ + "/" + temporary_name();
  if (!try_write_file(temporary, file, true) || ::rename(temporary.c_str(), path.c_str()) != 0) {
    notice("cannot write '" + path + "': " + system_error());
    ::unlink(temporary.c_str());
    return;
  }
  sync_folder(folder);
}

void Cache::put(const CacheKey& key, std::span<const std::byte> bytes) const {
  if (enabled()) write_entry(path_of(hex(key)), key, bytes);
}

std::vector<Cache::Entry> Cache::list() const {
  std::vector<Entry> entries;
  if (!enabled()) return entries;
  std::error_code ignored;
  for (const auto& shard : fs::directory_iterator(folder_, ignored)) {
    if (!shard.is_directory(ignored)) continue;
    for (const auto& file : fs::directory_iterator(shard.path(), ignored)) {
      const std::string name = file.path().filename().string();
      struct stat info {};
      if (!is_key(name) || ::lstat(file.path().c_str(), &info) != 0) continue;
      entries.push_back({name, static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

std::vector<Cache::Entry> Cache::verify(bool repair) const {
  std::vector<Entry> entries = list();
  for (Entry& e : entries) {
    const auto file = try_read_file(path_of(e.name), false);
    e.intact = file && is_intact(*file, key_of(e.name));
    if (!e.intact && repair) ::unlink(path_of(e.name).c_str());
  }
  return entries;
}

std::uint64_t Cache::trim(std::uint64_t most_bytes) const {
  if (!enabled()) return 0;
  std::vector<Entry> entries = list();
  std::uint64_t total = 0, removed = 0;
  for (const Entry& e : entries) total += e.bytes;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
  for (const Entry& e : entries) {
    if (total <= most_bytes) break;
    if (::unlink(path_of(e.name).c_str()) != 0) continue;
    total -= e.bytes;
    removed += e.bytes;
  }
  // Writers that died left their temporary files; live ones are younger than this.
  constexpr std::int64_t kStaleSeconds = 3600;
  const std::int64_t now = ::time(nullptr);
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder_, ignored)) {
    struct stat info {};
    const bool temporary = file.path().filename().string().starts_with("tmp-");
    if (!temporary || ::lstat(file.path().c_str(), &info) != 0) continue;
    if (now - info.st_mtim.tv_sec > kStaleSeconds) ::unlink(file.path().c_str());
  }
  return removed;
}

std::uint64_t Cache::size_limit() {
  std::uint64_t bytes = std::uint64_t{1} << 30;
  const char* text = std::getenv("HEDDLE_CACHE_BYTES");
  if (text == nullptr || *text == '\0') return bytes;
  const char* end = text + std::strlen(text);
  const auto [last, error] = std::from_chars(text, end, bytes);
  if (error == std::errc() && last == end) return bytes;
  throw ValueError({.message = "HEDDLE_CACHE_BYTES is the size of the cache",
                    .found = "'" + std::string(text) + "'",
                    .needed = "a whole number of bytes"});
}

void Cache::clear() const {
  for (const Entry& e : list()) ::unlink(path_of(e.name).c_str());
  trim(0);
}

}  // namespace heddle
