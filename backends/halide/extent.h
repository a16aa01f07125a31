// Extents as the loops take them: numbers, or expressions of the ports' extents in a kernel whose
// extents are symbols. Arithmetic on numbers gives numbers.
#ifndef HEDDLE_BACKENDS_HALIDE_EXTENT_H_
#define HEDDLE_BACKENDS_HALIDE_EXTENT_H_

#include <Halide.h>

#include <vector>

namespace heddle::halide {

using Halide::Expr;

class Extent {
 public:
  Extent(std::int64_t number = 0) : number_(number) {}  // NOLINT: a number is an extent
  explicit Extent(Expr e);

  bool is_constant() const { return !expression_.defined(); }
  std::int64_t number() const;  ///< InternalError when it is none
  Expr expr() const;

  // What is known when the kernel is compiled: false also means "not known".
  bool is(std::int64_t n) const { return is_constant() && number_ == n; }
  bool below(std::int64_t n) const { return is_constant() && number_ < n; }
  bool at_most(std::int64_t n) const { return is_constant() && number_ <= n; }
  bool divisible_by(std::int64_t n) const { return is_constant() && number_ % n == 0; }

  friend Extent operator+(const Extent& a, const Extent& b);
  friend Extent operator-(const Extent& a, const Extent& b);
  friend Extent operator*(const Extent& a, const Extent& b);
  /// Rounded down, of numbers that are not negative.
  friend Extent operator/(const Extent& a, const Extent& b);
  friend Extent operator%(const Extent& a, const Extent& b);
  /// The same number, or the same expression.
  friend bool operator==(const Extent& a, const Extent& b);

 private:
  std::int64_t number_ = 0;
  Expr expression_;
};
using Extents = std::vector<Extent>;

Extent product(const Extents& extents);
Extent ceil_div(const Extent& a, std::int64_t b);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_EXTENT_H_
