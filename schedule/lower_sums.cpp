#include "heddle/schedule/lower_sums.h"

#include <algorithm>
#include <map>
#include <optional>

#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {
namespace {

using emit::Axes;

// Longer products gain less than joining their operands costs.
constexpr std::int64_t kShortInner = 128;

Dims behind(const Dims& dims, std::size_t axis) {
  return {dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end()};
}

// Of parts that lie behind each other in memory once they are joined, and are reshaped values that
// can be joined along their first axis: these. Equal joins are then seen to be equal.
std::optional<Values> before_reshapes(const Builder& build, const Values& parts, std::size_t axis) {
  const Dims& dims = build.type(parts[0]).dims;
  if (std::any_of(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis),
                  [](const Dim& d) { return d != Dim(1); })) {
    return std::nullopt;
  }
  Values sources;
  for (ValueId p : parts) {
    const Node* maker = build.definition(p);
    if (maker == nullptr || maker->op != &op_reshape) return std::nullopt;
    sources.push_back(maker->operands[0]);
  }
  const auto& first = build.type(sources[0]);
  const bool fit = std::all_of(sources.begin(), sources.end(), [&](ValueId s) {
    const Dims& d = build.type(s).dims;
    return !d.empty() && behind(d, 0) == behind(first.dims, 0);
  });
  return fit ? std::optional(sources) : std::nullopt;
}

ValueId join(Builder& build, const Values& parts, std::size_t axis) {
  Dims dims = build.type(parts[0]).dims;
  dims[axis] = 0;
  for (ValueId p : parts) dims[axis] = dims[axis] + build.type(p).dims[axis];
  if (const auto sources = before_reshapes(build, parts, axis)) {
    return emit::reshape(build, emit::concatenate(build, *sources, 0), dims);
  }
  return emit::concatenate(build, parts, static_cast<std::int64_t>(axis));
}

class Sums {
 public:
  explicit Sums(const Function& f)
      : f_(f),
        makers_(definitions(f)),
        uses_(use_counts(f)),
        inner_(f.types.size()),
        made_(f.types.size()) {
    for (const Node& node : f.nodes) {
      if (node.op != &op_add) continue;
      for (ValueId o : node.operands) inner_[o.index] = only_read_once(o, op_add) != nullptr;
    }
  }

  std::optional<Values> lower(Builder& build, const Node& node, Ids operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      made_[node.operands[i].index] = operands[i];
    }
    if (node.op != &op_add || inner_[node.results[0].index]) return std::nullopt;
    terms_ = terms_of(node);
    const std::size_t before = terms_.size();
    for (std::size_t axis = 0; axis < f_.type(node.results[0]).rank(); ++axis) {
      join_pads(build, axis);
    }
    join_products(build);
    if (terms_.size() == before) return std::nullopt;
    ValueId sum = terms_[0].value;
    for (std::size_t t = 1; t < terms_.size(); ++t) sum = emit::add(build, sum, terms_[t].value);
    return Values{sum};
  }

 private:
  struct Term {
    const Node* node = nullptr;  // that makes it, and that only the sum reads; else none
    ValueId value;               // in the new function
  };

  const Node* only_read_once(ValueId v, const Operation& op) const {
    const std::uint32_t n = makers_[v.index];
    if (n == kNoNode || uses_[v.index] != 1 || f_.nodes[n].op != &op) return nullptr;
    return &f_.nodes[n];
  }

  // In the order in which they are added up.
  std::vector<Term> terms_of(const Node& root) const {
    std::vector<Term> terms;
    std::vector<ValueId> open{root.operands[1], root.operands[0]};
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (inner_[v.index]) {
        const Node& node = f_.nodes[makers_[v.index]];
        open.insert(open.end(), {node.operands[1], node.operands[0]});
        continue;
      }
      const Node* node = only_read_once(v, op_pad);
      if (node == nullptr) node = only_read_once(v, op_dot_general);
      terms.push_back({node, *made_[v.index]});
    }
    return terms;
  }

  ValueId made(ValueId v) const { return *made_[v.index]; }

  // `value` in the place of the first of `which`, and the others gone.
  void replace(const std::vector<std::size_t>& which, ValueId value) {
    const std::size_t first = *std::min_element(which.begin(), which.end());
    terms_[first] = {nullptr, value};
    std::vector<Term> left;
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const bool gone = t != first && std::find(which.begin(), which.end(), t) != which.end();
      if (!gone) left.push_back(terms_[t]);
    }
    terms_ = std::move(left);
  }

  // ---- what zeros pad ----

  bool is_padded_along(const Builder& build, const Node& node, std::size_t axis) const {
    const auto p = node.attributes.as<PadAttributes>();
    for (std::size_t a = 0; a < p.low.size(); ++a) {
      const bool other = a != axis && (p.low[a] != 0 || p.high[a] != 0);
      if (other || p.interior[a] != 0 || p.low[a] < 0 || p.high[a] < 0) return false;
    }
    const Type& type = f_.type(node.operands[0]);
    return !is_symbolic(type) && type.dims[axis] != Dim(0) &&
           emit::is_zero(build, made(node.operands[1]));
  }
  std::int64_t low(std::size_t term, std::size_t axis) const {
    return terms_[term].node->attributes.as<PadAttributes>().low[axis];
  }
  std::int64_t extent(std::size_t term, std::size_t axis) const {
    return f_.type(terms_[term].node->operands[0]).dims[axis].constant();
  }

  // Those that do not overlap, by their place.
  std::vector<std::size_t> side_by_side(const Builder& build, std::size_t axis) const {
    std::vector<std::size_t> padded, found;
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const Node* node = terms_[t].node;
      if (node && node->op == &op_pad && is_padded_along(build, *node, axis)) padded.push_back(t);
    }
    std::stable_sort(padded.begin(), padded.end(),
                     [&](std::size_t a, std::size_t b) { return low(a, axis) < low(b, axis); });
    for (std::size_t t : padded) {
      const bool free =
          found.empty() || low(t, axis) >= low(found.back(), axis) + extent(found.back(), axis);
      if (free) found.push_back(t);
    }
    return found;
  }

  void join_pads(Builder& build, std::size_t axis) {
    const std::vector<std::size_t> which = side_by_side(build, axis);
    if (which.size() < 2) return;
    const Type whole = build.type(terms_[which[0]].value);
    Values parts;
    std::int64_t end = 0;
    const auto fill = [&](std::int64_t until) {
      if (until == end) return;
      Type gap = whole;
      gap.dims[axis] = until - end;
      parts.push_back(emit::zeros(build, gap));
    };
    for (std::size_t t : which) {
      fill(low(t, axis));
      parts.push_back(made(terms_[t].node->operands[0]));
      end = low(t, axis) + extent(t, axis);
    }
    fill(whole.dims[axis].constant());
    replace(which, join(build, parts, axis));
  }

  // ---- products ----

  static bool is_over_first_axes(const DotAttributes& d) {
    return d.lhs_batch.empty() && d.lhs_contract == Axes{0} && d.rhs_contract == Axes{0};
  }
  // The extents that products must have in common, when they can be joined at all.
  std::optional<std::vector<Type>> kind_of(const Term& term) const {
    if (term.node == nullptr || term.node->op != &op_dot_general) return std::nullopt;
    if (!is_over_first_axes(term.node->attributes.as<DotAttributes>())) return std::nullopt;
    std::vector<Type> kind{f_.type(term.node->operands[0]), f_.type(term.node->operands[1])};
    if (is_symbolic(kind[0]) || is_symbolic(kind[1])) return std::nullopt;
    if (kind[0].dims[0].constant() > kShortInner) return std::nullopt;
    for (Type& t : kind) t.dims = behind(t.dims, 0);
    return kind;
  }

  void join_products(Builder& build) {
    for (std::size_t first = 0; first < terms_.size(); ++first) {
      const auto kind = kind_of(terms_[first]);
      if (!kind) continue;
      std::vector<std::size_t> which;
      for (std::size_t t = first; t < terms_.size(); ++t) {
        if (kind_of(terms_[t]) == kind) which.push_back(t);
      }
      if (which.size() > 1) replace(which, joined_product(build, which));
    }
  }

  // In the order in which their operands are made, which other joins of them are likely to have.
  ValueId joined_product(Builder& build, std::vector<std::size_t> which) const {
    std::stable_sort(which.begin(), which.end(), [&](std::size_t a, std::size_t b) {
      return terms_[a].node->operands[0] < terms_[b].node->operands[0];
    });
    Values left, right;
    for (std::size_t t : which) {
      left.push_back(made(terms_[t].node->operands[0]));
      right.push_back(made(terms_[t].node->operands[1]));
    }
    return build.emit(op_dot_general, {join(build, left, 0), join(build, right, 0)},
                      terms_[which[0]].node->attributes);
  }

  const Function& f_;
  std::vector<std::uint32_t> makers_, uses_;
  std::vector<bool> inner_;  // by value: a sum that only another sum reads
  MaybeValues made_;         // by value: in the new function
  std::vector<Term> terms_;
};

}  // namespace

Program lower_sums(const Program& program) {
  std::vector<Function> functions;
  for (const Function& f : program.functions()) {
    const Program before(functions);
    Sums sums(f);
    functions.push_back(rewrite(f, &before, [&](Builder& build, const Node& node, Ids operands) {
      return sums.lower(build, node, operands);
    }));
  }
  return Program(std::move(functions));
}

}  // namespace heddle
