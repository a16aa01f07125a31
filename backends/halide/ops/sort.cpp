// A sort is a stage of its own (backends/halide/sort.cpp).
#include "heddle/backends/halide/elements.h"

namespace heddle::halide {

Expr lower_argsort(const Element&) {
  throw InternalError({.message = "a sort inside a kernel needs a stage"});
}

}  // namespace heddle::halide
