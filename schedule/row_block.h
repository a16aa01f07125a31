// Composites that are computed whole, in blocks of rows: attention and the halves of its gradient.
#ifndef HEDDLE_SCHEDULE_ROW_BLOCK_H_
#define HEDDLE_SCHEDULE_ROW_BLOCK_H_

#include "heddle/graph/operation.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// Whether the target has a kernel for it: on the CPU, in f32, queries and values equally deep, and
/// that in whole register tiles; on a device, whatever its blocks have room for, but for f64.
bool has_row_block(const NodeContext& node, const Target& target);

/// What it does, from its operands' types: `rows` are queries, or keys in attention_dkv.
struct RowBlockShape {
  std::int64_t heads = 1, rows = 1, columns = 1, depth = 1;
  bool by_key = false, causal = false;
  double scale = 1;
};
RowBlockShape row_block_shape(const Function& body, const Node& node);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_ROW_BLOCK_H_
