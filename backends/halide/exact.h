// Single IEEE operations as expressions that no optimizer looks into. (strict_float(tree) would
// also forbid FMA inside the maths of the tree, and Halide's is_nan computes its argument again.)
#ifndef HEDDLE_BACKENDS_HALIDE_EXACT_H_
#define HEDDLE_BACKENDS_HALIDE_EXACT_H_

#include <Halide.h>

namespace heddle::halide {

using Halide::Expr;

/// Arguments of equal types; floats strictly, integers wrapping.
Expr exact_add(const Expr& a, const Expr& b);
Expr exact_sub(const Expr& a, const Expr& b);
Expr exact_mul(const Expr& a, const Expr& b);
/// The upper 32 bits of a product of two u32: Metal's function.
Expr mul_high(const Expr& a, const Expr& b);
/// Floats only.
Expr exact_div(const Expr& a, const Expr& b);

/// Comparisons: any type.
Expr less(const Expr& a, const Expr& b);
Expr equal(const Expr& a, const Expr& b);
/// False for integers.
Expr not_a_number(const Expr& x);

/// IEEE 754-2019 maximum and minimum: NaN wins, +0 is above -0.
Expr maximum(const Expr& a, const Expr& b);
Expr minimum(const Expr& a, const Expr& b);
/// The same but for the sign of zero: what reductions use.
Expr larger(const Expr& a, const Expr& b);
Expr smaller(const Expr& a, const Expr& b);

/// The bits of a float as an unsigned integer of its width, and back.
Expr bits_of(const Expr& x);
Expr float_of(const Expr& bits);

/// |x| of a float. (The generated code takes Halide's abs() for finite.)
Expr without_sign(const Expr& x);

/// f32 to f64 or back, rounded. (A plain cast is taken to be no NaN and no infinity by whatever
/// asks for these afterwards.)
Expr exact_cast(const Expr& x);

/// A function of libm on each element.
Expr call_libm(const std::string& name, const std::vector<Expr>& arguments);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_EXACT_H_
