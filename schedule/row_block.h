// Composites that are computed whole, in blocks of rows: attention, its gradient and the halves of
// that.
#ifndef HEDDLE_SCHEDULE_ROW_BLOCK_H_
#define HEDDLE_SCHEDULE_ROW_BLOCK_H_

#include "heddle/graph/operation.h"
#include "heddle/graph/program.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// Whether the target has a kernel for it: on the CPU, in f32, queries and values equally deep, and
/// that in whole register tiles; on a device, whatever its blocks have room for, but for f64. A
/// whole gradient has one on the CPU, if there are heads enough for tasks.
bool has_row_block(const NodeContext& node, const Target& target);

/// Without dead nodes before. An attention's gradient of whose results only the queries' cotangents
/// are used, or only the keys' and values', becomes that half: three or four products, not five.
Program needed_halves(const Program& program);

/// What it does, from its operands' types: `rows` are queries, or keys in attention_dkv and in a
/// whole gradient.
struct RowBlockShape {
  std::int64_t heads = 1, rows = 1, columns = 1, depth = 1;
  bool by_key = false, causal = false;
  double scale = 1;
};
RowBlockShape row_block_shape(const Function& body, const Node& node);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_ROW_BLOCK_H_
