// The carrier "tiled": tensors that do not fit into memory. A tensor is a temporary file, and an
// operation goes over it tile by tile, each tile through a kernel of the cpu carrier.
//
//   hd::define_tiled_carrier("disk", {.budget_bytes = 1 << 30, .folder = "/data"});
//   hd::Tensor x = hd::empty({1 << 20, 1 << 12}, {.carrier = "disk"});  // 16 GiB
//   hd::assign(x, first, elements);                                     // a range of them
//   hd::Tensor y = hd::sum(hd::relu(x) * x, {1});
#ifndef HEDDLE_BACKENDS_TILED_CARRIER_H_
#define HEDDLE_BACKENDS_TILED_CARRIER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "heddle/backends/eager/storage.h"

namespace heddle {

struct TiledOptions {
  /// Of the tiles of one running operation, all together. At least 64 KiB.
  std::size_t budget_bytes = std::size_t{256} << 20;
  /// Where the files are; empty: $TMPDIR, else /var/tmp. They have no name there: when the process
  /// ends, however it ends, they are gone.
  std::string folder{};
};

/// Every result is on the carrier again. A tensor of more than a sixteenth of the budget is a file
/// (one file descriptor each); smaller ones are in memory, besides the budget.
///
/// It runs what consists of elementwise operations, conversions, broadcasts, transposes, reshapes,
/// reductions by sum, product, extreme, any and all, and products (dot_general): the whole call at
/// once, gradients too, without a temporary between elementwise operations.
/// UnsupportedOperationPlan for all others (sort, argsort, top_k, cumulative ones, take and
/// scatter_add, dynamic slices, slice, pad, concatenate, reverse, argmax and argmin, windows and
/// convolutions, random numbers), and for plans whose accumulation is sequential.
///
/// Order of sums. What fits into one tile is added as the cpu carrier adds it. Else tiles are taken
/// in row-major order; floats are added in f64 and rounded once (in a tile of a product: in the
/// dtype, at least f32), integers in their own dtype. The number of threads changes nothing.
///
/// A file that cannot be made, written or read is a RuntimeError that names the operation, the
/// folder and the bytes of the tensor; results are dropped, operands are as before.
/// ValueError: a budget that is too small, a name that is taken.
const Carrier& define_tiled_carrier(std::string_view name, const TiledOptions& options = {},
                                    Location where = std::source_location::current());

/// "tiled": with the options' defaults.
const Carrier& tiled_carrier();

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_TILED_CARRIER_H_
