// What conv_general's derivative and conv_transpose share.
#ifndef HEDDLE_GRAPH_OPS_CONV_H_
#define HEDDLE_GRAPH_OPS_CONV_H_

#include "heddle/graph/builder.h"

namespace heddle::ops {

/// The kernel of the transposed convolution: w of [outputs, channels per group, ..] becomes
/// [channels, outputs per group, ..], its taps in the opposite order.
ValueId transposed_taps(Builder& b, ValueId w, std::int64_t groups);

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_CONV_H_
