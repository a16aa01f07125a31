// Texts of messages.
#include "heddle/runtime/core/core.h"

namespace hdcore {

bool Text::grow() {
  const size_t size = size_ ? 2 * size_ : 1024;
  void* more = memory_ ? memory_->allocate(memory_->allocator_user, size, HD_ALIGNMENT) : nullptr;
  if (!more) return false;
  if (size_) {
    memcpy(more, data_, length_);
    memory_->release(memory_->allocator_user, data_, size_);
  }
  data_ = static_cast<char*>(more);
  size_ = size;
  return true;
}

void Text::add(char c) {
  if (length_ + 1 >= size_ && !grow()) {
    cut_ = true;
    return;
  }
  data_[length_++] = c;
  data_[length_] = 0;
}

Text& Text::operator<<(const char* text) {
  for (; text && *text; ++text) add(*text);
  return *this;
}

Text& Text::operator<<(uint64_t value) {
  char digits[24];
  int n = 0;
  do {
    digits[n++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value);
  while (n) add(digits[--n]);
  return *this;
}

Text& Text::operator<<(int64_t value) {
  if (value >= 0) return *this << static_cast<uint64_t>(value);
  add('-');
  return *this << (uint64_t{0} - static_cast<uint64_t>(value));
}

Text& Text::operator<<(double value) {
  if (value != value) return *this << "nan";
  if (value < 0) {
    add('-');
    value = -value;
  }
  if (value > 1.7976931348623157e308) return *this << "inf";
  if (value == 0) return *this << "0";
  int exponent = 0;
  for (; value >= 10; ++exponent) value /= 10;
  for (; value < 1; --exponent) value *= 10;
  uint64_t scaled = static_cast<uint64_t>(value * 100 + 0.5);
  if (scaled >= 1000) {
    scaled /= 10;
    ++exponent;
  }
  *this << scaled / 100;
  if (scaled % 100) {
    add('.');
    add(static_cast<char>('0' + scaled / 10 % 10));
    if (scaled % 10) add(static_cast<char>('0' + scaled % 10));
  }
  return exponent ? *this << "e" << exponent : *this;
}

Text& Text::add_type(uint32_t dtype, uint32_t rank, const int64_t* extents) {
  *this << name_of(dtype) << "[";
  for (uint32_t i = 0; i < rank; ++i) *this << (i ? "," : "") << extents[i];
  return *this << "]";
}

uint32_t size_of(uint32_t dtype) {
  static const uint8_t kSizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return dtype <= HD_F64 ? kSizes[dtype] : 0;
}

const char* name_of(uint32_t dtype) {
  static const char* const kNames[] = {"?",   "bool", "i8",  "i16", "i32",  "i64", "u8",
                                       "u16", "u32",  "u64", "f16", "bf16", "f32", "f64"};
  return dtype <= HD_F64 ? kNames[dtype] : "?";
}

uint64_t count_elements(const int64_t* extents, uint32_t rank) {
  constexpr uint64_t kMost = kMostElements;  // stays below overflow times any element size
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(extents[i]), &count) || count > kMost)
      count = kMost;
  }
  return count;
}

}  // namespace hdcore
