#include "heddle/backends/halide/gpu/apply.h"

#include "heddle/backends/halide/gpu/launch.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide::gpu {

void launch_outputs(KernelBuilder& b) {
  b.make_outputs();
  for (OutputGroup& group : b.outputs) launch(group.f, group.args, group.extents);
}

void apply(KernelBuilder& b) {
  if (is_symbolic(b.kernel.body)) {
    throw CompileError({.message = "a kernel of this carrier has constant extents",
                        .field = "body",
                        .found = "a symbol",
                        .needed = "numbers for carrier " + b.kernel.target.carrier});
  }
  if (std::holds_alternative<Rows>(b.kernel.recipe)) return apply_rows(b);
  if (std::holds_alternative<Contract>(b.kernel.recipe)) return apply_contract(b);
  if (std::holds_alternative<RowBlock>(b.kernel.recipe)) return apply_row_block(b);
  for (const Stage& stage : b.kernel.stages) launch_stage(b, stage);
  launch_outputs(b);
}

}  // namespace heddle::halide::gpu
