#include <algorithm>
#include <numeric>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {
namespace {

using Rule = std::optional<ValueId> (*)(Builder&, const Node&, Ids);

const Node* made_by(const Builder& build, ValueId v, const Operation& op) {
  const Node* node = build.definition(v);
  return node != nullptr && node->op == &op ? node : nullptr;
}

bool is_identity(const std::vector<std::int64_t>& axes) {
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a] != static_cast<std::int64_t>(a)) return false;
  }
  return true;
}

std::optional<ValueId> convert_rule(Builder& build, const Node& node, Ids in) {
  if (build.type(in[0]).dtype == node.attributes.as<ConvertAttributes>().to) return in[0];
  return std::nullopt;
}

std::optional<ValueId> neg_rule(Builder& build, const Node&, Ids in) {
  if (const Node* inner = made_by(build, in[0], op_neg)) return inner->operands[0];
  return std::nullopt;
}

std::optional<ValueId> reshape_rule(Builder& build, const Node& node, Ids in) {
  const Dims dims = node.attributes.as<ReshapeAttributes>().dims;
  if (build.type(in[0]).dims == dims) return in[0];
  if (const Node* inner = made_by(build, in[0], op_reshape)) {
    const ValueId source = inner->operands[0];
    if (build.type(source).dims == dims) return source;
    return build.emit(op_reshape, {source}, node.attributes);
  }
  return std::nullopt;
}

std::optional<ValueId> transpose_rule(Builder& build, const Node& node, Ids in) {
  std::vector<std::int64_t> outer = node.attributes.as<TransposeAttributes>().permutation;
  if (is_identity(outer)) return in[0];
  const Node* inner = made_by(build, in[0], op_transpose);
  if (inner == nullptr) return std::nullopt;
  const auto first = inner->attributes.as<TransposeAttributes>().permutation;
  const ValueId source = inner->operands[0];
  for (std::int64_t& a : outer) a = first[static_cast<std::size_t>(a)];
  if (is_identity(outer)) return source;
  return build.emit(op_transpose, {source}, Attributes::of(TransposeAttributes{outer}));
}

// A transposed factor is the factor, read along its own axes, when its free axes keep their order.
bool read_untransposed(const Builder& build, ValueId& factor, std::vector<std::int64_t>& batch,
                       std::vector<std::int64_t>& contract) {
  const Node* inner = made_by(build, factor, op_transpose);
  if (inner == nullptr) return false;
  const auto order = inner->attributes.as<TransposeAttributes>().permutation;
  std::vector<std::int64_t> free;
  for (std::size_t a = 0; a < order.size(); ++a) {
    const auto axis = static_cast<std::int64_t>(a);
    if (std::count(batch.begin(), batch.end(), axis) == 0 &&
        std::count(contract.begin(), contract.end(), axis) == 0) {
      free.push_back(order[a]);
    }
  }
  if (!std::is_sorted(free.begin(), free.end())) return false;
  for (std::int64_t& a : batch) a = order[static_cast<std::size_t>(a)];
  for (std::int64_t& a : contract) a = order[static_cast<std::size_t>(a)];
  factor = inner->operands[0];
  return true;
}

std::optional<ValueId> dot_rule(Builder& build, const Node& node, Ids in) {
  auto d = node.attributes.as<DotAttributes>();
  ValueId x = in[0], y = in[1];
  const bool left = read_untransposed(build, x, d.lhs_batch, d.lhs_contract);
  const bool right = read_untransposed(build, y, d.rhs_batch, d.rhs_contract);
  if (!left && !right) return std::nullopt;
  return build.emit(op_dot_general, {x, y}, Attributes::of(d));
}

std::optional<ValueId> broadcast_rule(Builder& build, const Node& node, Ids in) {
  const auto outer = node.attributes.as<BroadcastAttributes>();
  if (build.type(in[0]).dims == outer.dims && is_identity(outer.axes)) return in[0];
  const Node* inner = made_by(build, in[0], op_broadcast_in_dim);
  if (inner == nullptr) return std::nullopt;
  auto axes = inner->attributes.as<BroadcastAttributes>().axes;
  const ValueId source = inner->operands[0];
  for (std::int64_t& a : axes) a = outer.axes[static_cast<std::size_t>(a)];
  return build.emit(op_broadcast_in_dim, {source},
                    Attributes::of(BroadcastAttributes{outer.dims, axes}));
}

std::optional<ValueId> slice_rule(Builder& build, const Node& node, Ids in) {
  const auto a = node.attributes.as<SliceAttributes>();
  const Dims& dims = build.type(in[0]).dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (a.starts[i] != 0 || a.strides[i] != 1 || Dim(a.limits[i]) != dims[i]) return std::nullopt;
  }
  return in[0];
}

std::optional<ValueId> pad_rule(Builder&, const Node& node, Ids in) {
  const auto a = node.attributes.as<PadAttributes>();
  for (std::size_t i = 0; i < a.low.size(); ++i) {
    if (a.low[i] != 0 || a.high[i] != 0 || a.interior[i] != 0) return std::nullopt;
  }
  return in[0];
}

std::optional<ValueId> concatenate_rule(Builder&, const Node&, Ids in) {
  if (in.size() == 1) return in[0];
  return std::nullopt;
}

// Reductions over no axis, and reverse of no axis, keep their operand.
std::optional<ValueId> axes_rule(Builder& build, const Node& node, Ids in) {
  if (node.attributes.as<AxesAttributes>().axes.empty() &&
      build.type(in[0]).dtype != DType::boolean)
    return in[0];
  return std::nullopt;
}

struct Entry {
  const Operation* op;
  Rule rule;
};
const Entry kRules[] = {{&op_convert, convert_rule},
                        {&op_neg, neg_rule},
                        {&op_reshape, reshape_rule},
                        {&op_transpose, transpose_rule},
                        {&op_dot_general, dot_rule},
                        {&op_broadcast_in_dim, broadcast_rule},
                        {&op_slice, slice_rule},
                        {&op_pad, pad_rule},
                        {&op_concatenate, concatenate_rule},
                        {&op_reduce_sum, axes_rule},
                        {&op_reverse, axes_rule}};

}  // namespace

Program canonicalize(const Program& program) {
  return rewrite(program,
                 [](Builder& build, const Node& node, Ids operands) -> std::optional<Values> {
                   for (const Entry& e : kRules) {
                     if (e.op != node.op) continue;
                     if (auto v = e.rule(build, node, operands)) return Values{*v};
                   }
                   return std::nullopt;
                 });
}

}  // namespace heddle
