#include "heddle/frontend/params.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "heddle/graph/scalar_convert.h"

namespace heddle {
namespace {

std::uint64_t split_mix(
    std::uint64_t x) {  // Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Tensor& Params::operator[](ParamPath at) {
  const std::string_view path = at.text();
  for (Leaf& leaf : leaves_) {
    if (leaf.first == path) return leaf.second;
  }
  const bool good =
      !path.empty() && path.front() != '.' && path.back() != '.' && path.find("..") == path.npos;
  if (!good) {
    throw ValueError({.message = "a path of Params is dotted names",
                      .found = "'" + std::string(path) + "'",
                      .where = at.where()});
  }
  leaves_.push_back({std::string(path), {}});
  return leaves_.back().second;
}

const Tensor& Params::operator[](ParamPath path) const {
  for (const Leaf& leaf : leaves_) {
    if (leaf.first == path.text()) return leaf.second;
  }
  fail_missing({std::string(path.text())}, "", path.where());
}

void Params::require(std::span<const std::string> wanted, std::string_view operation,
                     Location where) const {
  std::vector<std::string> missing;
  for (const std::string& path : wanted) {
    if (!contains(path)) missing.push_back(path);
  }
  if (!missing.empty()) fail_missing(missing, operation, where);
}

void Params::fail_missing(const std::vector<std::string>& missing, std::string_view operation,
                          Location where) const {
  const std::string there = leaves_.empty() ? "none" : absl::StrJoin(paths(), ", ");
  throw ValueError(
      {.message = std::string(missing.size() > 1 ? "no parameters '" : "no parameter '") +
                  absl::StrJoin(missing, "', '") + "'; there are: " + there,
       .operation = std::string(operation),
       .where = where});
}

bool Params::contains(std::string_view path) const {
  return std::any_of(leaves_.begin(), leaves_.end(),
                     [&](const Leaf& l) { return l.first == path; });
}

std::vector<std::string> Params::paths() const {
  std::vector<std::string> all;
  for (const Leaf& leaf : leaves_) all.push_back(leaf.first);
  return all;
}

std::int64_t Params::element_count() const {
  std::int64_t count = 0;
  for (const Leaf& leaf : leaves_) count += heddle::element_count(leaf.second.type());
  return count;
}

Literal uniform(const Type& type, double limit, std::uint64_t seed, std::string_view path) {
  std::uint64_t state = split_mix(seed);
  for (char c : path) state = split_mix(state ^ static_cast<unsigned char>(c));
  return dispatch_dtype(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
    T* out = reinterpret_cast<T*>(bytes.data());
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      const double unit = static_cast<double>(split_mix(state + i) >> 11) * 0x1p-53;
      out[i] = convert_element<T>((2 * unit - 1) * limit);
    }
    return literal_from_bytes(type, std::move(bytes));
  });
}

}  // namespace heddle
