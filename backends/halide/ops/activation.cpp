// gelu.
#include "heddle/backends/halide/elements.h"
#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/math.h"
#include "heddle/graph/op_attributes.h"

namespace heddle::halide {
namespace {

// Of f64: max(x, 0) - |x| Phi(-|x|), which is 0 beyond 50.
Expr gelu_wide(const Expr& x, bool tanh) {
  const Expr zero = Expr(0.0), one = Expr(1.0);
  const Expr a = select(less(without_sign(x), Expr(50.0)), without_sign(x), Expr(50.0));
  const Expr inner = exact_mul(exact_mul(a, Expr(1.5957691216057308)),  // 2 sqrt(2/pi)
                               exact_add(one, exact_mul(exact_mul(a, a), Expr(0.044715))));
  const Expr tail =
      tanh ? exact_div(one, exact_add(one, call_libm("exp", {inner})))
           : exact_mul(call_libm("erfc", {exact_mul(a, Expr(0.7071067811865476))}), Expr(0.5));
  const Expr y = exact_sub(select(less(x, zero), zero, x), exact_mul(a, tail));
  return select(not_a_number(x), x, y);
}

}  // namespace

Expr lower_gelu(const Element& e) {
  const Expr x = e.operand(0);
  const bool tanh = e.node.attributes.as<GeluAttributes>().tanh;
  if (x.type().bits() == 64) return gelu_wide(x, tanh);
  return tanh ? math::gelu_tanh(x) : math::gelu(x);
}

}  // namespace heddle::halide
