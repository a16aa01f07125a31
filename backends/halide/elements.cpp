#include "heddle/backends/halide/elements.h"

#include <algorithm>
#include <map>

#include "heddle/graph/operation.h"

namespace heddle::halide {

namespace {

// What only chooses, flips a sign or gives a whole number stays in the dtype; convert and bitcast
// have rounded themselves.
bool leaves_dtype(const Operation& op) {
  static constexpr const Operation* kStay[] = {
      &op_neg,   &op_abs,  &op_sign,  &op_max,        &op_min,     &op_select, &op_clamp,
      &op_floor, &op_ceil, &op_trunc, &op_round_even, &op_convert, &op_bitcast};
  return op.strict.pattern == Pattern::elementwise &&
         std::find(std::begin(kStay), std::end(kStay), &op) == std::end(kStay);
}

}  // namespace

std::vector<Expr> reversed(Index index) {
  std::reverse(index.begin(), index.end());
  return index;
}
Expr constant(std::int64_t value) { return Expr(static_cast<std::int32_t>(value)); }

Elements::Elements(const Function& body, bool wide)
    : body_(body),
      wide_(wide),
      makers_(definitions(body)),
      readers_(body.types.size()),
      memo_(body.types.size()) {}

const Node* Elements::maker(ValueId v) const {
  return makers_[v.index] == kNoNode ? nullptr : &body_.nodes[makers_[v.index]];
}

Extents Elements::extents(const Dims& dims) const {
  Extents extents;
  for (const Dim& d : dims) {
    Extent e = d.offset();
    for (const auto& [symbol, coefficient] : d.terms()) {
      const auto found = symbols_.find(symbol);
      internal_check(found != symbols_.end(), "a symbol that no port has: " + symbol);
      e = e + Extent(found->second) * coefficient;
    }
    extents.push_back(e);
  }
  return extents;
}

void Elements::stage(ValueId v, Reader reader) { readers_[v.index] = std::move(reader); }

const Elements::Reader* Elements::places(const Node& node) {
  if (!store_places_) return nullptr;
  const auto known = places_.find(node.results[0]);
  if (known != places_.end()) return known->second ? &known->second : nullptr;
  const Reader& reader = places_.emplace(node.results[0], store_places_(node)).first->second;
  return reader ? &reader : nullptr;
}

Expr Elements::at(ValueId v, const Index& index) {
  if (staged(v)) return readers_[v.index](index);
  for (const auto& [known, e] : memo_[v.index]) {
    if (std::equal(index.begin(), index.end(), known.begin(), known.end(),
                   [](const Expr& a, const Expr& b) { return Halide::Internal::equal(a, b); })) {
      return e;
    }
  }
  const Node* node = maker(v);
  internal_check(node != nullptr, "an input of a kernel that is no port");
  Expr e = lowering_of(*node->op)({*this, *node, index});
  if (leaves_dtype(*node->op)) e = rounded(e, type(v).dtype);
  memo_[v.index].emplace_back(index, e);
  return e;
}

Lowering lowering_of(const Operation& op) {
  static const std::map<const Operation*, Lowering> kLowerings = {
#define HEDDLE_PRIMITIVE(name) {&op_##name, lower_##name},
#define HEDDLE_COMPOSITE(name)
#include "heddle/graph/ops.def"
#undef HEDDLE_PRIMITIVE
#undef HEDDLE_COMPOSITE
  };
  const auto found = kLowerings.find(&op);
  if (found != kLowerings.end()) return found->second;
  throw CompileError({.message = "a kernel holds primitives only",
                      .operation = std::string(op.name),
                      .field = "body"});
}

Expr flatten(const Index& index, const Extents& extents) {
  if (index.empty()) return constant(0);
  Expr position = index[0];
  for (std::size_t a = 1; a < index.size(); ++a) {
    position = position * constant(extents[a]) + index[a];
  }
  return position;
}

Index unflatten(const Expr& position, const Extents& extents) {
  Index index(extents.size());
  Expr rest = position;
  for (std::size_t a = extents.size(); a-- > 0;) {
    if (a == 0) {
      index[a] = rest;
    } else {
      index[a] = rest % constant(extents[a]);
      rest = rest / constant(extents[a]);
    }
  }
  return index;
}

}  // namespace heddle::halide
