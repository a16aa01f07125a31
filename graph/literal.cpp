#include "heddle/graph/literal.h"

#include <algorithm>
#include <limits>

#include "heddle/graph/number_text.h"
#include "heddle/graph/scalar_convert.h"

namespace heddle {

bool operator==(const Literal& a, const Literal& b) {
  return a.type == b.type && *a.bytes == *b.bytes;
}

Literal literal_from_bytes(Type type, std::vector<std::byte> bytes) {
  if (byte_count(type) != static_cast<std::int64_t>(bytes.size())) {
    throw ValueError({.message = "wrong number of bytes for a constant " + to_text(type),
                      .found = std::to_string(bytes.size()),
                      .needed = std::to_string(byte_count(type))});
  }
  return {std::move(type), std::make_shared<const std::vector<std::byte>>(std::move(bytes))};
}

std::string range_text(DType dtype) {
  return dispatch_dtype(dtype, [&](auto t) -> std::string {
    using T = typename decltype(t)::type;
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      return "a whole number from " + std::to_string(Limits::min()) + " to " +
             std::to_string(Limits::max());
    }
    if (dtype == DType::f16) return "a number of at most 65504";
    if (dtype == DType::bf16) return "a number of at most 3.3895314e+38";
    if (dtype == DType::f32) return "a number of at most 3.4028235e+38";
    return "a number of at most 1.7976931348623157e+308";
  });
}

Literal splat(const Type& type, double value, Location where) {
  return dispatch_dtype(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const T element = convert_element<T>(value);
    if (std::is_integral_v<T> && convert_element<double>(element) != value) {
      throw ValueError(
          {.message = "a constant that its dtype cannot hold",
           .found = decimal_text(value),
           .needed = range_text(type.dtype) + ", as " + std::string(name_of(type.dtype)) + " holds",
           .where = where});
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
    T* out = reinterpret_cast<T*>(bytes.data());
    std::fill(out, out + bytes.size() / sizeof(T), element);
    return literal_from_bytes(type, std::move(bytes));
  });
}

double element_as_double(const Literal& literal, std::int64_t index) {
  return dispatch_dtype(literal.type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    return convert_element<double>(view<T>(literal)[static_cast<std::size_t>(index)]);
  });
}

std::vector<double> to_doubles(const Literal& literal) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < element_count(literal.type); ++i) {
    values.push_back(element_as_double(literal, i));
  }
  return values;
}

Literal convert(const Literal& literal, DType to) {
  std::vector<std::byte> bytes(literal.bytes->size() / size_of(literal.type.dtype) * size_of(to));
  dispatch_dtype(literal.type.dtype, [&](auto from_type) {
    using From = typename decltype(from_type)::type;
    dispatch_dtype(to, [&](auto to_type) {
      using To = typename decltype(to_type)::type;
      To* out = reinterpret_cast<To*>(bytes.data());
      for (From value : view<From>(literal)) *out++ = convert_element<To>(value);
    });
  });
  return literal_from_bytes({to, literal.type.dims}, std::move(bytes));
}

}  // namespace heddle
