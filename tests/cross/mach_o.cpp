// <mach-o/loader.h>, <mach-o/nlist.h>; the signature: cs_blobs.h of XNU (big-endian).
#include "cross/mach_o.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "heddle/graph/text.h"

namespace heddle::testing {
namespace {

class Reader {
 public:
  explicit Reader(const std::vector<std::byte>& file) : file_(file) {}

  std::uint32_t word(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | byte(at + i);
    return value;
  }
  std::uint32_t big_word(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | byte(at + i);
    return value;
  }
  std::uint32_t byte(std::size_t at) const {
    if (at >= file_.size()) throw std::runtime_error("cut short");
    return std::to_integer<std::uint32_t>(file_[at]);
  }
  std::string text(std::size_t at) const {
    std::string text;
    while (byte(at) != 0) text += static_cast<char>(byte(at++));
    return text;
  }
  std::span<const std::byte> part(std::size_t from, std::size_t size) const {
    if (from > file_.size() || size > file_.size() - from) throw std::runtime_error("cut short");
    return std::span(file_).subspan(from, size);
  }

 private:
  const std::vector<std::byte>& file_;
};

void read_symbols(const Reader& r, std::size_t command, MachO& out) {
  const std::size_t first = r.word(command + 8), count = r.word(command + 12),
                    strings = r.word(command + 16);
  for (std::size_t at = first; at < first + 16 * count; at += 16) {
    const std::uint32_t type = r.byte(at + 4), library = r.byte(at + 7);
    if (type & 0xe0 || !(type & 1)) continue;  // for debuggers, or local
    const std::string name = r.text(strings + r.word(at));
    if (type & 0x0e) {
      if (!(type & 0x10)) out.exported.push_back(name);
    } else {
      const bool is_given = library >= 1 && library <= out.libraries.size();
      (is_given ? out.imported : out.unresolved).push_back(name);
    }
  }
}

// Of the code directory: a hash for each page up to the limit.
void read_signature(const Reader& r, std::size_t at, MachO& out) {
  if (r.big_word(at) != 0xfade0cc0) throw std::runtime_error("no signature");
  const std::size_t directory = at + r.big_word(at + 16);
  if (r.big_word(directory) != 0xfade0c02) throw std::runtime_error("no code directory");
  const std::size_t hashes = directory + r.big_word(directory + 16),
                    pages = r.big_word(directory + 28), limit = r.big_word(directory + 32),
                    page = std::size_t{1} << r.byte(directory + 39);
  if (r.byte(directory + 36) != 32 || (pages - 1) * page >= limit || pages * page < limit) {
    throw std::runtime_error("a signature of another kind");
  }
  for (std::size_t p = 0; p < pages; ++p) {
    const auto digest = sha256(r.part(p * page, std::min(page, limit - p * page)));
    const auto stored = r.part(hashes + 32 * p, 32);
    const bool good = std::equal(digest.begin(), digest.end(), stored.begin(),
                                 [](std::uint8_t a, std::byte b) { return std::byte{a} == b; });
    ++(good ? out.good_pages : out.bad_pages);
  }
}

}  // namespace

MachO read_mach_o(const std::vector<std::byte>& file) {
  constexpr std::uint32_t kSymbols = 2, kLibrary = 0xc, kSignature = 0x1d, kSystem = 0x32;
  const Reader r(file);
  MachO out;
  if (r.word(0) != 0xfeedfacf || (r.word(12) != 2 && r.word(12) != 6)) {
    throw std::runtime_error("no linked Mach-O file");
  }
  out.is_arm = r.word(4) == 0x0100000c;
  std::size_t symbols = 0, at = 32;
  for (std::uint32_t c = 0; c < r.word(16); ++c, at += r.word(at + 4)) {
    const std::uint32_t command = r.word(at) & 0x7fffffff;
    if (command == kSymbols) symbols = at;
    if (command == kLibrary) out.libraries.push_back(r.text(at + r.word(at + 8)));
    if (command == kSignature) read_signature(r, r.word(at + 8), out);
    if (command == kSystem) {
      const std::uint32_t version = r.word(at + 12);
      out.smallest_system =
          std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 0xff);
    }
  }
  if (symbols != 0) read_symbols(r, symbols, out);
  return out;
}

}  // namespace heddle::testing
