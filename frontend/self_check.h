// What an exported library is tested with where it ships to: seeded inputs and the values they
// give.
#ifndef HEDDLE_FRONTEND_SELF_CHECK_H_
#define HEDDLE_FRONTEND_SELF_CHECK_H_

#include <vector>

#include "heddle/graph/program.h"
#include "heddle/runtime/check_file.h"

namespace heddle {

/// One case per function: uniform inputs, and the results of the program's f64 twin. Outputs
/// `d_<input>` are also checked as gradients, along one direction, where the value is an output too
/// or that of a function with the same inputs. A function whose checked arithmetic overflows on its
/// inputs has none.
std::vector<CheckCase> self_checks(const Program& program);

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_SELF_CHECK_H_
