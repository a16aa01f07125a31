// Scans are stages of their own (backends/halide/fibres.cpp).
#include "heddle/backends/halide/elements.h"
#include "heddle/graph/operation.h"

namespace heddle::halide {
namespace {

Expr no_stage(const Element& e) {
  throw InternalError({.message = "a scan inside a kernel needs a stage",
                       .operation = std::string(e.node.op->name)});
}

}  // namespace

Expr lower_cumsum(const Element& e) { return no_stage(e); }
Expr lower_cumprod(const Element& e) { return no_stage(e); }
Expr lower_cummax(const Element& e) { return no_stage(e); }
Expr lower_cummin(const Element& e) { return no_stage(e); }

}  // namespace heddle::halide
