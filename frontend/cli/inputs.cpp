#include "heddle/frontend/cli/inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "heddle/frontend/cli/arrays.h"
#include "heddle/frontend/params.h"
#include "heddle/graph/extents.h"
#include "heddle/graph/number_text.h"
#include "heddle/graph/scalar_convert.h"

namespace heddle::cli {
namespace {

[[noreturn]] void fail(const std::string& specification, const std::string& message) {
  throw ValueError(
      {.message =
           "input '" + specification + "': " + message +
           "; forms are x=@x.npy, x=@all.npz:x, x=2x3xf32=0, x=random:7 and x=random:7:LOW:HIGH"});
}

double number(const std::string& specification, std::string_view text) {
  if (const auto value = parse_float(text)) return *value;
  fail(specification, "'" + std::string(text) + "' is no number");
}

Literal from_random(const std::string& spec, const Type& type, const std::string& name,
                    std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), ':');
  std::uint64_t seed = 0;
  if (parts[0] != "random" || (parts.size() != 2 && parts.size() != 4))
    fail(spec, "random takes a seed, or a seed and a range");
  if (!absl::SimpleAtoi(parts[1], &seed)) fail(spec, "'" + parts[1] + "' is no seed");
  const double low = parts.size() == 4 ? number(spec, parts[2]) : is_floating(type.dtype) ? -1 : 0;
  const double high = parts.size() == 4 ? number(spec, parts[3]) : is_floating(type.dtype) ? 1 : 2;
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) fail(spec, "no range");
  return random_literal(type, seed, name, low, high);
}

[[noreturn]] void fail_value(const std::string& name, DType dtype, std::string_view text) {
  throw ValueError(
      {.message = "input '" + name + "': the value of its elements",
       .found = "'" + std::string(text) + "'",
       .needed = range_text(dtype) + ", as " + std::string(name_of(dtype)) + " holds"});
}

// Whole numbers do not pass through a double unless they are written as one: 1e3.
template <class T>
T parse_value(const std::string& name, std::string_view text) {
  const DType dtype = dtype_of<T>;
  if constexpr (std::is_same_v<T, bool>) {
    if (text == "true") return true;
    if (text == "false") return false;
  } else if constexpr (std::is_integral_v<T>) {
    T whole = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (error == std::errc() && end == text.data() + text.size()) return whole;
    if (error == std::errc::result_out_of_range) fail_value(name, dtype, text);
  }
  const std::optional<double> value = parse_float(text);
  if (!value) fail_value(name, dtype, text);
  const T element = convert_element<T>(*value);
  const double kept = convert_element<double>(element);
  const bool held =
      is_floating(dtype) ? std::isfinite(kept) || !std::isfinite(*value) : kept == *value;
  if (!held) fail_value(name, dtype, text);
  return element;
}

// "2x3xf32=0": extents, dtype, the value of every element.
Literal from_fill(const std::string& spec, const std::string& name, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) fail(spec, "no value");
  std::vector<std::string> parts = absl::StrSplit(std::string(text.substr(0, equals)), 'x');
  const auto dtype = parse_dtype(parts.back());
  if (!dtype) fail(spec, "'" + parts.back() + "' is no element type");
  parts.pop_back();
  Dims dims;
  for (const std::string& p : parts) {
    std::int64_t extent = 0;
    if (!absl::SimpleAtoi(p, &extent) || extent < 0) fail(spec, "'" + p + "' is no extent");
    dims.push_back(extent);
  }
  const Type type{*dtype, dims};
  check_extents(type, "input '" + name + "'", "", {});
  return dispatch_dtype(*dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const T value = parse_value<T>(name, text.substr(equals + 1));
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
    std::fill_n(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T), value);
    return literal_from_bytes(type, std::move(bytes));
  });
}

Literal read_input(const std::string& spec, const Type& type, const std::string& name,
                   std::string_view text) {
  if (text.starts_with("random")) return from_random(spec, type, name, text);
  if (text.starts_with("@")) return read_array(std::string(text.substr(1)), name);
  return from_fill(spec, name, text);
}

}  // namespace

Literal random_literal(const Type& type, std::uint64_t seed, const std::string& name, double low,
                       double high) {
  const Literal unit = uniform({DType::f64, type.dims}, 1, seed, name);
  std::vector<double> values;
  for (double u : view<double>(unit)) {
    const double x = low + (u + 1) / 2 * (high - low);
    values.push_back(is_floating(type.dtype) ? x : std::floor(x));
  }
  return convert(make_literal<double>(type.dims, std::span<const double>(values)), type.dtype);
}

std::vector<Literal> random_inputs(const Function& function, std::uint64_t seed) {
  std::vector<Literal> inputs;
  for (const Input& in : function.inputs) {
    const Type& type = function.type(in.value);
    const bool floating = is_floating(type.dtype);
    inputs.push_back(random_literal(type, seed, in.name, floating ? -1 : 0, floating ? 1 : 2));
  }
  return inputs;
}

std::vector<Literal> read_inputs(const Function& function,
                                 std::span<const std::string> specifications) {
  std::map<std::string, Literal> given;
  for (const std::string& spec : specifications) {
    const std::size_t equals = spec.find('=');
    if (equals == spec.npos) fail(spec, "no '='");
    const std::string name = spec.substr(0, equals);
    const Type& type = function.type(input_value(function, name));
    Literal value = read_input(spec, type, name, std::string_view(spec).substr(equals + 1));
    if (value.type != type) {
      throw ValueError({.message = "@" + function.name + ": input '" + name + "'",
                        .found = to_text(value.type),
                        .needed = to_text(type)});
    }
    if (!given.emplace(name, std::move(value)).second) fail(spec, "given twice");
  }
  std::vector<Literal> inputs;
  for (const Input& in : function.inputs) {
    auto it = given.find(in.name);
    if (it == given.end()) {
      throw ValueError({.message = "@" + function.name + ": input '" + in.name + "' is not given",
                        .needed = in.name + "=...: " + to_text(function.type(in.value))});
    }
    inputs.push_back(it->second);
  }
  return inputs;
}

}  // namespace heddle::cli
