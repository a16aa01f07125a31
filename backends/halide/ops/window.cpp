// Windows read where they are used: small ones, written out. Large ones are stages.
#include "heddle/backends/halide/reduction.h"

namespace heddle::halide {
namespace {

Expr small_window(const Element& e) { return written_out(e.values, e.node.results[0], e.index); }

}  // namespace

Expr lower_reduce_window_sum(const Element& e) { return small_window(e); }
Expr lower_reduce_window_max(const Element& e) { return small_window(e); }
Expr lower_reduce_window_min(const Element& e) { return small_window(e); }

}  // namespace heddle::halide
