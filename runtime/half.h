// 16-bit floating point as storage: conversion to and from float is all they do.
// Rounding is to nearest, ties to even; NaN stays NaN (quiet), infinities and subnormals are kept.
#ifndef HEDDLE_RUNTIME_HALF_H_
#define HEDDLE_RUNTIME_HALF_H_

#include <bit>
#include <cstdint>

namespace heddle {

/// IEEE binary16.
class Half {
 public:
  constexpr Half() = default;
  constexpr explicit Half(float value) : bits_(encode(value)) {}
  constexpr explicit operator float() const { return decode(bits_); }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  static constexpr std::uint16_t encode(float value) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(value);
    const std::uint16_t sign = static_cast<std::uint16_t>(u >> 16 & 0x8000u);
    const std::uint32_t magnitude = u & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // rounds above 65504
    if (magnitude < 0x38800000u) {                        // subnormal half: units of 2^-24
      const float scaled = std::bit_cast<float>(magnitude) + 0.5f;  // aligns the last bit to 2^-24
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(scaled) - 0x3f000000u));
    }
    const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
  static constexpr float decode(std::uint16_t h) {
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
    const std::uint32_t exponent = h >> 10 & 0x1fu, mantissa = h & 0x3ffu;
    if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
    if (exponent == 0) {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  }
  std::uint16_t bits_ = 0;
};

/// The upper 16 bits of a binary32.
class BFloat16 {
 public:
  constexpr BFloat16() = default;
  constexpr explicit BFloat16(float value) : bits_(encode(value)) {}
  constexpr explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  static constexpr std::uint16_t encode(float value) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(value);
    if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(u >> 16 | 0x40u);
    return static_cast<std::uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
  }
  std::uint16_t bits_ = 0;
};

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_HALF_H_
