// Slices at computed places.
#include "heddle/backends/halide/elements.h"

namespace heddle::halide {
namespace {

// Where a slice of extent `size` begins along axis `a`, moved inside.
Expr start_of(const Element& e, std::size_t a, const Extent& extent, const Extent& size) {
  const Expr given = e.operand(1, {constant(static_cast<std::int64_t>(a))});
  return clamp(given, 0, constant(extent - size));
}

}  // namespace

Expr lower_dynamic_slice(const Element& e) {
  const Extents from = e.operand_extents(0), sizes = e.extents();
  Index i = e.index;
  for (std::size_t a = 0; a < i.size(); ++a) {
    if (!(from[a] == sizes[a])) i[a] = i[a] + start_of(e, a, from[a], sizes[a]);
  }
  return e.operand(0, i);
}

Expr lower_dynamic_update_slice(const Element& e) {
  const Extents extents = e.extents(), sizes = e.operand_extents(2);
  Index i = e.index;
  Expr inside = Halide::Internal::const_true();
  for (std::size_t a = 0; a < i.size(); ++a) {
    if (extents[a] == sizes[a]) continue;
    const Expr place = i[a] - start_of(e, a, extents[a], sizes[a]);
    inside = inside && place >= 0 && place < constant(sizes[a]);
    i[a] = clamp(place, 0, constant(sizes[a] - 1));
  }
  return select(inside, e.operand(2, i), e.operand(0));
}

}  // namespace heddle::halide
