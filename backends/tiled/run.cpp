#include "heddle/backends/tiled/run.h"

#include <algorithm>

#include "heddle/backends/eager/transfer.h"

namespace heddle {
namespace {

using Bytes = std::vector<std::byte>;
// A kernel's pointers are not null, not even to nothing.
void resize(Bytes& bytes, std::size_t size) {
  bytes.reserve(1);
  bytes.resize(size);
}

std::size_t bytes_of(const Type& type) { return static_cast<std::size_t>(byte_count(type)); }

// The part of a leaf's tensor that a tile reads.
Box part_of(const Leaf& leaf, const Box& tile) {
  Box part;
  for (int loop : leaf.loops) {
    part.start.push_back(loop < 0 ? 0 : tile.start[static_cast<std::size_t>(loop)]);
    part.extent.push_back(loop < 0 ? 1 : tile.extent[static_cast<std::size_t>(loop)]);
  }
  return part;
}

Box outer_part(const Loops& loops, const Box& tile) {
  Box part;
  for (std::size_t loop : loops.outer) {
    part.start.push_back(tile.start[loop]);
    part.extent.push_back(tile.extent[loop]);
  }
  return part;
}

// Rows of a file are read whole where every operand has the loops' order; else both rows and
// columns of a tile are as long as can be.
std::vector<std::vector<std::size_t>> shrinking(const Loops& loops,
                                                const std::vector<Leaf>& leaves) {
  bool in_order = true;
  for (const Leaf& leaf : leaves) {
    int last = -1;
    for (int loop : leaf.loops) {
      if (loop < 0) continue;
      in_order &= loop > last;
      last = loop;
    }
  }
  std::vector<std::vector<std::size_t>> groups(in_order ? loops.dims.size() : 1);
  for (std::size_t a = 0; a < loops.dims.size(); ++a) groups[in_order ? a : 0].push_back(a);
  return groups;
}

bool is_last(const Loops& loops, const Box& tile) {
  return std::all_of(loops.inner.begin(), loops.inner.end(), [&](std::size_t loop) {
    return tile.start[loop] + tile.extent[loop] >= loops.dims[loop];
  });
}
bool is_first(const Loops& loops, const Box& tile) {
  return std::all_of(loops.inner.begin(), loops.inner.end(),
                     [&](std::size_t loop) { return tile.start[loop] == 0; });
}

// Tensors of their own: an input, a constant, or one that another output took is copied.
std::vector<Tensor> outputs_of(const Function& f, const std::vector<Tensor>& tensors,
                               std::span<const Tensor> inputs, const Carrier& carrier) {
  std::vector<Tensor> outputs;
  for (const Output& o : f.outputs) {
    const Tensor& value = tensors[o.value.index];
    const auto shared = [&](const Tensor& t) { return t.storage() == value.storage(); };
    const bool taken = concrete(value) != nullptr ||
                       std::any_of(inputs.begin(), inputs.end(), shared) ||
                       std::any_of(outputs.begin(), outputs.end(), shared);
    outputs.push_back(taken ? copied(value, carrier) : value);
  }
  return outputs;
}

}  // namespace

TiledProgram::TiledProgram(const Function& function, std::size_t budget)
    : plan_(plan_tiles(function)), budget_(budget) {
  for (const TiledStep& step : plan_.steps) {
    StepState& state = states_.emplace_back();
    if (step.kind == TiledStep::Kind::reshape) continue;
    state.loops = plan_.loops(step);
    make_tile(step, state);
  }
}

// Tiles of the operands, of the result, of what is summed so far (before and after), and of what a
// kernel may keep besides.
std::size_t TiledProgram::bytes_of_tile(const TiledStep& step, const StepState& state,
                                        const TileFunction& whole) const {
  std::size_t bytes = 0;
  for (const Leaf& leaf : whole.leaves) {
    std::size_t count = size_of(leaf.type.dtype);
    for (int loop : leaf.loops) {
      if (loop >= 0) count *= static_cast<std::size_t>(state.tile[static_cast<std::size_t>(loop)]);
    }
    bytes += count;
  }
  std::size_t results = 1;
  for (std::size_t loop : state.loops.outer) results *= static_cast<std::size_t>(state.tile[loop]);
  const bool sums = step.kind != TiledStep::Kind::map;
  const std::size_t each = size_of(plan_.function.type(step.result).dtype);
  return bytes + results * (each + (sums ? 4 * sizeof(double) : 0));
}

void TiledProgram::make_tile(const TiledStep& step, StepState& state) const {
  state.tile = state.loops.dims;
  for (std::int64_t& extent : state.tile) extent = std::max<std::int64_t>(extent, 1);
  const TileFunction whole = make_tile_function(plan_, step, state.loops, state.tile, {});
  auto groups = state.loops.shrink;
  if (groups.empty()) groups = shrinking(state.loops, whole.leaves);
  for (const std::vector<std::size_t>& group : groups) {
    while (!group.empty() && bytes_of_tile(step, state, whole) > budget_ / 2) {
      const std::size_t longest = *std::max_element(
          group.begin(), group.end(),
          [&](std::size_t a, std::size_t b) { return state.tile[a] < state.tile[b]; });
      if (state.tile[longest] == 1) break;
      state.tile[longest] = (state.tile[longest] + 1) / 2;
    }
  }
}

TiledProgram::TileKernel& TiledProgram::kernel(std::size_t step, const Extents& tile,
                                               SumStage stage) {
  const std::lock_guard lock(mutex_);
  TileKernel& entry = states_[step].kernels[{tile, stage}];
  if (entry.run == nullptr) {
    TileFunction made =
        make_tile_function(plan_, plan_.steps[step], states_[step].loops, tile, stage);
    entry.run = make_runnable(made.function, cpu_carrier());
    entry.leaves = std::move(made.leaves);
  }
  return entry;
}

void TiledProgram::run_step(std::size_t step, const std::vector<Tensor>& tensors,
                            const Tensor& result) {
  const Loops& loops = states_[step].loops;
  const Extents& tile = states_[step].tile;
  const DType running = running_dtype(plan_, plan_.steps[step]);
  Box box{Extents(loops.dims.size(), 0), Extents(loops.dims.size(), 0)};
  std::vector<Bytes> parts;
  Bytes sum, next;
  const auto run_tile = [&] {
    const SumStage stage{is_first(loops, box), is_last(loops, box)};
    const TileKernel& k = kernel(step, box.extent, stage);
    parts.resize(k.leaves.size());
    std::vector<const std::byte*> inputs;
    for (std::size_t i = 0; i < k.leaves.size(); ++i) {
      resize(parts[i], bytes_of(k.leaves[i].type));
      read_box(tensors[k.leaves[i].tensor.index], part_of(k.leaves[i], box), parts[i]);
      inputs.push_back(parts[i].data());
    }
    if (!stage.first) inputs.push_back(sum.data());
    const Box out = outer_part(loops, box);
    const DType given = stage.last ? result.type().dtype : running;
    resize(next, static_cast<std::size_t>(element_count(out.extent)) * size_of(given));
    std::byte* const output = next.data();
    k.run->run(inputs, std::span(&output, 1));
    if (stage.last) write_box(result, out, next);
    std::swap(sum, next);
  };
  for_each_tile(loops.dims, tile, loops.outer, box,
                [&] { for_each_tile(loops.dims, tile, loops.inner, box, run_tile); });
}

std::vector<Tensor> TiledProgram::run(std::span<const Tensor> inputs, const Carrier& carrier) {
  const Function& f = plan_.function;
  std::vector<Tensor> tensors(f.types.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors[f.inputs[i].value.index] = inputs[i];
  for (const Node& n : f.nodes) {
    if (n.literal) tensors[n.results[0].index] = make_tensor(*n.literal);
  }
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    const TiledStep& step = plan_.steps[s];
    const Type& type = f.type(step.result);
    Tensor& result = tensors[step.result.index];
    if (step.kind == TiledStep::Kind::reshape) {
      result = Tensor(type, tensors[plan_.node(step.result).operands[0].index].storage());
    } else {
      result = new_tensor(type, carrier);
      run_step(s, tensors, result);
    }
    for (std::size_t v = 0; v < tensors.size(); ++v) {
      if (plan_.last_use[v] <= s && plan_.stored[v]) tensors[v] = {};
    }
  }
  return outputs_of(f, tensors, inputs, carrier);
}

}  // namespace heddle
