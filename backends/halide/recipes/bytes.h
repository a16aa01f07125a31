#ifndef HEDDLE_BACKENDS_HALIDE_RECIPES_BYTES_H_
#define HEDDLE_BACKENDS_HALIDE_RECIPES_BYTES_H_

#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/schedule/narrow_factors.h"

namespace heddle::halide {

/// store_contraction of bytes that are summed in i32, `factors.depth` neighbours along the inner
/// axis at a time.
void store_bytes(KernelBuilder& b, ValueId v, const Contract& contract, const ByteFactors& factors,
                 std::size_t row_axis);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_RECIPES_BYTES_H_
