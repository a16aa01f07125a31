// The calls that most programs make first: what `heddle cache warm` prepares.
#ifndef HEDDLE_FRONTEND_COMMON_CALLS_H_
#define HEDDLE_FRONTEND_COMMON_CALLS_H_

#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

/// One function per call: every operation that takes tensors alone, on the types of its own test
/// rows that are of f32, i32 or bool; and the usual networks' convolutions.
std::vector<Function> common_calls();

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_COMMON_CALLS_H_
