// A program on tiled tensors, step by step and tile by tile.
#ifndef HEDDLE_BACKENDS_TILED_RUN_H_
#define HEDDLE_BACKENDS_TILED_RUN_H_

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "heddle/backends/eager/runnable.h"
#include "heddle/backends/tiled/tile.h"

namespace heddle {

/// Ready to run any number of times, from any number of threads.
class TiledProgram {
 public:
  /// `budget`: bytes of all tiles of a step. NotImplementedError as plan_tiles.
  TiledProgram(const Function& function, std::size_t budget);

  /// One tensor per output, all new ones on `carrier`. Inputs are on any carriers, or literals.
  /// RuntimeError when a file fails, OverflowError when an exact result does not fit.
  std::vector<Tensor> run(std::span<const Tensor> inputs, const Carrier& carrier);

 private:
  struct TileKernel {
    std::vector<Leaf> leaves;
    std::unique_ptr<Runnable> run;
  };
  struct StepState {
    Loops loops;
    Extents tile;
    std::map<std::pair<Extents, SumStage>, TileKernel> kernels;  // by the extents of a tile
  };

  void make_tile(const TiledStep& step, StepState& state) const;
  std::size_t bytes_of_tile(const TiledStep& step, const StepState& state,
                            const TileFunction& whole) const;
  TileKernel& kernel(std::size_t step, const Extents& tile, SumStage stage);
  void run_step(std::size_t step, const std::vector<Tensor>& tensors, const Tensor& result);

  const TiledPlan plan_;
  const std::size_t budget_;
  std::mutex mutex_;
  std::vector<StepState> states_;  // by step; the kernels under the mutex
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_TILED_RUN_H_
