#include "heddle/backends/halide/gpu/launch.h"

namespace heddle::halide::gpu {
namespace {

// A row at least as long gets blocks of its own, so that no thread divides to find its index.
constexpr std::int64_t kLongRow = 64;

int threads_for(const Extent& count) {
  return count.at_most(kThreads) ? static_cast<int>(count.number()) : kThreads;
}

Var launch_one(Halide::Stage stage) {
  Var block("block"), thread("thread");
  stage.split(Var::outermost(), Var::outermost(), thread, 1);
  stage.split(Var::outermost(), Var::outermost(), block, 1);
  stage.gpu_blocks(block).gpu_threads(thread);
  return thread;
}

}  // namespace

Var fuse_all(Halide::Stage stage, const std::vector<Var>& axes, const std::string& name) {
  Var all = axes.back();
  for (std::size_t a = axes.size() - 1; a-- > 0;) {
    Var fused(name + std::to_string(a));
    stage.fuse(all, axes[a], fused);
    all = fused;
  }
  return all;
}

Var launch(Halide::Stage stage, const std::vector<Var>& axes, const Extents& extents) {
  if (axes.empty()) return launch_one(stage);
  Var block("block"), thread("thread");
  const bool rows = axes.size() > 1 && !extents.back().below(kLongRow);
  if (!rows) {
    const Var all = fuse_all(stage, axes, "elements");
    const Extent count = product(extents);
    const int threads = threads_for(count);
    stage.split(all, block, thread, threads, tail(count, threads));
    stage.gpu_blocks(block).gpu_threads(thread);
    return thread;
  }
  const Var row = fuse_all(stage, {axes.begin(), axes.end() - 1}, "rows");
  const int threads = threads_for(extents.back());
  stage.split(axes.back(), block, thread, threads, tail(extents.back(), threads));
  stage.gpu_blocks(block, row).gpu_threads(thread);
  return thread;
}

}  // namespace heddle::halide::gpu
