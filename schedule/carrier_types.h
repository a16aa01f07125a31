// Which element types and operations a carrier has.
#ifndef HEDDLE_SCHEDULE_CARRIER_TYPES_H_
#define HEDDLE_SCHEDULE_CARRIER_TYPES_H_

#include "heddle/graph/program.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// metal has no f64, i64 and u64. f16 and bf16 are 16 bits in memory and f32 in expressions on
/// every carrier: no carrier's own type is used for them.
bool carrier_has(DType dtype, const Target& target);

/// CompileError names the function, the operation, the dtype and the carrier.
void check_carrier_types(const Function& function, const Target& target);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_CARRIER_TYPES_H_
