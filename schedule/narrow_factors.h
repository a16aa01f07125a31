// Products of bytes that are summed in i32, as programs say it: both factors of a dot_general are
// converted before.
#ifndef HEDDLE_SCHEDULE_NARROW_FACTORS_H_
#define HEDDLE_SCHEDULE_NARROW_FACTORS_H_

#include <optional>

#include "heddle/graph/program.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// From i8 or u8 to i32.
bool widens_bytes(const Function& f, const Node& node);

/// The dtypes of the bytes that a contraction's factors are. depth: neighbours along the inner axis
/// whose products one instruction of the target adds up, 4, or 2 as pairs of i16; they lie side by
/// side in a panel.
struct ByteFactors {
  DType left, right;
  int depth;
};
/// Nothing for other factors, several inner axes, symbols, sums that may leave i32, and targets
/// without such an instruction.
std::optional<ByteFactors> byte_factors(const Function& body, const Node& dot,
                                        const Target& target);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_NARROW_FACTORS_H_
