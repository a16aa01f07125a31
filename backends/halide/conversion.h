// Element types: what they are in memory and in expressions, and conversion between them. f16 and
// bf16 are storage: an expression holds their value as f32, rounded to the dtype by every operation
// that may leave it. By integer operations on bits, or the target's instructions for f16, which
// give the same.
#ifndef HEDDLE_BACKENDS_HALIDE_CONVERSION_H_
#define HEDDLE_BACKENDS_HALIDE_CONVERSION_H_

#include <Halide.h>

#include "heddle/runtime/dtype.h"

namespace heddle::halide {

using Halide::Expr;

/// Whether the target has instructions that convert f16. A process compiles one kernel: once,
/// before any expression is made.
void set_native_halves(bool native);

/// f16 or bf16.
constexpr bool is_narrow(DType d) { return d == DType::f16 || d == DType::bf16; }

/// Inside expressions a boolean is Halide's Bool and a narrow float an f32.
Halide::Type expression_type(DType dtype);
/// In memory a boolean is a byte, 0 or 1, and a narrow float its 16 bits.
Halide::Type storage_type(DType dtype);
/// `e` is a value of `dtype`: a narrow float has been rounded.
Expr to_storage(const Expr& e, DType dtype);
Expr from_storage(const Expr& e, DType dtype);

/// An f32 rounded to a narrow float (to nearest even; beyond its range infinity; NaN stays NaN);
/// elements of other dtypes as they are.
Expr rounded(const Expr& e, DType dtype);
/// As operation `convert` does it: rounds once, saturates, wraps.
Expr converted(const Expr& x, DType from, DType to);
/// The same bits as an element of another dtype of the same width.
Expr recast(const Expr& x, DType from, DType to);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_CONVERSION_H_
