// Fewer axes: neighbouring axes that every operation of a kernel treats alike become one. Rows and
// columns of any rank turn into matrices, elementwise kernels into vectors.
#ifndef HEDDLE_SCHEDULE_COLLAPSE_H_
#define HEDDLE_SCHEDULE_COLLAPSE_H_

#include "heddle/schedule/kernel.h"

namespace heddle {

/// The same kernel over collapsed types; the memory behind its ports is the same. The recipe and
/// the stages are kept. Values keep their numbers: the body must be canonical (InternalError).
Kernel collapse_axes(const Kernel& kernel);
/// The body alone, as it collapses with dense ports.
Function collapse_axes(const Function& body);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_COLLAPSE_H_
