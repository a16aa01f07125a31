// Sums along rows of which one element is not zero: that element.
#ifndef HEDDLE_SCHEDULE_LOWER_PICKS_H_
#define HEDDLE_SCHEDULE_LOWER_PICKS_H_

#include "heddle/graph/program.h"

namespace heddle {

/// A sum over long rows of what stands where a row's label is, and zeros elsewhere (a cross
/// entropy), is read there: from inputs, or products with what is added to them, which are in
/// memory anyway. Zeros may have another sign.
Program lower_picks(const Program& program);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_LOWER_PICKS_H_
