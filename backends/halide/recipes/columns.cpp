#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle::halide {

void apply(KernelBuilder& b, const Columns& columns) {
  for (const Stage& stage : b.kernel.stages) {
    if (stage.place == Place::per_tile) {
      stage_columns(b, stage, columns);
    } else {
      b.make_stage_once(stage);
    }
  }
  b.make_outputs();
  const Map map = choose_map(b.kernel.body, b.kernel.target);
  for (OutputGroup& group : b.outputs) b.schedule_map(group, map);
}

}  // namespace heddle::halide
