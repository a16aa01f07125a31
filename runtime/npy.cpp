// The .npy format (numpy.lib.format): magic, version, length, and a Python dictionary of three
// entries.
#include "heddle/runtime/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "heddle/runtime/whole_file.h"

namespace heddle {
namespace {

constexpr std::size_t kMaxRank = 16;

struct Spelling {
  DType dtype;
  std::string_view descr;
};
constexpr Spelling kSpellings[] = {
    {DType::boolean, "|b1"}, {DType::i8, "|i1"},  {DType::i16, "<i2"}, {DType::i32, "<i4"},
    {DType::i64, "<i8"},     {DType::u8, "|u1"},  {DType::u16, "<u2"}, {DType::u32, "<u4"},
    {DType::u64, "<u8"},     {DType::f16, "<f2"}, {DType::f32, "<f4"}, {DType::f64, "<f8"}};

// Reads the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr")
        descr = string();
      else if (key == "fortran_order")
        fortran_order = boolean();
      else if (key == "shape")
        parse_shape();
      else
        throw NpyError("its header has an unknown entry '" + key + "'");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (descr.empty() || !has_shape_) throw NpyError("its header lacks descr or shape");
  }

  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

 private:
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      throw NpyError(std::string("its header is malformed: no '") + c + "' at byte " +
                     std::to_string(at_));
  }
  std::string string() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : 0;
    const std::size_t end =
        quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      throw NpyError("its header is malformed, or of a structured dtype: no text at byte " +
                     std::to_string(at_));
    }
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    throw NpyError("its header is malformed: fortran_order is neither True nor False");
  }
  void parse_shape() {
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      std::int64_t extent = -1;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0)
        throw NpyError("its header is malformed: a wrong extent");
      at_ = static_cast<std::size_t>(end - text_.data());
      shape.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    has_shape_ = true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_shape_ = false;
};

DType dtype_of_descr(const std::string& descr) {
  for (const Spelling& s : kSpellings) {
    if (descr == s.descr ||
        (s.descr[0] == '|' && descr.size() == 3 && descr.substr(1) == s.descr.substr(1)))
      return s.dtype;
  }
  if (!descr.empty() && descr[0] == '>')
    throw NpyError("it is big-endian ('" + descr + "'); save it little-endian");
  throw NpyError("it has the dtype '" + descr + "', which Heddle does not have");
}

std::uint64_t byte_count(const std::vector<std::int64_t>& shape, DType dtype) {
  std::uint64_t bytes = size_of(dtype);
  for (std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes) ||
        bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      throw NpyError("its shape is larger than any memory");
    }
  }
  return bytes;
}

std::uint32_t little_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

std::string header_of(const NpyArray& array) {
  const auto spelling = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                     [&](const Spelling& s) { return s.dtype == array.dtype; });
  if (spelling == std::end(kSpellings)) throw NpyError("NumPy has no bf16: convert to f32 first");
  std::string text =
      "{'descr': '" + std::string(spelling->descr) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    text += std::to_string(array.shape[i]) + (array.shape.size() == 1      ? ","
                                              : i + 1 < array.shape.size() ? ", "
                                                                           : "");
  }
  text += "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  return text + "\n";
}

std::vector<std::byte> read_whole(const std::string& path) {
  std::string reason;
  auto bytes = read_whole_file(path, reason);
  if (!bytes) throw NpyError("cannot be read: " + reason);
  return std::move(*bytes);
}

void write_whole(const std::string& path, std::span<const std::byte> bytes) {
  if (const auto reason = write_whole_file(path, bytes)) {
    throw NpyError("cannot be written: " + *reason);
  }
}

// Runs `work`; errors get the path in front.
template <class Work>
auto with_path(const std::string& path, Work work) {
  try {
    return work();
  } catch (const NpyError& error) {
    throw NpyError(path + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw NpyError(path + ": needs more memory than there is");
  }
}

}  // namespace

NpyArray decode_npy(std::span<const std::byte> bytes) {
  constexpr std::byte kMagic[] = {std::byte{0x93}, std::byte{'N'}, std::byte{'U'},
                                  std::byte{'M'},  std::byte{'P'}, std::byte{'Y'}};
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    throw NpyError("is no .npy file");
  const int version = std::to_integer<int>(bytes[6]);
  if (version < 1 || version > 3)
    throw NpyError("has .npy version " + std::to_string(version) + "; 1 to 3 are known");
  const std::size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) throw NpyError("is cut short");
  const std::size_t length = little_endian(bytes.subspan(8, begin - 8));
  if (length > bytes.size() - begin) throw NpyError("is cut short within its header");
  Header header({reinterpret_cast<const char*>(bytes.data()) + begin, length});
  header.parse();
  NpyArray array{dtype_of_descr(header.descr), std::move(header.shape), {}};
  if (array.shape.size() > kMaxRank)
    throw NpyError("has more than " + std::to_string(kMaxRank) + " axes");
  if (header.fortran_order && array.shape.size() > 1) {
    throw NpyError("is in Fortran order; save numpy.ascontiguousarray of it");
  }
  const std::span<const std::byte> data = bytes.subspan(begin + length);
  const std::uint64_t needed = byte_count(array.shape, array.dtype);
  if (data.size() != needed) {
    throw NpyError("has " + std::to_string(data.size()) + " bytes of data; its shape needs " +
                   std::to_string(needed));
  }
  array.data.assign(data.begin(), data.end());
  return array;
}

std::vector<std::byte> encode_npy(const NpyArray& array) {
  const std::string header = header_of(array);
  if (array.data.size() != byte_count(array.shape, array.dtype))
    throw NpyError("array whose bytes do not fit its shape");
  if (header.size() > 0xffff) throw NpyError("array with too many axes");
  const char begin[] = {'\x93',
                        'N',
                        'U',
                        'M',
                        'P',
                        'Y',
                        1,
                        0,
                        static_cast<char>(header.size() & 0xff),
                        static_cast<char>(header.size() >> 8)};
  std::vector<std::byte> bytes(sizeof begin + header.size() + array.data.size());
  std::memcpy(bytes.data(), begin, sizeof begin);
  std::memcpy(bytes.data() + sizeof begin, header.data(), header.size());
  std::copy(array.data.begin(), array.data.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(sizeof begin + header.size()));
  return bytes;
}

NpyArray read_npy(const std::string& path) {
  return with_path(path, [&] { return decode_npy(read_whole(path)); });
}
NpyArrays read_npz(const std::string& path) {
  return with_path(path, [&] { return decode_npz(read_whole(path)); });
}
void write_npy(const std::string& path, const NpyArray& array) {
  with_path(path, [&] { write_whole(path, encode_npy(array)); });
}
void write_npz(const std::string& path, const NpyArrays& arrays) {
  with_path(path, [&] { write_whole(path, encode_npz(arrays)); });
}

}  // namespace heddle
