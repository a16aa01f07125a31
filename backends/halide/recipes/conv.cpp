// Convolutions: by shape as register tiles, as dot products along the last axis, or as sums of
// columns.
#include <algorithm>

#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {
namespace {

// Whether the weights of an output channel are read one after the other and as they are: nothing to
// pack.
bool weights_lie_in_order(const KernelBuilder& b, const Node& conv) {
  const std::vector<Input>& inputs = b.kernel.body.inputs;
  const auto& [dtype, dims] = b.kernel.body.type(conv.operands[1]);
  if (dims.size() > 4 || (dtype != DType::f32 && dtype != DType::f64)) return false;
  for (std::size_t port = 0; port < inputs.size(); ++port) {
    if (inputs[port].value != conv.operands[1]) continue;
    const Dims& strides = b.kernel.in[port].strides;
    Dim dense = 1;
    for (std::size_t a = dims.size(); a-- > 1;) {
      if (strides[a] != dense && dims[a] != Dim(1)) return false;
      if (a > 1) dense = dense * dims[a];
    }
    return true;
  }
  return false;
}

// Columns of a tile: as few as possible past the edge, weighed by how near the tile comes to the
// machine's peak.
Contract tiles_of(const KernelBuilder& b, ValueId conv) {
  const DotShape s = dot_shape(b.kernel.body, b.node(conv));
  const std::int64_t rows = s.m(), columns = s.n();
  const int vector = b.lanes_of(conv);
  struct Choice {
    int vectors, mr;
    double speed;
  };
  Contract best{.lhs = weights_lie_in_order(b, b.node(conv)) ? Pack::none : Pack::whole,
                .rhs = Pack::panel};
  double most = 0;
  for (const Choice& c : {Choice{3, 4, 1}, Choice{2, 6, 1}, Choice{1, 8, 0.75}}) {
    const std::int64_t nr = static_cast<std::int64_t>(c.vectors) * vector;
    const std::int64_t padded = (columns + nr - 1) / nr * nr;
    const double gain = c.speed * static_cast<double>(columns) / static_cast<double>(padded);
    if (gain > most) most = gain, best.nr = static_cast<int>(nr), best.mr = c.mr;
  }
  best.mr = static_cast<int>(std::min<std::int64_t>(best.mr, rows));
  return best;
}

bool makes_tiles(const KernelBuilder& b, ValueId v) {
  return dot_shape(b.kernel.body, b.node(v)).n() >= 4;
}

}  // namespace

bool conv_is_stored_once(const KernelBuilder& b) {
  const Kernel& k = b.kernel;
  if (k.stages.empty() || k.stages.back().place != Place::once) return false;
  const ValueId v = k.stages.back().values[0];
  const Node& node = b.node(v);
  if (node.op != &op_conv_general || !is_reduction(k.body, node) || !makes_tiles(b, v))
    return false;
  const DotShape s = dot_shape(k.body, node);
  const bool by_rows = s.batch.size() > 1 && s.columns.size() == 1;
  return by_rows && node.attributes.as<ConvAttributes>().groups == 1 &&
         is_elementwise_behind(k.body, v);
}

void store_conv(KernelBuilder& b) {
  const std::vector<Stage>& stages = b.kernel.stages;
  const ValueId v = stages.back().values[0];
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) b.make_stage_once(stages[i]);
  const DotShape s = dot_shape(b.kernel.body, b.node(v));
  store_contraction(b, v, with_tasks(tiles_of(b, v), b.kernel.body, s), 1);
}

void stage_conv(KernelBuilder& b, const Stage& stage) {
  const ValueId v = stage.values[0];
  const Node& node = b.node(v);
  const DotShape s = dot_shape(b.kernel.body, node);
  if (s.n() >= 4) return stage_contraction(b, v, tiles_of(b, v));
  if (hint(s.inner.back()) >= b.vector) return stage_lanes(b, stage);
  stage_columns(b, stage, b.plain_columns());
}

}  // namespace heddle::halide
