#include "heddle/backends/halide/padded_rows.h"

namespace heddle::halide {

void apply(KernelBuilder& b, const Map& map) {
  if (conv_is_stored_once(b)) return store_conv(b);
  for (const Stage& stage : b.kernel.stages) b.make_stage_once(stage);
  if (const auto joined = joined_outputs(b.kernel)) return store_parts(b, map, *joined);
  if (const Node* conv = padded_convolution(b)) return store_padded_convolution(b, map, *conv);
  b.make_outputs();
  for (OutputGroup& group : b.outputs) b.schedule_map(group, map);
}

}  // namespace heddle::halide
