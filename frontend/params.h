// A model's parameters: an ordered tree of named tensors. Paths are dotted: "layer1.w".
#ifndef HEDDLE_FRONTEND_PARAMS_H_
#define HEDDLE_FRONTEND_PARAMS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/graph/tensor.h"

namespace heddle {

/// Leaves keep the order they were added in: it is the order of a program's inputs and of the flat
/// C array.
class Params {
 public:
  using Leaf = std::pair<std::string, Tensor>;

  /// Adds an empty leaf when there is none; ValueError for a path that is not dotted names.
  Tensor& operator[](std::string_view path);
  /// ValueError lists the paths there are.
  const Tensor& operator[](std::string_view path) const;
  bool contains(std::string_view path) const;
  std::span<const Leaf> leaves() const { return leaves_; }
  std::vector<std::string> paths() const;
  /// Elements of all leaves together.
  std::int64_t element_count() const;

 private:
  std::vector<Leaf> leaves_;
};

/// Independent uniform numbers in [-limit, limit), the same on every machine: SplitMix64 of seed,
/// path and element.
Literal uniform(const Type& type, double limit, std::uint64_t seed, std::string_view path);

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_PARAMS_H_
