#include "heddle/schedule/winograd.h"

#include <algorithm>

#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"

namespace heddle {
namespace {

// Rows of tiles in a strip: enough tiles for each reading of the weights, more while the
// transformed image of the strip leaves the second-level cache room for them.
std::int64_t rows_of(const WinogradShape& s) {
  constexpr std::int64_t kFewestTiles = 24, kStripBytes = 128 * 1024;
  const std::int64_t row_bytes = 16 * 4 * s.channels * s.tile_columns;
  const std::int64_t rows = std::clamp<std::int64_t>(
      std::max((kFewestTiles + s.tile_columns - 1) / s.tile_columns, kStripBytes / row_bytes), 1,
      s.tile_rows);
  const std::int64_t strips = (s.tile_rows + rows - 1) / rows;
  return (s.tile_rows + strips - 1) / strips;
}

}  // namespace

Winograd choose_winograd(const Function& body, const Target& target) {
  const WinogradShape s = winograd_shape(body, *winograd_convolution(body));
  Winograd w{.nr = static_cast<int>(kWinogradPanel), .rows = rows_of(s)};
  const int vectors = std::max(1, w.nr / target.vector_floats());
  const int most = target.vector_registers() == 32 ? 24 / vectors : 12 / vectors;
  const std::int64_t tiles = w.rows * s.tile_columns;
  const auto padded = [&](int mr) { return (tiles + mr - 1) / mr * mr; };
  // As many tiles as leave the fewest past the edge, of those that keep the machine busy.
  w.mr = most;
  for (int mr = most; mr * 3 >= most * 2; --mr) {
    if (padded(mr) < padded(w.mr)) w.mr = mr;
  }
  const std::int64_t strips = (s.tile_rows + w.rows - 1) / w.rows * s.images;
  w.grain = choose_grain(estimated_ns(body) * 16 / 36, strips);
  return w;
}

}  // namespace heddle
