// Reductions read where they are used: short ones, written out. Long ones are stages.
#include "heddle/backends/halide/reduction.h"

namespace heddle::halide {
namespace {

Expr short_reduction(const Element& e) { return written_out(e.values, e.node.results[0], e.index); }

}  // namespace

Expr lower_reduce_sum(const Element& e) { return short_reduction(e); }
Expr lower_reduce_prod(const Element& e) { return short_reduction(e); }
Expr lower_reduce_max(const Element& e) { return short_reduction(e); }
Expr lower_reduce_min(const Element& e) { return short_reduction(e); }
Expr lower_reduce_any(const Element& e) { return short_reduction(e); }
Expr lower_reduce_all(const Element& e) { return short_reduction(e); }
Expr lower_argmax(const Element& e) { return short_reduction(e); }
Expr lower_argmin(const Element& e) { return short_reduction(e); }

}  // namespace heddle::halide
