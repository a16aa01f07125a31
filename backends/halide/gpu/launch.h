// Loops of Funcs as launches on a device: which of them are blocks, and which the threads of one.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_LAUNCH_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_LAUNCH_H_

#include <string>
#include <vector>

#include "heddle/backends/halide/loops.h"

namespace heddle::halide::gpu {

/// Threads of a block at most: what every device of the carriers takes.
inline constexpr int kThreads = 256;

/// A thread for each index of the pure `axes` (outermost first) of a definition. Returns the
/// thread's variable: a Func computed there is the thread's own.
Var launch(Halide::Stage stage, const std::vector<Var>& axes, const Extents& extents);

/// Several axes (outermost first) as one: its variable.
Var fuse_all(Halide::Stage stage, const std::vector<Var>& axes, const std::string& name);

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_LAUNCH_H_
