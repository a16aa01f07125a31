#include "heddle/schedule/symbols.h"

#include <algorithm>
#include <map>
#include <set>

#include "heddle/graph/builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/axis_classes.h"
#include "heddle/schedule/canonical.h"
#include "heddle/schedule/loops.h"

namespace heddle {
namespace {

using Numbers = std::vector<std::int64_t>;

// ---- attributes ----

// Only whether windows may end behind the operand.
Numbers signs(Numbers high) {
  for (std::int64_t& h : high) h = h > 0 ? 1 : 0;
  return high;
}

Attributes without_limits(const Node& node) {
  auto s = node.attributes.as<SliceAttributes>();
  s.limits.assign(s.limits.size(), 0);
  return Attributes::of(s);
}

// Only whether an axis has padding.
Attributes without_end(const Node& node) {
  auto p = node.attributes.as<PadAttributes>();
  for (std::size_t a = 0; a < p.high.size(); ++a) {
    p.high[a] = p.low[a] != 0 || p.high[a] != 0 || p.interior[a] != 0;
  }
  return Attributes::of(p);
}

template <class A>
Attributes with_signs(const Node& node) {
  auto w = node.attributes.as<A>();
  w.high = signs(w.high);
  return Attributes::of(w);
}

Attributes without_count(const Node& node) {
  auto a = node.attributes.as<ArgsortAttributes>();
  a.count = 0;
  return Attributes::of(a);
}

Attributes symbolic_attributes(const Node& node, const Dims& dims) {
  if (node.op == &op_broadcast_in_dim) {
    return Attributes::of(
        BroadcastAttributes{dims, node.attributes.as<BroadcastAttributes>().axes});
  }
  if (node.op == &op_reshape) return Attributes::of(ReshapeAttributes{dims});
  if (node.op == &op_rng_bits) return Attributes::of(RandomAttributes{dims});
  if (node.op == &op_iota) {
    const auto a = node.attributes.as<IotaAttributes>();
    return Attributes::of(IotaAttributes{a.dtype, dims, a.axis});
  }
  if (node.op == &op_dynamic_slice) {
    return Attributes::of(DynamicSliceAttributes{Numbers(dims.size(), 0)});
  }
  if (node.op == &op_slice) return without_limits(node);
  if (node.op == &op_pad) return without_end(node);
  if (node.op == &op_argsort) return without_count(node);
  if (node.op == &op_conv_general) return with_signs<ConvAttributes>(node);
  if (node.op->strict.pattern == Pattern::window) return with_signs<WindowAttributes>(node);
  return node.attributes;
}

// ---- types ----

class Symbols {
 public:
  explicit Symbols(const Function& body) : f_(body), classes_(body) {
    for (const Node& node : body.nodes) {
      if (node.op == &op_conv_general) mark_conv(node);
    }
    for (const Input& in : body.inputs) name_axes(in.value);
    inputs_done_ = true;
    for (const Node& node : body.nodes) {
      for (ValueId r : node.results) name_axes(r);
    }
  }

  Type type(ValueId v) {
    Type t = f_.type(v);
    const std::vector<std::size_t> classes = classes_.of(v);
    for (std::size_t a = 0; a < classes.size(); ++a) {
      const auto found = symbols_.find(classes[a]);
      if (found != symbols_.end() && t.dims[a] != Dim(1)) t.dims[a] = found->second;
    }
    return t;
  }

  /// Those that no input has, in the order of their names.
  const std::vector<std::pair<Dim, std::int64_t>>& missing() const { return missing_; }

 private:
  void mark_conv(const Node& node) {
    const ValueId x = node.operands[0], w = node.operands[1], result = node.results[0];
    const std::size_t rank = f_.type(x).rank();
    const auto mark = [&](std::set<std::size_t>& set, ValueId v, std::size_t axis) {
      set.insert(classes_.of(v)[axis]);
    };
    for (std::size_t a = 2; a < rank; ++a) {
      const std::int64_t most = std::min(kMostTaps, f_.type(result).dims[a].constant());
      if (f_.type(w).dims[a].constant() <= most) mark(fixed_, w, a);
    }
    if (node.attributes.as<ConvAttributes>().groups > 1) {
      mark(fixed_, x, 1), mark(fixed_, w, 0), mark(fixed_, w, 1);
    }
    for (std::size_t a : {std::size_t{1}, rank - 1}) {
      if (f_.type(result).dims[a].constant() < kShortest) mark(short_, result, a);
    }
  }

  void name_axes(ValueId v) {
    const std::vector<std::size_t> classes = classes_.of(v);
    for (std::size_t a = 0; a < classes.size(); ++a) {
      const std::int64_t extent = f_.type(v).dims[a].constant();
      if (extent == 1 || fixed_.count(classes[a]) != 0) continue;
      const char kind = short_.count(classes[a]) != 0 ? kShortSymbol : 's';
      const Dim symbol = Dim::symbol(kind + std::to_string(symbols_.size()));
      if (!symbols_.emplace(classes[a], symbol).second) continue;
      if (inputs_done_) missing_.emplace_back(symbol, extent);
    }
  }

  const Function& f_;
  AxisClasses classes_;
  std::set<std::size_t> fixed_, short_;
  std::map<std::size_t, Dim> symbols_;
  bool inputs_done_ = false;
  std::vector<std::pair<Dim, std::int64_t>> missing_;
};

// ---- the body ----

class Rewriter {
 public:
  explicit Rewriter(const Function& body) : f_(body), symbols_(body), names_(body.types.size()) {}

  SymbolicBody run() {
    for (const Input& in : f_.inputs) {
      names_[in.value.index] = next_input(symbols_.type(in.value));
    }
    for (const Node& node : f_.nodes) {
      if (!node.literal) continue;
      names_[node.results[0].index] = next_input(symbols_.type(node.results[0]));
      result_.constants.push_back(*node.literal);
    }
    add_shapes();
    for (const Node& node : f_.nodes) {
      if (!node.literal) add(node);
    }
    for (const Output& out : f_.outputs) builder_.output(out.name, names_[out.value.index]);
    result_.body = canonical_body(builder_.finish());
    return std::move(result_);
  }

 private:
  ValueId next_input(Type type) {
    return builder_.input("x" + std::to_string(inputs_++), std::move(type));
  }

  // As many inputs as their number of axes demands.
  void add_shapes() {
    constexpr std::size_t kMostAxes = 8;
    const auto& missing = symbols_.missing();
    for (std::size_t first = 0; first < missing.size(); first += kMostAxes) {
      Type type{DType::boolean, {}};
      Numbers extents;
      for (std::size_t s = first; s < std::min(missing.size(), first + kMostAxes); ++s) {
        type.dims.push_back(missing[s].first);
        extents.push_back(missing[s].second);
      }
      next_input(std::move(type));
      result_.shapes.push_back(std::move(extents));
    }
  }

  void add(const Node& node) {
    Values operands;
    std::vector<Type> types;
    for (ValueId o : node.operands) operands.push_back(names_[o.index]);
    for (ValueId r : node.results) types.push_back(symbols_.type(r));
    bool symbolic =
        std::any_of(types.begin(), types.end(), [](const Type& t) { return is_symbolic(t); });
    for (ValueId o : operands) symbolic |= is_symbolic(builder_.type(o));
    // What has no symbols has its types inferred, from all there is to know.
    Attributes attributes = symbolic ? symbolic_attributes(node, types[0].dims) : node.attributes;
    const Values results =
        builder_.add_typed(*node.op, operands, std::move(attributes), std::move(types), node.where);
    for (std::size_t r = 0; r < results.size(); ++r) names_[node.results[r].index] = results[r];
  }

  const Function& f_;
  Symbols symbols_;
  Builder builder_{"kernel"};
  Values names_;
  std::size_t inputs_ = 0;
  SymbolicBody result_;
};

}  // namespace

SymbolicBody over_symbols(const Function& body) { return Rewriter(body).run(); }

}  // namespace heddle
