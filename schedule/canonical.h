// A function rewritten node by node: the ground of every change of a kernel's body.
#ifndef HEDDLE_SCHEDULE_CANONICAL_H_
#define HEDDLE_SCHEDULE_CANONICAL_H_

#include "heddle/graph/program.h"

namespace heddle {

/// The body as kernel texts have it: function @kernel, inputs x0 x1 ..., outputs y0 y1 ..., values
/// numbered in the order inputs, then results; nothing donated. Locations stay: errors use them.
/// Values of an already canonical body keep their numbers.
Function canonical_body(const Function& body);

/// The number of the node result that `value` is, counted over all nodes in order: what `%n` in
/// text stands for. kNoNode for an input.
std::vector<std::uint32_t> result_numbers(const Function& body);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_CANONICAL_H_
