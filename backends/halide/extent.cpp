#include "heddle/backends/halide/extent.h"

#include "heddle/graph/error.h"

namespace heddle::halide {
namespace {

template <class F>
Extent combine(const Extent& a, const Extent& b, F f) {
  if (a.is_constant() && b.is_constant()) return Extent(f(a.number(), b.number()));
  return Extent(Expr(f(a.expr(), b.expr())));
}

}  // namespace

Extent::Extent(Expr e) : expression_(Halide::Internal::simplify(e)) {
  const auto number = Halide::Internal::as_const_int(expression_);
  if (!number) return;
  number_ = *number;
  expression_ = Expr();
}

std::int64_t Extent::number() const {
  internal_check(is_constant(), "a number where an extent is a symbol");
  return number_;
}

Expr Extent::expr() const {
  return is_constant() ? Expr(static_cast<std::int32_t>(number_)) : expression_;
}

Extent operator+(const Extent& a, const Extent& b) {
  return combine(a, b, [](auto x, auto y) { return x + y; });
}
Extent operator-(const Extent& a, const Extent& b) {
  return combine(a, b, [](auto x, auto y) { return x - y; });
}
Extent operator*(const Extent& a, const Extent& b) {
  return combine(a, b, [](auto x, auto y) { return x * y; });
}
Extent operator/(const Extent& a, const Extent& b) {
  return combine(a, b, [](auto x, auto y) { return x / y; });
}
Extent operator%(const Extent& a, const Extent& b) {
  return combine(a, b, [](auto x, auto y) { return x % y; });
}
bool operator==(const Extent& a, const Extent& b) {
  if (a.is_constant() || b.is_constant()) return b.is_constant() && a.is(b.number());
  return Halide::Internal::equal(a.expression_, b.expression_);
}

Extent product(const Extents& extents) {
  Extent p = 1;
  for (const Extent& e : extents) p = p * e;
  return p;
}

Extent ceil_div(const Extent& a, std::int64_t b) { return (a + (b - 1)) / b; }

}  // namespace heddle::halide
