// Elements as numbers: reading any dtype, telling the finite ones, and the streams that check files
// are made of.
#include "heddle/runtime/core/core.h"

namespace hdcore {
namespace {

template <class T>
T load(const void* data, uint64_t i) {
  T value;
  memcpy(&value, static_cast<const uint8_t*>(data) + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(void* data, uint64_t i, double value) {
  const T converted = static_cast<T>(value);
  memcpy(static_cast<uint8_t*>(data) + i * sizeof(T), &converted, sizeof(T));
}

float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

double half_as_double(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = h >> 10 & 0x1fu, mantissa = h & 0x3ffu;
  if (exponent == 0x1f) return from_bits(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) return (sign ? -1.0 : 1.0) * mantissa / 16777216.0;
  return from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

double round_down(double value) {
  const double whole = static_cast<double>(static_cast<int64_t>(value));
  return whole > value ? whole - 1 : whole;
}

}  // namespace

double element_as_double(uint32_t dtype, const void* data, uint64_t i) {
  switch (dtype) {
    case HD_BOOL:
    case HD_U8:
      return load<uint8_t>(data, i);
    case HD_I8:
      return load<int8_t>(data, i);
    case HD_I16:
      return load<int16_t>(data, i);
    case HD_I32:
      return load<int32_t>(data, i);
    case HD_I64:
      return static_cast<double>(load<int64_t>(data, i));
    case HD_U16:
      return load<uint16_t>(data, i);
    case HD_U32:
      return load<uint32_t>(data, i);
    case HD_U64:
      return static_cast<double>(load<uint64_t>(data, i));
    case HD_F16:
      return half_as_double(load<uint16_t>(data, i));
    case HD_BF16:
      return from_bits(static_cast<uint32_t>(load<uint16_t>(data, i)) << 16);
    case HD_F32:
      return load<float>(data, i);
    case HD_F64:
      return load<double>(data, i);
  }
  return 0;
}

int64_t element_as_integer(uint32_t dtype, const void* data, uint64_t i) {
  if (dtype == HD_I64 || dtype == HD_U64) return load<int64_t>(data, i);
  return static_cast<int64_t>(element_as_double(dtype, data, i));
}

bool is_finite_element(uint32_t dtype, const void* element) {
  switch (dtype) {
    case HD_F16:
      return (load<uint16_t>(element, 0) & 0x7c00u) != 0x7c00u;
    case HD_BF16:
      return (load<uint16_t>(element, 0) & 0x7f80u) != 0x7f80u;
    case HD_F32:
      return (load<uint32_t>(element, 0) & 0x7f800000u) != 0x7f800000u;
    case HD_F64:
      return (load<uint64_t>(element, 0) >> 52 & 0x7ffu) != 0x7ffu;
  }
  return true;
}

// SplitMix64 (Steele, Lea, Flood 2014) as a counter-based generator.
double uniform(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 40) / 16777216.0;
}

void fill_uniform(uint32_t dtype, void* data, uint64_t count, double low, double high,
                  uint64_t seed) {
  for (uint64_t i = 0; i < count; ++i) {
    const double value = low + (high - low) * uniform(seed, i);
    const double whole = dtype < HD_F16 ? round_down(value) : value;
    switch (dtype) {
      case HD_BOOL:
        store<uint8_t>(data, i, value >= (low + high) / 2);
        break;
      case HD_I8:
        store<int8_t>(data, i, whole);
        break;
      case HD_I16:
        store<int16_t>(data, i, whole);
        break;
      case HD_I32:
        store<int32_t>(data, i, whole);
        break;
      case HD_I64:
        store<int64_t>(data, i, whole);
        break;
      case HD_U8:
        store<uint8_t>(data, i, whole);
        break;
      case HD_U16:
        store<uint16_t>(data, i, whole);
        break;
      case HD_U32:
        store<uint32_t>(data, i, whole);
        break;
      case HD_U64:
        store<uint64_t>(data, i, whole);
        break;
      case HD_F32:
        store<float>(data, i, value);
        break;
      case HD_F64:
        store<double>(data, i, value);
        break;
    }
  }
}

// 2^exponent of the unit in the last place at `magnitude`.
double ulp_of(uint32_t dtype, double magnitude) {
  int bits = 52, lowest = -1022;
  if (dtype == HD_F32) bits = 23, lowest = -126;
  if (dtype == HD_F16) bits = 10, lowest = -14;
  if (dtype == HD_BF16) bits = 7, lowest = -126;
  uint64_t pattern;
  memcpy(&pattern, &magnitude, sizeof pattern);
  int exponent = static_cast<int>(pattern >> 52 & 0x7ff) - 1023;
  if (exponent < lowest) exponent = lowest;
  double ulp = 1;
  for (int e = exponent - bits; e < 0; ++e) ulp /= 2;
  for (int e = exponent - bits; e > 0; --e) ulp *= 2;
  return ulp;
}

}  // namespace hdcore
