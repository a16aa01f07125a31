// .npz: a ZIP archive of .npy files (APPNOTE.TXT of PKWARE), read through its central directory.
#include <zlib.h>

#include <cstring>
#include <limits>
#include <set>
#include <string_view>

#include "heddle/runtime/npy.h"

namespace heddle {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
// DEFLATE makes at most 1032 bytes of one.
constexpr std::uint64_t kLargestRatio = 1032;

class Archive {
 public:
  explicit Archive(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> part(std::uint64_t at, std::uint64_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) throw NpyError("is cut short");
    return bytes_.subspan(at, count);
  }
  template <class T>
  T number(std::uint64_t at) const {
    T value;
    std::memcpy(&value, part(at, sizeof value).data(), sizeof value);
    return value;
  }
  // The end record: the last one that reaches the end of the file with its comment.
  std::uint64_t find_end() const {
    for (std::uint64_t back = kEndBytes; back <= bytes_.size() && back <= kEndBytes + 0xffff;
         ++back) {
      const std::uint64_t at = bytes_.size() - back;
      if (number<std::uint32_t>(at) == kEnd && number<std::uint16_t>(at + 20) == back - kEndBytes)
        return at;
    }
    throw NpyError("is no .npz file, or cut short");
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Entry {
  std::string name;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t compressed = 0, size = 0, local = 0;
};

Entry read_entry(const Archive& archive, std::uint64_t& at) {
  if (archive.number<std::uint32_t>(at) != kCentral) throw NpyError("has a broken directory");
  Entry entry;
  const std::uint16_t flags = archive.number<std::uint16_t>(at + 8);
  entry.method = archive.number<std::uint16_t>(at + 10);
  entry.checksum = archive.number<std::uint32_t>(at + 16);
  entry.compressed = archive.number<std::uint32_t>(at + 20);
  entry.size = archive.number<std::uint32_t>(at + 24);
  entry.local = archive.number<std::uint32_t>(at + 42);
  const std::uint16_t name_bytes = archive.number<std::uint16_t>(at + 28);
  const std::span<const std::byte> name = archive.part(at + kCentralBytes, name_bytes);
  entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  at += kCentralBytes + name_bytes + archive.number<std::uint16_t>(at + 30) +
        archive.number<std::uint16_t>(at + 32);
  if (flags & 1) throw NpyError("is encrypted");
  constexpr std::uint64_t kZip64 = 0xffffffff;
  if (entry.compressed == kZip64 || entry.size == kZip64 || entry.local == kZip64) {
    throw NpyError("holds an array of 4 GB or more: '" + entry.name + "'");
  }
  return entry;
}

std::vector<std::byte> inflate_entry(std::span<const std::byte> packed, const Entry& entry) {
  if (entry.size / kLargestRatio > packed.size())
    throw NpyError("has a wrong size for '" + entry.name + "'");
  std::vector<std::byte> out(entry.size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw NpyError("cannot be unpacked: no memory");
  std::byte none{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.empty() ? &none : out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&stream, Z_FINISH);
  const bool whole =
      result == Z_STREAM_END && stream.total_out == out.size() && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) throw NpyError("has damaged data for '" + entry.name + "'");
  return out;
}

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<std::byte> unpack(const Archive& archive, const Entry& entry) {
  if (archive.number<std::uint32_t>(entry.local) != kLocal)
    throw NpyError("has a broken entry '" + entry.name + "'");
  const std::uint64_t begin = entry.local + kLocalBytes +
                              archive.number<std::uint16_t>(entry.local + 26) +
                              archive.number<std::uint16_t>(entry.local + 28);
  const std::span<const std::byte> packed = archive.part(begin, entry.compressed);
  std::vector<std::byte> data;
  if (entry.method == kDeflated) {
    data = inflate_entry(packed, entry);
  } else if (entry.method == kStored && entry.size == entry.compressed) {
    data.assign(packed.begin(), packed.end());
  } else {
    throw NpyError("packs '" + entry.name + "' by method " + std::to_string(entry.method) +
                   "; 0 and 8 are known");
  }
  if (checksum_of(data) != entry.checksum)
    throw NpyError("has damaged data for '" + entry.name + "': the checksum differs");
  return data;
}

NpyArray decode_member(const Archive& archive, const Entry& entry) {
  try {
    return decode_npy(unpack(archive, entry));
  } catch (const NpyError& error) {
    const std::string text = error.what();
    throw NpyError(text.find('\'' + entry.name + '\'') == std::string::npos
                       ? "member '" + entry.name + "' " + text
                       : text);
  }
}

class Output {
 public:
  template <class... T>
  void add(T... numbers) {
    (add_bytes(&numbers, sizeof numbers), ...);
  }
  void add_bytes(const void* data, std::size_t count) {
    const std::byte* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + count);
  }
  std::vector<std::byte> bytes;
};

using Half16 = std::uint16_t;
constexpr Half16 kVersion = 20, kNone = 0, kDate = 0x21;  // 1980-01-01

void add_fields(Output& out, const Entry& e) {
  out.add(kVersion, kNone, kStored, kNone, kDate, e.checksum,
          static_cast<std::uint32_t>(e.compressed), static_cast<std::uint32_t>(e.size),
          static_cast<Half16>(e.name.size()), kNone);
}

}  // namespace

NpyArrays decode_npz(std::span<const std::byte> bytes) {
  const Archive archive(bytes);
  const std::uint64_t end = archive.find_end();
  const std::uint16_t count = archive.number<std::uint16_t>(end + 10);
  std::uint64_t at = archive.number<std::uint32_t>(end + 16);
  NpyArrays arrays;
  std::set<std::string> names;
  for (std::uint16_t i = 0; i < count; ++i) {
    const Entry entry = read_entry(archive, at);
    std::string name = entry.name;
    if (name.size() > 4 && name.ends_with(".npy")) name.resize(name.size() - 4);
    if (!names.insert(name).second) throw NpyError("has two members '" + name + "'");
    arrays.emplace_back(std::move(name), decode_member(archive, entry));
  }
  return arrays;
}

std::vector<std::byte> encode_npz(const NpyArrays& arrays) {
  Output out;
  std::vector<Entry> entries;
  for (const auto& [name, array] : arrays) {
    const std::vector<std::byte> data = encode_npy(array);
    if (data.size() >= 0xffffffff || out.bytes.size() >= 0xffffffff - data.size() ||
        name.size() > 0xff00) {
      throw NpyError("array '" + name + "' does not fit an archive of 4 GB");
    }
    entries.push_back(
        {name + ".npy", kStored, checksum_of(data), data.size(), data.size(), out.bytes.size()});
    out.add(kLocal);
    add_fields(out, entries.back());
    out.add_bytes(entries.back().name.data(), entries.back().name.size());
    out.add_bytes(data.data(), data.size());
  }
  const std::uint32_t directory = static_cast<std::uint32_t>(out.bytes.size());
  for (const Entry& e : entries) {
    out.add(kCentral, kVersion);
    add_fields(out, e);
    out.add(kNone, kNone, kNone, std::uint32_t{0}, static_cast<std::uint32_t>(e.local));
    out.add_bytes(e.name.data(), e.name.size());
  }
  const Half16 count = static_cast<Half16>(entries.size());
  const std::uint32_t size = static_cast<std::uint32_t>(out.bytes.size()) - directory;
  out.add(kEnd, kNone, kNone, count, count, size, directory, kNone);
  return std::move(out.bytes);
}

}  // namespace heddle
