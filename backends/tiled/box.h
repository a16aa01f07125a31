// Boxes of index space, and the elements of a tensor in one.
#ifndef HEDDLE_BACKENDS_TILED_BOX_H_
#define HEDDLE_BACKENDS_TILED_BOX_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/backends/eager/storage.h"

namespace heddle {

using Extents = std::vector<std::int64_t>;

struct Box {
  Extents start, extent;
};
std::int64_t element_count(const Extents& extents);

/// f(box) for every tile of `dims` along `axes` (the last one fastest); `box` holds the other axes.
/// An axis of extent 0 has one tile, which is empty.
template <class F>
void for_each_tile(const Extents& dims, const Extents& tile, std::span<const std::size_t> axes,
                   Box& box, F f) {
  if (axes.empty()) return f();
  const std::size_t a = axes[0];
  std::int64_t at = 0;
  do {
    box.start[a] = at;
    box.extent[a] = std::min(tile[a], dims[a] - at);
    for_each_tile(dims, tile, axes.subspan(1), box, f);
    at += tile[a];
  } while (at < dims[a]);
}

/// The elements of `box` of a tensor, dense and row-major; `into` and `from` have their size.
/// RuntimeError when the medium fails.
void read_box(const Tensor& tensor, const Box& box, std::span<std::byte> into);
void write_box(const Tensor& tensor, const Box& box, std::span<const std::byte> from);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_TILED_BOX_H_
