// Products of which the outputs are made by slices: an LSTM's or GRU's gates, side by side in one
// product's columns, are read together by what makes the next state of them.
#ifndef HEDDLE_SCHEDULE_GATES_H_
#define HEDDLE_SCHEDULE_GATES_H_

#include <cstdint>
#include <map>
#include <optional>

#include "heddle/graph/program.h"

namespace heddle {

/// Columns [gate * width, (gate + 1) * width) of every row, for `slice`, which takes just that of
/// its operand; nothing for any other node, and where the operand is not several such parts of
/// a line of the cache or more.
struct Gate {
  std::int64_t gate = 0, width = 0;
};
std::optional<Gate> gate_of(const Function& function, const Node& slice);

/// How a body's outputs are made of a product: element by element a value of its extents, which
/// slices of one width cut, and of these the outputs, element by element again.
struct Gates {
  ValueId cut;
  std::int64_t width = 0, first = 0, count = 0;  ///< gates [first, first + count) are read
  std::map<ValueId, std::int64_t> slices;        ///< which gate each is
  Values made;                                   ///< of them, element by element, in order
};
/// Nothing when no slice lies between, when something else reads the product on the way, and but
/// for f32 and f64.
std::optional<Gates> gates_of(const Function& body, ValueId product);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_GATES_H_
