// The elements of a kernel's values as expressions: `at(value, index)` walks the body down to ports
// and stages. An operation says how by its lowering, one function lower_<name> per primitive.
#ifndef HEDDLE_BACKENDS_HALIDE_ELEMENTS_H_
#define HEDDLE_BACKENDS_HALIDE_ELEMENTS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heddle/backends/halide/conversion.h"
#include "heddle/backends/halide/extent.h"
#include "heddle/graph/program.h"

namespace heddle::halide {

/// One expression (i32) per logical axis, outermost first. Halide's argument order is the reverse.
using Index = std::vector<Expr>;

std::vector<Expr> reversed(Index index);
Expr constant(std::int64_t value);
inline Expr constant(const Extent& extent) { return extent.expr(); }

class Elements {
 public:
  using Reader = std::function<Expr(const Index&)>;

  /// wide: the target computes in f64, and in integers of 64 bits.
  explicit Elements(const Function& body, bool wide = true);

  const Function& body() const { return body_; }
  bool wide() const { return wide_; }
  const Type& type(ValueId v) const { return body_.type(v); }
  Extents extents(ValueId v) const { return extents(type(v).dims); }
  Extents extents(const Dims& dims) const;
  /// From here on the symbol is `value`.
  void bind(const std::string& symbol, const Expr& value) { symbols_[symbol] = value; }
  bool bound(const std::string& symbol) const { return symbols_.count(symbol) != 0; }
  /// The node that makes `v`; null for an input.
  const Node* maker(ValueId v) const;

  /// The element of `v` at `index`, which must lie inside: of expression_type, and rounded.
  Expr at(ValueId v, const Index& index);
  /// From here on `v` is read through `reader`: it is a port, or stored in a Func.
  void stage(ValueId v, Reader reader);
  bool staged(ValueId v) const { return static_cast<bool>(readers_[v.index]); }
  /// Until the next one: the concatenation `v` is read from operand `operand`, at `place` along its
  /// axis, where it is read at `index`.
  struct Part {
    std::size_t operand;
    Expr index, place;
  };
  void take_part(ValueId v, Part part) {
    part_ = {v, std::move(part)};
    memo_.assign(memo_.size(), {});
  }
  const Part* part_at(ValueId v, const Expr& index) const {
    if (!part_ || part_->first != v) return nullptr;
    return Halide::Internal::equal(part_->second.index, index) ? &part_->second : nullptr;
  }
  /// The places under the windows of `node` (see WindowAttributes: padding and holes are among
  /// them), when they are stored: an element at each. Null when windows look for themselves.
  const Reader* places(const Node& node);
  /// Asked once for each node.
  void store_places_by(std::function<Reader(const Node&)> store) {
    store_places_ = std::move(store);
  }

 private:
  const Function& body_;
  const bool wide_;
  std::vector<std::uint32_t> makers_;
  std::vector<Reader> readers_;
  std::map<std::string, Expr> symbols_;
  std::function<Reader(const Node&)> store_places_;
  std::map<ValueId, Reader> places_;
  std::optional<std::pair<ValueId, Part>> part_;
  std::vector<std::vector<std::pair<Index, Expr>>> memo_;
};

/// What a lowering sees: one element of one node.
struct Element {
  Elements& values;
  const Node& node;
  const Index& index;

  /// Operand `k` at the same index, or at another one.
  Expr operand(std::size_t k) const { return values.at(node.operands[k], index); }
  Expr operand(std::size_t k, const Index& at) const { return values.at(node.operands[k], at); }
  const Type& operand_type(std::size_t k) const { return values.type(node.operands[k]); }
  Extents operand_extents(std::size_t k) const { return values.extents(node.operands[k]); }
  const Type& type() const { return values.type(node.results[0]); }
  Extents extents() const { return values.extents(node.results[0]); }
};
using Lowering = Expr (*)(const Element&);

#define HEDDLE_PRIMITIVE(name) Expr lower_##name(const Element& e);
#define HEDDLE_COMPOSITE(name)
#include "heddle/graph/ops.def"
#undef HEDDLE_PRIMITIVE
#undef HEDDLE_COMPOSITE

/// CompileError for a composite or an extension: kernels hold primitives only.
Lowering lowering_of(const Operation& op);

/// Row-major position of `index` in `extents`, and back.
Expr flatten(const Index& index, const Extents& extents);
Index unflatten(const Expr& position, const Extents& extents);

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_ELEMENTS_H_
