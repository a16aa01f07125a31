// Steps 18 to 29 of a concrete call: guard, select, run, publish.
#ifndef HEDDLE_BACKENDS_EAGER_EXECUTOR_H_
#define HEDDLE_BACKENDS_EAGER_EXECUTOR_H_

#include "heddle/graph/call.h"

namespace heddle {

/// The executor of concrete calls in this process.
Executor& eager_executor();

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_EXECUTOR_H_
