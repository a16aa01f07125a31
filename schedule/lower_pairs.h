// Sums over all pairs (of particles, of points), in the form that one kernel computes.
#ifndef HEDDLE_SCHEDULE_LOWER_PAIRS_H_
#define HEDDLE_SCHEDULE_LOWER_PAIRS_H_

#include "heddle/graph/program.h"

namespace heddle {

/// A sum of an elementwise tree over broadcasts of small values becomes a sum over leading axes:
/// then all sums of one function run along the same kept axis, and share one loop without a pair in
/// memory. A total is summed along one axis first. Where swapping the two sides of a tree only
/// changes its sign, which the gradient of a symmetric energy does, the tree is the one that is
/// there already, negated. What changes: the order of a sum, and the sign of zeros in it.
Program lower_pairs(const Program& program);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_LOWER_PAIRS_H_
