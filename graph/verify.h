// Checks that a program is what the builder would have made: run after every pass in tests and
// debug builds.
#ifndef HEDDLE_GRAPH_VERIFY_H_
#define HEDDLE_GRAPH_VERIFY_H_

#include "heddle/graph/program.h"

namespace heddle {

/// InternalError names the function, the node and the broken rule: values defined once and before
/// use, types equal to inference, literals on constants alone, names of inputs and outputs unique.
void verify(const Program& program);
void verify(const Function& function, const Program* callees = nullptr);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_VERIFY_H_
