#include "heddle/schedule/row_block.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/passes/rewrite.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"
#include "heddle/schedule/tuned.h"

namespace heddle {
namespace {

constexpr std::int64_t kTasks = 4;  // heads are tasks; few of them are cut

bool is_attention(const Operation& op) {
  return &op == &op_attention || &op == &op_attention_gradient || &op == &op_attention_dq ||
         &op == &op_attention_dkv;
}

// Sums of a row's results are registers of its threads; few rows, or columns, have few scores. A
// gradient's halves are kernels: no block adds to what others do.
bool fits_device(const NodeContext& node) {
  constexpr std::int64_t kWidest = 256, kFewest = 8;
  if (&node.op == &op_attention_gradient) return false;
  const Dims &q = node.operands[0].dims, &v = node.operands[2].dims;
  const std::int64_t width = v[2].constant();
  const bool wide = width > kWidest || (&node.op != &op_attention && q[2].constant() > kWidest);
  return node.operands[0].dtype != DType::f64 && !wide && q[1].constant() >= kFewest &&
         v[1].constant() >= kFewest;
}

// Packed panels of a head stay in the cache. Of a whole gradient, all blocks of a head add to its
// queries' cotangents, in one task; tiles of these lie within panels.
bool fits_cpu(const NodeContext& node, const Target& target) {
  constexpr std::int64_t kDeepest = 512;
  const Dims& q = node.operands[0].dims;
  const Tuned::Tile tile = tuned_for(target).block;
  const int nr = tile.vectors * target.vector_floats();
  if (&node.op == &op_attention_gradient && (q[0].constant() < kTasks || nr % tile.rows != 0))
    return false;
  return node.operands[0].dtype == DType::f32 && q[2] == node.operands[2].dims[2] &&
         q[2].constant() <= kDeepest && q[2].constant() % nr == 0 &&
         node.attributes.as<AttentionAttributes>().scale >= 0;
}

}  // namespace

bool has_row_block(const NodeContext& node, const Target& target) {
  if (!is_attention(node.op)) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    const Type& t = node.operands[i];
    if (is_symbolic(t) || element_count(t) == 0) return false;
  }
  return target.on_device() ? fits_device(node) : fits_cpu(node, target);
}

namespace {

std::vector<bool> used_values(const Function& f) {
  std::vector<bool> used(f.types.size());
  for (const Node& node : f.nodes) {
    for (ValueId o : node.operands) used[o.index] = true;
  }
  for (const Output& o : f.outputs) used[o.value.index] = true;
  return used;
}

// What nobody uses may be anything of its type.
std::optional<Values> half_of(Builder& build, const Node& node, Ids operands, bool queries,
                              bool others) {
  if (node.op != &op_attention_gradient || queries == others) return std::nullopt;
  const Values x(operands.begin(), operands.end());
  if (queries) return Values{build.emit(op_attention_dq, x, node.attributes), x[1], x[2]};
  const Values dkv = build.add(op_attention_dkv, x, node.attributes);
  return Values{x[0], dkv[0], dkv[1]};
}

}  // namespace

Program needed_halves(const Program& program) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const std::vector<bool> used = used_values(f);
    const Program before(functions);
    functions.push_back(rewrite(f, &before, [&](Builder& build, const Node& node, Ids operands) {
      const auto is_used = [&](std::size_t i) { return used[node.results[i].index]; };
      const bool gradient = node.op == &op_attention_gradient;
      return half_of(build, node, operands, gradient && is_used(0),
                     gradient && (is_used(1) || is_used(2)));
    }));
  }
  return Program(std::move(functions));
}

RowBlockShape row_block_shape(const Function& body, const Node& node) {
  const std::vector<std::int64_t> q = hints(body.type(node.operands[0]).dims),
                                  k = hints(body.type(node.operands[1]).dims);
  const auto a = node.attributes.as<AttentionAttributes>();
  const bool by_key = node.op != &op_attention && node.op != &op_attention_dq;
  return {.heads = q[0],
          .rows = by_key ? k[1] : q[1],
          .columns = by_key ? q[1] : k[1],
          .depth = q[2],
          .by_key = by_key,
          .causal = a.causal,
          .scale = a.scale == 0 ? 1 / std::sqrt(static_cast<double>(q[2])) : a.scale};
}

RowBlock choose_row_block(const Function& body, const Target& target) {
  const RowBlockShape s = row_block_shape(body, body.nodes.back());
  const Tuned& tuned = tuned_for(target);
  // A strip of scores is an eighth of the second-level cache or less, a quarter where each block
  // reads and writes all queries' cotangents; with causal masks, half a block is computed in vain.
  const bool whole = body.nodes.back().op == &op_attention_gradient;
  const std::int64_t strip = tuned.cache_kb * 1024 / (whole ? 4 : 8) / 4;
  RowBlock r{.mr = tuned.block.rows, .nr = tuned.block.vectors * target.vector_floats()};
  const std::int64_t most = s.causal ? tuned.causal : tuned.queries;
  const std::int64_t fits = strip / s.columns / r.mr * r.mr;
  r.rows = static_cast<int>(std::clamp<std::int64_t>(fits, 2 * r.mr, most));
  const std::int64_t blocks = (s.rows + r.rows - 1) / r.rows;
  const std::int64_t parts = std::max<std::int64_t>(1, kTasks / s.heads);
  r.grain = std::max<std::int64_t>(1, (blocks + parts - 1) / parts);
  return r;
}

}  // namespace heddle
