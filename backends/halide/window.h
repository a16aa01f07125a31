// The elements that windows and convolutions read: the operand's, or what stands in padding and
// holes.
#ifndef HEDDLE_BACKENDS_HALIDE_WINDOW_H_
#define HEDDLE_BACKENDS_HALIDE_WINDOW_H_

#include <functional>
#include <optional>

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
/// extents (of a convolution: images and channels first), and what stands at one. Nothing when all
/// of them are elements of the operand.
struct Places {
  Extents extents;
  std::function<Expr(const Index&)> element;
};
std::optional<Places> places_under(Elements& elements, const Node& node, const Expr& otherwise);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_WINDOW_H_
