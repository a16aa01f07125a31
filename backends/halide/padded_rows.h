// Maps of a convolution that is written out and reaches beyond its images: their rows are copied
// with the padding around them, a few at a time, so that vectors are loaded without a question.
#ifndef HEDDLE_BACKENDS_HALIDE_PADDED_ROWS_H_
#define HEDDLE_BACKENDS_HALIDE_PADDED_ROWS_H_

#include "heddle/backends/halide/kernel_builder.h"

namespace heddle::halide {

/// The one convolution of such a body, of whose elements the outputs are made; null for none.
const Node* padded_convolution(const KernelBuilder& b);
/// The kernel's outputs, instead of make_outputs and schedule_map.
void store_padded_convolution(KernelBuilder& b, const Map& map, const Node& conv);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_PADDED_ROWS_H_
