// Windows and convolutions in the form that kernels are good at.
#ifndef HEDDLE_SCHEDULE_LOWER_WINDOWS_H_
#define HEDDLE_SCHEDULE_LOWER_WINDOWS_H_

#include "heddle/graph/program.h"

namespace heddle {

/// A reduce_window_* that is too large to be written out becomes windows along single axes: their
/// elements add up instead of multiplying. A convolution that is not written out reads an array
/// that holds its padding and holes: vectors of it are loaded without a question. Of single taps,
/// or of windows that are whole images (gradients of weights of a pointwise one), it is a product.
/// winograd: one that suits this form stays as it is.
Program lower_windows(const Program& program, bool winograd = false);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_LOWER_WINDOWS_H_
