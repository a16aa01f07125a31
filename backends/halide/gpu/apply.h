// The recipes on a device's carrier. Bodies, elements and lowerings are those of the CPU; only the
// loops differ. A stage placed `once` is a launch of its own, before the outputs'.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_APPLY_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_APPLY_H_

#include "heddle/backends/halide/kernel_builder.h"

namespace heddle::halide::gpu {

/// The kernel's recipe. CompileError for what a device cannot do.
void apply(KernelBuilder& b);

/// A launch for each group of outputs, a thread for each element.
void launch_outputs(KernelBuilder& b);
/// A launch, or several, that store the stage's values.
void launch_stage(KernelBuilder& b, const Stage& stage);
/// A thread for each result.
void launch_threads(KernelBuilder& b, const Stage& stage);
/// A block for each result; several for a long total.
void launch_blocks(KernelBuilder& b, const Stage& stage);
/// A thread for each column, or for each piece of one.
void launch_columns(KernelBuilder& b, const Stage& stage);
void launch_scatter(KernelBuilder& b, ValueId v);
void launch_fibres(KernelBuilder& b, ValueId v);
void launch_contraction(KernelBuilder& b, ValueId v);

void apply_rows(KernelBuilder& b);
void apply_contract(KernelBuilder& b);
/// Attention: a launch for each result of as many axes as its operands.
void apply_row_block(KernelBuilder& b);

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_APPLY_H_
