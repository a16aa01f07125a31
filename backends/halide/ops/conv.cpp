// conv_general read where it is used: few taps for few outputs, written out. Others are stages.
#include "heddle/backends/halide/reduction.h"

namespace heddle::halide {

Expr lower_conv_general(const Element& e) {
  return written_out(e.values, e.node.results[0], e.index);
}

}  // namespace heddle::halide
