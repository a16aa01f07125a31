// The elements that windows and convolutions read: the operand's, or what stands in padding and
// holes.
#ifndef HEDDLE_BACKENDS_HALIDE_WINDOW_H_
#define HEDDLE_BACKENDS_HALIDE_WINDOW_H_

#include <optional>
#include <vector>

#include "heddle/backends/halide/elements.h"

namespace heddle::halide {

/// Of a reduce_window_*: element `tap` of the window of result element `result`; `otherwise` where
/// x has none.
Expr window_element(Elements& elements, const Node& node, const Index& result, const Index& tap,
                    const Expr& otherwise);

/// Of a conv_general: x of image `image` and channel `channel` at tap `tap` of the window of the
/// spatial index `result`, or 0.
Expr conv_element(Elements& elements, const Node& node, const Expr& image, const Expr& channel,
                  const Index& result, const Index& tap);

/// The places under the windows of a reduce_window_* or conv_general that is read in place: their
/// extents (of a convolution: images and channels first), and where the operand's elements are.
struct Places {
  /// Elements first ... first + count - 1 of the operand, each at low + dilation * element.
  struct Axis {
    Extent first, count;
    std::int64_t low = 0, dilation = 1;
    bool is_whole = true;  ///< each place is the element of its number
  };
  Extents extents;
  std::vector<Axis> axes;
};
/// Nothing when all places are elements of the operand.
std::optional<Places> places_under(Elements& elements, const Node& node);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_WINDOW_H_
