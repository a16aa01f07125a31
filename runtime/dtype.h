// The thirteen element types, their names and sizes, and the one switch over them.
#ifndef HEDDLE_RUNTIME_DTYPE_H_
#define HEDDLE_RUNTIME_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "heddle/runtime/half.h"

namespace heddle {

/// Element type. The numbers are written to disk: never reuse or reorder them.
enum class DType : std::uint8_t {
  boolean = 1,  ///< one byte, 0 or 1
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,   ///< IEEE binary16
  bf16,  ///< the upper half of an IEEE binary32
  f32,
  f64
};

inline constexpr DType kAllDTypes[] = {
    DType::boolean, DType::i8,  DType::i16, DType::i32,  DType::i64, DType::u8, DType::u16,
    DType::u32,     DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64};

/// Calls `f(std::type_identity<T>{})` with the C++ type of `dtype` (bool, int8_t .. double, Half,
/// BFloat16).
template <class F>
constexpr decltype(auto) dispatch_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      return f(std::type_identity<bool>{});
    case DType::i8:
      return f(std::type_identity<std::int8_t>{});
    case DType::i16:
      return f(std::type_identity<std::int16_t>{});
    case DType::i32:
      return f(std::type_identity<std::int32_t>{});
    case DType::i64:
      return f(std::type_identity<std::int64_t>{});
    case DType::u8:
      return f(std::type_identity<std::uint8_t>{});
    case DType::u16:
      return f(std::type_identity<std::uint16_t>{});
    case DType::u32:
      return f(std::type_identity<std::uint32_t>{});
    case DType::u64:
      return f(std::type_identity<std::uint64_t>{});
    case DType::f16:
      return f(std::type_identity<Half>{});
    case DType::bf16:
      return f(std::type_identity<BFloat16>{});
    case DType::f32:
      return f(std::type_identity<float>{});
    case DType::f64:
      break;
  }
  return f(std::type_identity<double>{});
}

/// The DType of a C++ element type: dtype_of<float> == DType::f32.
template <class T>
inline constexpr DType dtype_of = [] {
  for (DType d : kAllDTypes) {
    if (dispatch_dtype(d, [](auto t) { return std::is_same_v<typename decltype(t)::type, T>; })) {
      return d;
    }
  }
  throw "no element type of Heddle";
}();

constexpr std::size_t size_of(DType dtype) {
  return dispatch_dtype(dtype, [](auto t) { return sizeof(typename decltype(t)::type); });
}
constexpr bool is_floating(DType d) { return d >= DType::f16; }
constexpr bool is_integer(DType d) { return d >= DType::i8 && d <= DType::u64; }
constexpr bool is_signed(DType d) { return is_floating(d) || (d >= DType::i8 && d <= DType::i64); }

/// "bool", "i8" .. "f64": the spelling in program text, in headers and in errors.
constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view kNames[] = {"",    "bool", "i8",  "i16", "i32",  "i64", "u8",
                                         "u16", "u32",  "u64", "f16", "bf16", "f32", "f64"};
  return kNames[static_cast<std::size_t>(dtype)];
}
constexpr std::optional<DType> parse_dtype(std::string_view name) {
  for (DType d : kAllDTypes) {
    if (name_of(d) == name) return d;
  }
  return std::nullopt;
}

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_DTYPE_H_
