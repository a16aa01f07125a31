// A constant tensor: type and bytes, shared and never changed.
#ifndef HEDDLE_GRAPH_LITERAL_H_
#define HEDDLE_GRAPH_LITERAL_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "heddle/graph/error.h"
#include "heddle/graph/type.h"

namespace heddle {

/// Dense, row-major, static extents. Copies share the bytes.
struct Literal {
  Type type;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

/// Same type and same bits.
bool operator==(const Literal& a, const Literal& b);

/// The elements, in row-major order. `T` must be the C++ type of the literal's dtype
/// (InternalError).
template <class T>
std::span<const T> view(const Literal& literal) {
  internal_check(dtype_of<T> == literal.type.dtype, "view of a literal with another element type");
  return {reinterpret_cast<const T*>(literal.bytes->data()), literal.bytes->size() / sizeof(T)};
}

/// ValueError when the number of bytes is not that of `type`.
Literal literal_from_bytes(Type type, std::vector<std::byte> bytes);

/// ValueError, with the caller's place, when `values` does not hold as many elements as `dims` say.
template <class T>
Literal make_literal(Dims dims, std::span<const T> values,
                     Location where = std::source_location::current()) {
  std::vector<std::byte> bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return with_context({.where = where}, [&] {
    return literal_from_bytes({dtype_of<T>, std::move(dims)}, std::move(bytes));
  });
}
template <class T>
Literal make_literal(Dims dims, std::initializer_list<T> values,
                     Location where = std::source_location::current()) {
  return make_literal<T>(std::move(dims), std::span<const T>(values.begin(), values.size()), where);
}

/// Every element is `value`, converted to the dtype (floats rounded to nearest; integers must hold
/// it exactly: ValueError with the caller's place).
Literal splat(const Type& type, double value, Location where = std::source_location::current());
/// What splat takes: "a whole number from -128 to 127", "a number of at most 65504".
std::string range_text(DType dtype);
/// A scalar of the given dtype.
inline Literal scalar(DType dtype, double value, Location where = std::source_location::current()) {
  return splat({dtype, {}}, value, where);
}

/// Element `index` as a double (an integer above 2^53 loses bits: for messages and comparisons
/// only).
double element_as_double(const Literal& literal, std::int64_t index);
/// All elements as doubles.
std::vector<double> to_doubles(const Literal& literal);

/// Conversion of the elements as operation `convert` does it.
Literal convert(const Literal& literal, DType to);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_LITERAL_H_
