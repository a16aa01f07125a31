// The arithmetic of windows along one axis: what reduce_window and conv_general share.
#ifndef HEDDLE_GRAPH_OPS_WINDOW_H_
#define HEDDLE_GRAPH_OPS_WINDOW_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "heddle/graph/error.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/ops/record.h"

namespace heddle::ops {

/// The most places that an axis with its padding and holes may have, and the most that a number of
/// a window may be: sums of a few of them stay within 64 bits.
inline constexpr std::int64_t kMostPlaces = std::int64_t{1} << 60;
/// No lower limit of its own, for check_numbers.
inline constexpr std::int64_t kAnything = -kMostPlaces;

/// Places from the first to the last of `count` elements that are `distance` apart. OverflowError
/// above kMostPlaces.
inline std::int64_t spread(std::int64_t count, std::int64_t distance) {
  if (count == 0) return 0;
  if (count - 1 <= kMostPlaces / distance) return (count - 1) * distance + 1;
  throw OverflowError(
      {.message = "more places than can be counted",
       .found = std::to_string(count) + " elements, " + std::to_string(distance) + " apart",
       .needed = "at most 2^60 places"});
}

/// Element k of window o lies at place o * stride + k * window_dilation of the operand, whose
/// element i lies at place low + i * base_dilation of low + .. + high places.
struct WindowAxis {
  std::int64_t extent = 0, window = 1, stride = 1, low = 0, high = 0, base_dilation = 1,
               window_dilation = 1;

  std::int64_t reach() const { return spread(window, window_dilation); }
  std::int64_t padded() const { return spread(extent, base_dilation) + low + high; }
  std::int64_t result() const { return padded() < reach() ? 0 : (padded() - reach()) / stride + 1; }
  /// The operand's element there, or nothing: padding or a hole.
  std::optional<std::int64_t> source(std::int64_t o, std::int64_t k) const {
    const std::int64_t place = o * stride + k * window_dilation - low;
    if (place < 0 || place % base_dilation != 0 || place / base_dilation >= extent) {
      return std::nullopt;
    }
    return place / base_dilation;
  }
  /// The axis that takes results back to operand elements: its window i holds the results that
  /// element i went into, where this window's elements stand in the opposite order. Its result() is
  /// this extent. There must be results.
  WindowAxis transposed() const {
    WindowAxis t{.extent = result(),
                 .window = window,
                 .stride = base_dilation,
                 .low = reach() - 1 - low,
                 .high = 0,
                 .base_dilation = stride,
                 .window_dilation = window_dilation};
    t.high = (extent - 1) * base_dilation + reach() - t.padded();
    return t;
  }
};

/// Every axis of a reduce_window_*, every spatial axis of a conv_general.
std::vector<WindowAxis> window_axes(const Type& x, const WindowAttributes& attributes);
std::vector<WindowAxis> window_axes(const Type& x, const Type& w, const ConvAttributes& attributes);

/// ValueError unless `list` has `count` entries, each at least `least` and at most kMostPlaces.
void check_numbers(At at, const char* field, const std::vector<std::int64_t>& list,
                   std::size_t count, std::int64_t least);

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_WINDOW_H_
