// compare, select, clamp, convert.
#include "heddle/backends/halide/elements.h"
#include "heddle/backends/halide/exact.h"
#include "heddle/graph/op_attributes.h"

namespace heddle::halide {
namespace {

// A scalar operand stands for every element.
Expr same_or_scalar(const Element& e, std::size_t k) {
  return e.operand_type(k).rank() == 0 ? e.operand(k, {}) : e.operand(k);
}

Expr number(Halide::Type type, double value) { return Halide::Internal::make_const(type, value); }

// Truncates, saturates, NaN gives 0.
Expr float_to_integer(const Expr& x, Halide::Type to) {
  const int bits = to.bits() - (to.is_int() ? 1 : 0);
  const double high = std::ldexp(1.0, bits), low = to.is_int() ? -high : 0.0;
  const Expr below = !less(number(x.type(), low), x), above = !less(x, number(x.type(), high));
  const Expr inside = !(below || above) && !not_a_number(x);
  const Expr cast = Halide::cast(to, select(inside, x, number(x.type(), 0)));
  return select(not_a_number(x), Halide::Internal::make_zero(to),
                select(below, to.min(), select(above, to.max(), cast)));
}

}  // namespace

Expr lower_compare(const Element& e) {
  const std::string direction = e.node.attributes.as<CompareAttributes>().direction;
  Expr a = e.operand(0), b = e.operand(1);
  if (a.type().is_bool()) {
    a = Halide::cast<std::uint8_t>(a);
    b = Halide::cast<std::uint8_t>(b);
  }
  if (direction == "eq") return equal(a, b);
  if (direction == "ne") return !equal(a, b);
  if (direction == "lt") return less(a, b);
  if (direction == "gt") return less(b, a);
  if (direction == "le") return less(a, b) || equal(a, b);
  return less(b, a) || equal(a, b);
}

Expr lower_select(const Element& e) {
  return select(same_or_scalar(e, 0), e.operand(1), e.operand(2));
}

// As the reference: a zero keeps its sign where it equals a bound.
Expr lower_clamp(const Element& e) {
  const Expr x = e.operand(0), low = same_or_scalar(e, 1), high = same_or_scalar(e, 2);
  const Expr raised = select(less(x, low) || not_a_number(low), low, x);
  return select(less(high, raised) || not_a_number(high), high, raised);
}

Expr lower_convert(const Element& e) {
  const Expr x = e.operand(0);
  const DType dtype = e.node.attributes.as<ConvertAttributes>().to;
  const Halide::Type to = expression_type(dtype);
  if (x.type() == to) return x;
  if (to.is_bool()) return !equal(x, Halide::Internal::make_zero(x.type()));
  if (x.type().is_float() && !to.is_float()) return float_to_integer(x, to);
  return Halide::cast(to, x);
}

}  // namespace heddle::halide
