// Where two dtypes, and two shapes, meet.
#include <algorithm>

#include "heddle/graph/call.h"

namespace heddle {
namespace {

constexpr DType kBo = DType::boolean, kI8 = DType::i8, kI16 = DType::i16, kI32 = DType::i32,
                kI64 = DType::i64, kU8 = DType::u8, kU16 = DType::u16, kU32 = DType::u32,
                kU64 = DType::u64, kF16 = DType::f16, kBf = DType::bf16, kF32 = DType::f32,
                kF64 = DType::f64;

// Rows and columns in the order of DType. Signed and unsigned integers meet in the next wider
// signed one; u64 and a signed one have none, and meet in f32.
// clang-format off
constexpr DType kMeet[13][13] = {
    // bool  i8    i16   i32   i64   u8    u16   u32   u64   f16   bf16  f32   f64
    {  kBo,  kI8,  kI16, kI32, kI64, kU8,  kU16, kU32, kU64, kF16, kBf,  kF32, kF64},  // bool
    {  kI8,  kI8,  kI16, kI32, kI64, kI16, kI32, kI64, kF32, kF16, kBf,  kF32, kF64},  // i8
    {  kI16, kI16, kI16, kI32, kI64, kI16, kI32, kI64, kF32, kF16, kBf,  kF32, kF64},  // i16
    {  kI32, kI32, kI32, kI32, kI64, kI32, kI32, kI64, kF32, kF16, kBf,  kF32, kF64},  // i32
    {  kI64, kI64, kI64, kI64, kI64, kI64, kI64, kI64, kF32, kF16, kBf,  kF32, kF64},  // i64
    {  kU8,  kI16, kI16, kI32, kI64, kU8,  kU16, kU32, kU64, kF16, kBf,  kF32, kF64},  // u8
    {  kU16, kI32, kI32, kI32, kI64, kU16, kU16, kU32, kU64, kF16, kBf,  kF32, kF64},  // u16
    {  kU32, kI64, kI64, kI64, kI64, kU32, kU32, kU32, kU64, kF16, kBf,  kF32, kF64},  // u32
    {  kU64, kF32, kF32, kF32, kF32, kU64, kU64, kU64, kU64, kF16, kBf,  kF32, kF64},  // u64
    {  kF16, kF16, kF16, kF16, kF16, kF16, kF16, kF16, kF16, kF16, kF32, kF32, kF64},  // f16
    {  kBf,  kBf,  kBf,  kBf,  kBf,  kBf,  kBf,  kBf,  kBf,  kF32, kBf,  kF32, kF64},  // bf16
    {  kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF64},  // f32
    {  kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64},  // f64
};
// clang-format on

}  // namespace

DType promote(DType a, DType b) {
  return kMeet[static_cast<std::size_t>(a) - 1][static_cast<std::size_t>(b) - 1];
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  const Dims &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  Dims dims = longer;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Dim& d = dims[longer.size() - shorter.size() + i];
    if (d == shorter[i] || shorter[i] == Dim(1)) continue;
    if (d != Dim(1)) {
      throw ValueError({.message = "shapes do not broadcast: extents " + to_text(d) + " and " +
                                   to_text(shorter[i]) + " are neither equal nor 1",
                        .found = to_text(a) + " and " + to_text(b)});
    }
    d = shorter[i];
  }
  return dims;
}

}  // namespace heddle
