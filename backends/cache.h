// The disk cache of compiled things: kernels' objects, linked libraries. One entry is one file that
// begins with a checked header; it is written beside, synced and renamed, so a reader sees a whole
// entry or none. Any number of processes may use one folder.
#ifndef HEDDLE_BACKENDS_CACHE_H_
#define HEDDLE_BACKENDS_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

using CacheKey = std::array<std::uint8_t, 32>;

/// SHA-256 over all parts and their lengths.
CacheKey cache_key(std::span<const std::string_view> parts);

class Cache {
 public:
  struct Entry {
    std::string name;  ///< the key, 64 hexadecimal digits
    std::uint64_t bytes = 0;
    std::int64_t last_use = 0;  ///< seconds since 1970
    bool intact = true;         ///< set by verify
  };

  /// HEDDLE_CACHE, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle. A folder that cannot be used
  /// is a ValueError when HEDDLE_CACHE names it; else one notice on stderr, and nothing is cached.
  /// HEDDLE_CACHE=off: no cache. ValueError for a limit that is none.
  static Cache open();
  /// Makes the folder (mode 0700) if need be. ValueError when it is a symbolic link, belongs to
  /// somebody else, is open to others, or cannot be written.
  explicit Cache(std::string folder);
  /// No cache: get finds nothing, put keeps nothing.
  Cache() = default;

  bool enabled() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }

  /// The entry's bytes, checksum verified. A damaged entry is removed, with a notice on stderr.
  std::optional<std::vector<std::byte>> get(const CacheKey& key) const;
  /// Stores or replaces. A full disk or a lost folder costs the entry and a notice, not the caller.
  void put(const CacheKey& key, std::span<const std::byte> bytes) const;

  /// By name.
  std::vector<Entry> list() const;
  /// As list, with `intact` set; damaged entries are removed when `repair`.
  std::vector<Entry> verify(bool repair) const;
  /// Removes the entries used longest ago until the rest fits, and left-over temporary files.
  /// Returns the bytes removed.
  std::uint64_t trim(std::uint64_t most_bytes) const;
  /// HEDDLE_CACHE_BYTES, else 1 GiB. ValueError unless it is a whole number.
  static std::uint64_t size_limit();
  /// Removes every entry.
  void clear() const;

 private:
  std::string path_of(std::string_view name) const;
  void write_entry(const std::string& path, const CacheKey& key,
                   std::span<const std::byte> bytes) const;

  std::string folder_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_CACHE_H_
