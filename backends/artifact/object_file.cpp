// Layouts: System V ABI, "Object files"; <mach-o/loader.h> and <mach-o/nlist.h>. All little-endian.
#include "heddle/backends/artifact/object_file.h"

#include <cstdint>
#include <set>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

constexpr std::uint64_t kElfMagic = 0x464c457f, kMachOMagic = 0xfeedfacf;
constexpr std::uint64_t kElfRelocatable = 1, kMachORelocatable = 1;
constexpr std::uint64_t kElfX86 = 62, kElfArm = 183;
constexpr std::uint64_t kMachOX86 = 0x01000007, kMachOArm = 0x0100000c;

// ELF: header fields, a section's, a symbol's.
constexpr std::size_t kElfHeader = 64, kSection = 64, kElfSymbol = 24;
constexpr std::uint64_t kSymbolTable = 2;
constexpr std::uint64_t kGlobal = 1, kWeak = 2, kHidden = 2;

// Mach-O.
constexpr std::size_t kMachOHeader = 32, kMachOSymbol = 16;
constexpr std::uint64_t kSymbolsCommand = 2;
constexpr std::uint64_t kDebugging = 0xe0, kPrivateExternal = 0x10, kKind = 0x0e, kExternal = 0x01;

// Little-endian number of 1, 2, 4 or 8 bytes; nothing past the end.
std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) throw std::out_of_range("object file");
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
  }
  return value;
}

void set_number(std::vector<std::byte>& bytes, std::size_t at, std::size_t size,
                std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<std::byte>(value >> 8 * i);
}

// Throws when [offset, offset + size) is not in the file.
void check_range(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw std::out_of_range("object file");
  }
}

}  // namespace

ObjectFile::ObjectFile(std::string name, std::vector<std::byte> bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)) {
  try {
    const std::uint64_t magic = number_at(bytes_, 0, 4);
    is_elf_ = magic == kElfMagic;
    if (!is_elf_ && magic != kMachOMagic) fail("it is neither ELF nor Mach-O");
    is_elf_ ? read_elf() : read_mach_o();
  } catch (const std::out_of_range&) {
    fail("it is cut short, or an offset in it points past its end");
  }
}

void ObjectFile::fail(const std::string& why) const {
  throw CompileError({.message = absl::StrCat("'", name_, "' is no object file: ", why),
                      .needed = "a relocatable object for 64 bits, ELF or Mach-O"});
}

void ObjectFile::read_elf() {
  const std::uint64_t machine = number_at(bytes_, 18, 2);
  if (number_at(bytes_, 16, 2) != kElfRelocatable) fail("it is linked already");
  if (number_at(bytes_, 4, 1) != 2 || (machine != kElfX86 && machine != kElfArm)) {
    fail("it is for another processor");
  }
  machine_ = machine == kElfX86 ? "x86-64-linux" : "arm-64-linux";
  const std::uint64_t first = number_at(bytes_, 40, 8), count = number_at(bytes_, 60, 2);
  check_range(bytes_, first, count * kSection);
  if (first < kElfHeader) fail("it has no sections");
  for (std::uint64_t s = 0; s < count; ++s) {
    const std::size_t table = first + s * kSection;
    if (number_at(bytes_, table + 4, 4) != kSymbolTable) continue;
    const std::uint64_t strings = number_at(bytes_, table + 40, 4);
    if (strings >= count) fail("its symbols have no names");
    return read_elf_symbols(table, first + strings * kSection);
  }
}

void ObjectFile::read_elf_symbols(std::size_t table, std::size_t strings) {
  const std::uint64_t begin = number_at(bytes_, table + 24, 8),
                      size = number_at(bytes_, table + 32, 8);
  check_range(bytes_, begin, size);
  strings_field_ = {strings + 24, 8}, strings_bytes_field_ = {strings + 32, 8};
  strings_ = number_at(bytes_, strings + 24, 8);
  strings_bytes_ = number_at(bytes_, strings + 32, 8);
  check_range(bytes_, strings_, strings_bytes_);
  for (std::uint64_t at = begin; at + kElfSymbol <= begin + size; at += kElfSymbol) {
    const std::uint64_t binding = number_at(bytes_, at + 4, 1) >> 4;
    if (binding != kGlobal && binding != kWeak) continue;
    symbols_.push_back({at, text_at(number_at(bytes_, at, 4)), number_at(bytes_, at + 6, 2) != 0});
  }
}

void ObjectFile::read_mach_o() {
  const std::uint64_t machine = number_at(bytes_, 4, 4);
  if (number_at(bytes_, 12, 4) != kMachORelocatable) fail("it is linked already");
  if (machine != kMachOX86 && machine != kMachOArm) fail("it is for another processor");
  machine_ = machine == kMachOX86 ? "x86-64-osx" : "arm-64-osx";
  std::size_t command = kMachOHeader;
  for (std::uint64_t c = number_at(bytes_, 16, 4); c > 0; --c) {
    const std::uint64_t size = number_at(bytes_, command + 4, 4);
    if (number_at(bytes_, command, 4) == kSymbolsCommand) return read_mach_o_symbols(command);
    if (size < 8) fail("a command of no size");
    command += size;
  }
}

void ObjectFile::read_mach_o_symbols(std::size_t command) {
  const std::uint64_t begin = number_at(bytes_, command + 8, 4),
                      count = number_at(bytes_, command + 12, 4);
  check_range(bytes_, begin, count * kMachOSymbol);
  strings_field_ = {command + 16, 4}, strings_bytes_field_ = {command + 20, 4};
  strings_ = number_at(bytes_, command + 16, 4);
  strings_bytes_ = number_at(bytes_, command + 20, 4);
  check_range(bytes_, strings_, strings_bytes_);
  for (std::uint64_t at = begin; at < begin + count * kMachOSymbol; at += kMachOSymbol) {
    const std::uint64_t type = number_at(bytes_, at + 4, 1);
    if (type & kDebugging || !(type & kExternal)) continue;
    const std::string name = text_at(number_at(bytes_, at, 4));
    if (!name.starts_with('_')) continue;  // no name of C
    symbols_.push_back({at, name.substr(1), (type & kKind) != 0});
  }
}

std::string ObjectFile::text_at(std::size_t offset) const {
  std::string text;
  for (std::size_t at = offset; at < strings_bytes_; ++at) {
    const char c = std::to_integer<char>(bytes_[strings_ + at]);
    if (c == 0) return text;
    text += c;
  }
  throw std::out_of_range("object file");
}

std::vector<std::string> ObjectFile::names(bool defined) const {
  std::set<std::string> names;
  for (const Symbol& s : symbols_) {
    if (s.is_defined == defined && !s.name.empty()) names.insert(s.name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> ObjectFile::defined() const { return names(true); }
std::vector<std::string> ObjectFile::undefined() const { return names(false); }

void ObjectFile::rename(const std::map<std::string, std::string>& names) {
  const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(strings_);
  std::vector<std::byte> strings(first, first + static_cast<std::ptrdiff_t>(strings_bytes_));
  for (Symbol& s : symbols_) {
    const auto found = names.find(s.name);
    if (found == names.end()) continue;
    s.name = found->second;
    set_number(bytes_, s.at, 4, strings.size());
    if (!is_elf_) strings.push_back(std::byte{'_'});
    for (char c : s.name) strings.push_back(static_cast<std::byte>(c));
    strings.push_back(std::byte{0});
  }
  if (strings.size() == strings_bytes_) return;
  while (bytes_.size() % 8 != 0 || strings.size() % 8 != 0) {
    (bytes_.size() % 8 != 0 ? bytes_ : strings).push_back(std::byte{0});
  }
  strings_ = bytes_.size(), strings_bytes_ = strings.size();
  bytes_.insert(bytes_.end(), strings.begin(), strings.end());
  set_number(bytes_, strings_field_.at, strings_field_.bytes, strings_);
  set_number(bytes_, strings_bytes_field_.at, strings_bytes_field_.bytes, strings_bytes_);
}

void ObjectFile::hide_unless(const std::function<bool(const std::string&)>& keep) {
  for (const Symbol& s : symbols_) {
    if (!s.is_defined || keep(s.name)) continue;
    const std::size_t at = s.at + (is_elf_ ? 5 : 4);
    const std::uint64_t flags = number_at(bytes_, at, 1);
    set_number(bytes_, at, 1, is_elf_ ? (flags & ~3ull) | kHidden : flags | kPrivateExternal);
  }
}

}  // namespace heddle
