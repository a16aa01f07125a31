// Operations that only move, repeat or number elements: index maps.
#include <algorithm>

#include "heddle/backends/halide/elements.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/scalar_convert.h"

namespace heddle::halide {
namespace {

std::size_t axis_of(std::int64_t a) { return static_cast<std::size_t>(a); }

Expr literal_element(const Literal& literal, std::size_t i) {
  return dispatch_dtype(literal.type.dtype, [&](auto t) -> Expr {
    using T = typename decltype(t)::type;
    const T value = view<T>(literal)[i];
    const Halide::Type type = expression_type(literal.type.dtype);
    if constexpr (is_small_float<T>) {
      return Expr(static_cast<float>(value));
    } else if constexpr (std::is_same_v<T, float>) {
      return Expr(value);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      return Halide::Internal::UIntImm::make(type, value);
    } else {
      return Halide::Internal::make_const(type, value);
    }
  });
}

Expr inside(const Expr& i, const Extent& extent) { return clamp(i, 0, constant(extent - 1)); }

Expr zero(const Type& type) { return Halide::Internal::make_zero(expression_type(type.dtype)); }

}  // namespace

Expr lower_constant(const Element& e) {
  const Literal& literal = *e.node.literal;
  const std::int64_t count = element_count(literal.type);
  Expr value = literal_element(literal, static_cast<std::size_t>(count - 1));
  if (count == 1) return value;
  const Expr position = flatten(e.index, e.extents());
  for (std::int64_t i = count - 1; i-- > 0;) {
    value = select(position == constant(i), literal_element(literal, static_cast<std::size_t>(i)),
                   value);
  }
  return value;
}

Expr lower_iota(const Element& e) {
  const auto a = e.node.attributes.as<IotaAttributes>();
  return converted(e.index[axis_of(a.axis)], DType::i32, a.dtype);
}

Expr lower_broadcast_in_dim(const Element& e) {
  const auto axes = e.node.attributes.as<BroadcastAttributes>().axes;
  const Extents from = e.operand_extents(0);
  Index i;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    i.push_back(from[a] == 1 ? constant(0) : e.index[axis_of(axes[a])]);
  }
  return e.operand(0, i);
}

// Axes that agree from the left and from the right pass through untouched.
Expr lower_reshape(const Element& e) {
  const Extents to = e.extents(), from = e.operand_extents(0);
  std::size_t l = 0, r = 0;
  while (l < to.size() && l < from.size() && to[l] == from[l]) ++l;
  while (r < to.size() - l && r < from.size() - l &&
         to[to.size() - 1 - r] == from[from.size() - 1 - r]) {
    ++r;
  }
  auto middle = [&](const auto& list) {
    return std::remove_cvref_t<decltype(list)>(list.begin() + static_cast<std::ptrdiff_t>(l),
                                               list.end() - static_cast<std::ptrdiff_t>(r));
  };
  const Index inner = unflatten(flatten(middle(e.index), middle(to)), middle(from));
  Index i(e.index.begin(), e.index.begin() + static_cast<std::ptrdiff_t>(l));
  i.insert(i.end(), inner.begin(), inner.end());
  i.insert(i.end(), e.index.end() - static_cast<std::ptrdiff_t>(r), e.index.end());
  return e.operand(0, i);
}

Expr lower_transpose(const Element& e) {
  const auto permutation = e.node.attributes.as<TransposeAttributes>().permutation;
  Index i(e.index.size());
  for (std::size_t a = 0; a < i.size(); ++a) i[axis_of(permutation[a])] = e.index[a];
  return e.operand(0, i);
}

Expr lower_slice(const Element& e) {
  const auto s = e.node.attributes.as<SliceAttributes>();
  Index i = e.index;
  for (std::size_t a = 0; a < i.size(); ++a) {
    if (s.strides[a] != 1) i[a] = i[a] * constant(s.strides[a]);
    if (s.starts[a] != 0) i[a] = i[a] + constant(s.starts[a]);
  }
  return e.operand(0, i);
}

// Halide 21 stops at a guarded vector load that runs backwards, so where a vector may be ragged the
// index hides its direction: ~(i - n) is n - 1 - i.
Expr lower_reverse(const Element& e) {
  constexpr std::int64_t kLongestVector = 128;
  Index i = e.index;
  for (std::int64_t axis : e.node.attributes.as<AxesAttributes>().axes) {
    const std::size_t a = axis_of(axis);
    const Extent n = e.extents()[a];
    i[a] = n.divisible_by(kLongestVector) ? constant(n - 1) - i[a] : ~(i[a] - constant(n));
  }
  return e.operand(0, i);
}

Expr lower_pad(const Element& e) {
  const auto p = e.node.attributes.as<PadAttributes>();
  const Extents from = e.operand_extents(0);
  const Expr filler = e.operand(1, {});
  if (std::count(from.begin(), from.end(), Extent(0)) != 0) return filler;
  Index i = e.index;
  Expr in_operand = Halide::Internal::const_true();
  for (std::size_t a = 0; a < i.size(); ++a) {
    if (p.low[a] == 0 && p.high[a] == 0 && p.interior[a] == 0) continue;
    const std::int64_t step = p.interior[a] + 1;
    const Expr at = i[a] - constant(p.low[a]);
    const Expr within = at >= 0 && at <= constant((from[a] - 1) * step);
    if (step > 1) {
      in_operand = in_operand && within && at % constant(step) == 0;
      i[a] = inside(at / constant(step), from[a]);
    } else if (a + 1 == i.size()) {  // the innermost loop gets a part without the question
      in_operand = in_operand && likely(within);
      i[a] = inside(likely(at), from[a]);
    } else {
      in_operand = in_operand && within;
      i[a] = inside(at, from[a]);
    }
  }
  return select(in_operand, e.operand(0, i), filler);
}

Expr lower_concatenate(const Element& e) {
  const std::size_t axis = axis_of(e.node.attributes.as<AxisAttributes>().axis);
  if (const Elements::Part* part = e.values.part_at(e.node.results[0], e.index[axis])) {
    Index i = e.index;
    i[axis] = part->place;
    return e.operand(part->operand, i);
  }
  Expr value = zero(e.type());
  Extent start = e.extents()[axis];
  bool last = true;
  for (std::size_t k = e.node.operands.size(); k-- > 0;) {
    const Extent extent = e.operand_extents(k)[axis];
    start = start - extent;
    if (extent.is(0)) continue;
    Index i = e.index;
    i[axis] = inside(i[axis] - constant(start), extent);
    const Expr part = e.operand(k, i);
    value = last ? part : select(e.index[axis] >= constant(start + extent), value, part);
    last = false;
  }
  return value;
}

}  // namespace heddle::halide
