#include "heddle/schedule/row_block.h"

#include <algorithm>
#include <cmath>

#include "heddle/graph/op_attributes.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"
#include "heddle/schedule/tuned.h"

namespace heddle {

namespace {

bool is_attention(const Operation& op) {
  return &op == &op_attention || &op == &op_attention_dq || &op == &op_attention_dkv;
}

// Sums of a row's results are registers of its threads; few rows, or columns, have few scores.
bool fits_device(const NodeContext& node) {
  constexpr std::int64_t kWidest = 256, kFewest = 8;
  const Dims &q = node.operands[0].dims, &v = node.operands[2].dims;
  const std::int64_t width = v[2].constant();
  const bool wide = width > kWidest || (&node.op != &op_attention && q[2].constant() > kWidest);
  return node.operands[0].dtype != DType::f64 && !wide && q[1].constant() >= kFewest &&
         v[1].constant() >= kFewest;
}

// Packed panels of a head stay in the cache.
bool fits_cpu(const NodeContext& node, const Target& target) {
  constexpr std::int64_t kDeepest = 512;
  const Dim &depth = node.operands[0].dims[2], &width = node.operands[2].dims[2];
  return node.operands[0].dtype == DType::f32 && depth == width && depth.constant() <= kDeepest &&
         depth.constant() % (tuned_for(target).block.vectors * target.vector_floats()) == 0 &&
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

RowBlockShape row_block_shape(const Function& body, const Node& node) {
  const std::vector<std::int64_t> q = hints(body.type(node.operands[0]).dims),
                                  k = hints(body.type(node.operands[1]).dims);
  const auto a = node.attributes.as<AttentionAttributes>();
  const bool by_key = node.op == &op_attention_dkv;
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
  // A strip of scores is an eighth of the second-level cache or less; with causal masks, half a
  // block is computed in vain.
  const std::int64_t strip = tuned.cache_kb * 1024 / 8 / 4;
  RowBlock r{.mr = tuned.block.rows, .nr = tuned.block.vectors * target.vector_floats()};
  const std::int64_t most = s.causal ? tuned.causal : tuned.queries;
  const std::int64_t fits = strip / s.columns / r.mr * r.mr;
  r.rows = static_cast<int>(std::clamp<std::int64_t>(fits, 2 * r.mr, most));
  // Heads are tasks; few of them are cut.
  constexpr std::int64_t kTasks = 4;
  const std::int64_t blocks = (s.rows + r.rows - 1) / r.rows;
  const std::int64_t parts = std::max<std::int64_t>(1, kTasks / s.heads);
  r.grain = std::max<std::int64_t>(1, (blocks + parts - 1) / parts);
  return r;
}

}  // namespace heddle
