// Convolutions of 3x3 taps in Winograd's form F(2x2,3x3): tiles of 2 x 2 results with 16 products
// of each pair of channels where the definition has 36 (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2015):
//   Y = A^T ((G g G^T) (B^T d B)) A, the products element by element and summed over channels
// g: taps, d: the 4 x 4 elements under a tile.
//     1  0 -1  0       1   0   0       1  1  1  0
// B^T 0  1  1  0   G  1/2 1/2 1/2  A^T 0  1 -1 -1
//     0 -1  1  0      1/2-1/2 1/2
//     0  1  0 -1       0   0   1
// Against f64 its largest error is 0.3 to 0.4 of that of the sums as they are written (64 channels,
// values in [-1, 1): 1.1e-5 and 2.7e-5 of results up to 30). An infinity or NaN reaches all results
// of the tiles that read it, as NaN where infinities cancel.
#ifndef HEDDLE_SCHEDULE_WINOGRAD_H_
#define HEDDLE_SCHEDULE_WINOGRAD_H_

#include <optional>

#include "heddle/graph/builder.h"
#include "heddle/graph/op_attributes.h"

namespace heddle {

/// Whether a convolution of these operands pays in this form: f32, images, 3x3 taps without
/// strides, holes and groups, channels and tiles enough for the transforms.
bool suits_winograd(const Type& x, const Type& w, const ConvAttributes& attributes);

/// The convolution of a body that can be computed so: the only loop, whose elements the outputs are
/// made of at their own index. Null: there is none.
const Node* winograd_convolution(const Function& body);

/// Numbers of each; tiles: of an image.
struct WinogradShape {
  std::int64_t images, channels, outputs, tile_rows, tile_columns;
};
WinogradShape winograd_shape(const Function& body, const Node& conv);

/// Outputs side by side in a panel of transformed weights: a line of the cache.
inline constexpr std::int64_t kWinogradPanel = 16;

/// G g G^T of w[outputs,channels,3,3] as panels u[outputs / 16, 4 row + column, channels, 16], with
/// zeros behind the last output.
ValueId winograd_panels(Builder& build, ValueId w);
/// The weights that u was made of.
ValueId weights_of_panels(Builder& build, ValueId u, std::int64_t outputs);
/// The input u of a body that `w` is made of as weights_of_panels does; else nothing.
std::optional<ValueId> panels_of_weights(const Function& body, ValueId w);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_WINOGRAD_H_
