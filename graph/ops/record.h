// What records are written with: role lists, dtype checks, common inference, workload rows.
#ifndef HEDDLE_GRAPH_OPS_RECORD_H_
#define HEDDLE_GRAPH_OPS_RECORD_H_

#include <string>
#include <vector>

#include "heddle/graph/operation.h"

namespace heddle::ops {

using Literals = std::vector<Literal>;
using Inputs = std::span<const Literal>;
using Tangents = std::span<const MaybeValue>;
using Types = std::vector<Type>;
using Evaluate = Literals (*)(At, Inputs);
using Rows = std::vector<Workload> (*)();

inline constexpr Role kNoGrad[] = {Role::no_grad, Role::no_grad, Role::no_grad};
inline constexpr Role kLinear[] = {Role::linear, Role::linear};
inline constexpr Role kSmooth[] = {Role::smooth, Role::smooth, Role::smooth};
inline constexpr Role kMultilinear[] = {Role::multilinear, Role::multilinear};
/// The first `count` of a list above.
template <std::size_t kCount, std::size_t kSize>
consteval std::span<const Role> first(const Role (&roles)[kSize]) {
  static_assert(kCount <= kSize);
  return std::span<const Role>(roles, kCount);
}

/// Families of dtypes an operation takes; sums of them are sets.
enum Kinds : int { kBool = 1, kInteger = 2, kFloat = 4, kNumber = 6, kBits = 3, kAny = 7 };
constexpr int kind_of(DType d) {
  return d == DType::boolean ? kBool : is_floating(d) ? kFloat : kInteger;
}
/// "a floating dtype", "an integer or floating dtype" ...
std::string_view words(int kinds);

/// TypeError naming operands[i].dtype unless the dtype is of `kinds`.
void check_kind(At at, std::size_t operand, int kinds);
/// TypeError unless operand i has the dtype of operand `like`.
void check_same_dtype(At at, std::size_t operand, std::size_t like = 0);
/// TypeError unless operand i is of `dtype`.
void check_dtype(At at, std::size_t operand, DType dtype);
/// ValueError unless operand i has the extents of operand `like`.
void check_same_dims(At at, std::size_t operand, std::size_t like = 0);
/// ValueError unless 0 <= axis < rank.
void check_axis(At at, const char* field, std::int64_t axis, std::size_t rank);
/// ValueError unless the axes are in range, distinct and ascending.
void check_axes(At at, const char* field, const std::vector<std::int64_t>& axes, std::size_t rank);
/// ValueError unless a list attribute has one entry per axis of operand 0.
void check_entries(At at, const char* field, std::size_t found, std::size_t rank);

/// `kCount` operands of one type, which is the result's too.
template <std::size_t kCount, int kKinds>
Types infer_same(At at) {
  check_operand_count(at, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    check_kind(at, i, kKinds);
    if (i > 0) check_same_dtype(at, i);
    if (i > 0) check_same_dims(at, i);
  }
  return {at.operands[0]};
}

/// A type with constant extents: type_of(DType::f32, {2, 3}).
Type type_of(DType dtype, Dims dims = {});

/// Rows of an elementwise operation with `operands` equal operands: odd extents, rank 0, extent 1,
/// empty, and one row of every other dtype it takes.
std::vector<Workload> elementwise_rows(std::size_t operands, int kinds, double low, double high,
                                       int order);
template <std::size_t kCount, int kKinds, double kLow = -4.0, double kHigh = 4.0, int kOrder = 2>
std::vector<Workload> rows() {
  return elementwise_rows(kCount, kKinds, kLow, kHigh, kOrder);
}

/// {flops, bytes}: `flops` per element of the first result; operands and results pass once. The
/// elementary functions cost about ten additions.
std::pair<std::int64_t, std::int64_t> cost(At at, const Bindings& symbols, std::int64_t flops);
template <int kFlops>
std::pair<std::int64_t, std::int64_t> per_element(At at, const Bindings& symbols) {
  return cost(at, symbols, kFlops);
}
using Roofline = std::pair<std::int64_t, std::int64_t> (*)(At, const Bindings&);

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_RECORD_H_
