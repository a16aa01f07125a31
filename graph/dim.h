// An extent: a constant, or an affine expression of named symbols such as 2*n+1.
#ifndef HEDDLE_GRAPH_DIM_H_
#define HEDDLE_GRAPH_DIM_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

/// constant + sum(coefficient * symbol). Terms are sorted by name and have no zero coefficient, so
/// equal values compare equal.
class Dim {
 public:
  using Term = std::pair<std::string, std::int64_t>;  ///< symbol, coefficient

  Dim() = default;
  Dim(std::int64_t constant) : constant_(constant) {}  // NOLINT: a number is an extent
  static Dim symbol(std::string_view name);

  bool is_constant() const { return terms_.empty(); }
  /// The value of a constant extent; NotImplementedError when symbols are in it.
  std::int64_t constant() const;
  std::int64_t offset() const { return constant_; }  ///< the constant part
  const std::vector<Term>& terms() const { return terms_; }

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(std::int64_t factor, const Dim& d);
  /// NotImplementedError when both hold symbols: extents stay affine.
  friend Dim operator*(const Dim& a, const Dim& b);
  bool operator==(const Dim&) const = default;
  auto operator<=>(const Dim&) const = default;

 private:
  std::int64_t constant_ = 0;
  std::vector<Term> terms_;
};

using Dims = std::vector<Dim>;
using Bindings = std::map<std::string, std::int64_t>;  ///< symbol -> value

/// ValueError names a symbol that has no value.
std::int64_t evaluate(const Dim& dim, const Bindings& bindings);
/// "2*n+1".
std::string to_text(const Dim& dim);
/// "[32,2*n+1]"; "[]" for no extents.
std::string to_text(const Dims& dims);

/// The number of elements (1 for rank 0).
Dim element_count(const Dims& dims);
/// All extents as numbers; NotImplementedError when one is symbolic.
std::vector<std::int64_t> constant_extents(const Dims& dims);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_DIM_H_
