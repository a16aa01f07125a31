// Takes empty tensors out: no kernel ever sees one.
#ifndef HEDDLE_SCHEDULE_LOWER_EMPTY_H_
#define HEDDLE_SCHEDULE_LOWER_EMPTY_H_

#include "heddle/graph/program.h"

namespace heddle {

/// Nodes with an empty operand and a result that is not: a reduction or contraction becomes its
/// identity, a concatenate loses the operand, a pad becomes its padding, a scatter its operand, a
/// gather zeros.
Program lower_empty(const Program& program);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_LOWER_EMPTY_H_
