// A model's parameters: an ordered tree of named tensors. Paths are dotted: "layer1.w".
#ifndef HEDDLE_FRONTEND_PARAMS_H_
#define HEDDLE_FRONTEND_PARAMS_H_

#include <concepts>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/graph/tensor.h"

namespace heddle {

/// A path, and where it stands in the user's source. Made by implicit conversion.
class ParamPath {
 public:
  template <std::convertible_to<std::string_view> T>
  ParamPath(const T& path, Location where = std::source_location::current())  // NOLINT
      : text_(path), where_(where) {}

  std::string_view text() const { return text_; }
  const Location& where() const { return where_; }

 private:
  std::string_view text_;
  Location where_;
};

/// Leaves keep the order they were added in: it is the order of a program's inputs and of the flat
/// C array.
class Params {
 public:
  using Leaf = std::pair<std::string, Tensor>;

  /// Adds an empty leaf when there is none; ValueError for a path that is not dotted names.
  Tensor& operator[](ParamPath path);
  /// ValueError lists the paths there are.
  const Tensor& operator[](ParamPath path) const;
  /// That error for all of them that are not there.
  void require(std::span<const std::string> paths, std::string_view operation,
               Location where) const;
  bool contains(std::string_view path) const;
  std::span<const Leaf> leaves() const { return leaves_; }
  std::vector<std::string> paths() const;
  /// Elements of all leaves together.
  std::int64_t element_count() const;

 private:
  [[noreturn]] void fail_missing(const std::vector<std::string>& missing,
                                 std::string_view operation, Location where) const;
  std::vector<Leaf> leaves_;
};

/// Independent uniform numbers in [-limit, limit), the same on every machine: SplitMix64 of seed,
/// path and element.
Literal uniform(const Type& type, double limit, std::uint64_t seed, std::string_view path);

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_PARAMS_H_
