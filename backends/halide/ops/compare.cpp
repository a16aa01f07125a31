// compare, select, clamp, convert, bitcast.
#include "heddle/backends/halide/elements.h"
#include "heddle/backends/halide/exact.h"
#include "heddle/graph/op_attributes.h"

namespace heddle::halide {
namespace {

// A scalar operand stands for every element.
Expr same_or_scalar(const Element& e, std::size_t k) {
  return e.operand_type(k).rank() == 0 ? e.operand(k, {}) : e.operand(k);
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
  return converted(e.operand(0), e.operand_type(0).dtype, e.type().dtype);
}

Expr lower_bitcast(const Element& e) {
  return recast(e.operand(0), e.operand_type(0).dtype, e.type().dtype);
}

}  // namespace heddle::halide
