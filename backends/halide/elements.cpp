#include "heddle/backends/halide/elements.h"

#include <algorithm>
#include <map>

#include "heddle/graph/operation.h"

namespace heddle::halide {

Halide::Type expression_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return Halide::Bool();
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
      return Halide::Int(static_cast<int>(8 * size_of(dtype)));
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
      return Halide::UInt(static_cast<int>(8 * size_of(dtype)));
    case DType::f32:
      return Halide::Float(32);
    case DType::f64:
      return Halide::Float(64);
    case DType::f16:
    case DType::bf16:
      break;
  }
  throw CompileError({.message = "this element type is not compiled on the CPU yet",
                      .field = "dtype",
                      .found = std::string(name_of(dtype)),
                      .needed = "bool, an integer, f32 or f64"});
}

Halide::Type storage_type(DType dtype) {
  return dtype == DType::boolean ? Halide::UInt(8) : expression_type(dtype);
}
Expr to_storage(const Expr& e) { return e.type().is_bool() ? Halide::cast<std::uint8_t>(e) : e; }
Expr from_storage(const Expr& e, DType dtype) {
  return dtype == DType::boolean ? e != Halide::cast<std::uint8_t>(0) : e;
}

std::vector<Expr> reversed(Index index) {
  std::reverse(index.begin(), index.end());
  return index;
}
Expr constant(std::int64_t value) { return Expr(static_cast<std::int32_t>(value)); }

Elements::Elements(const Function& body)
    : body_(body),
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
