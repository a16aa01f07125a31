// Whether values fit is a part of the program by now (lower_faults): what is left is the value.
#include "heddle/backends/halide/elements.h"

namespace heddle::halide {

Expr lower_narrow(const Element& e) { return Halide::cast<std::int32_t>(e.operand(0)); }

}  // namespace heddle::halide
