#include "heddle/backends/tiled/tile.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

using emit::Axes;

Dims dims_of(const Extents& extents) { return {extents.begin(), extents.end()}; }

class TileBuilder {
 public:
  TileBuilder(const TiledPlan& plan, const Loops& loops, const Extents& tile)
      : plan_(plan), loops_(loops), tile_(tile), b_("tile") {}

  Builder& builder() { return b_; }

  /// The part of operand `side` that belongs to the tile; `forced`: the value itself is computed.
  ValueId part(ValueId v, std::size_t side, bool forced = false) {
    const auto [entry, added] = parts_.try_emplace({v, side});
    if (!added) return entry->second;
    const ValueId made = make(v, side, forced);
    return parts_[{v, side}] = made;
  }

  TileFunction finish(ValueId result) {
    b_.output("y", result);
    return {std::move(leaves_), b_.finish()};
  }

 private:
  Extents extents(std::size_t side) const {
    Extents all;
    for (std::size_t loop : loops_.axes[side]) all.push_back(tile_[loop]);
    return all;
  }

  ValueId make(ValueId v, std::size_t side, bool forced) {
    if (plan_.stored[v.index] && !forced) {
      std::vector<int> axes(plan_.function.type(v).rank());
      std::iota(axes.begin(), axes.end(), 0);
      return leaf({v, axes}, side);
    }
    if (plan_.views[v.index]) return leaf(*plan_.views[v.index], side);
    const Node& node = plan_.node(v);
    Values operands;
    for (ValueId o : node.operands) operands.push_back(part(o, side));
    return b_.emit(*node.op, operands, node.attributes);
  }

  ValueId leaf(const View& view, std::size_t side) {
    const Dims whole = dims_of(extents(side));
    if (const Literal* one = single(view.tensor)) {
      return emit::broadcast_scalar(
          b_, b_.constant(literal_from_bytes({one->type.dtype, {}}, *one->bytes)), whole);
    }
    Leaf leaf{view.tensor, {}, {plan_.function.type(view.tensor).dtype, {}}};
    std::vector<std::size_t> walked;  // axes of the tensor
    for (std::size_t k = 0; k < view.axes.size(); ++k) {
      const int a = view.axes[k];
      leaf.loops.push_back(
          a < 0 ? -1 : static_cast<int>(loops_.axes[side][static_cast<std::size_t>(a)]));
      leaf.type.dims.push_back(a < 0 ? Dim(1) : whole[static_cast<std::size_t>(a)]);
      if (a >= 0) walked.push_back(k);
    }
    const ValueId input = b_.input(absl::StrCat("x", leaves_.size()), leaf.type);
    leaves_.push_back(leaf);
    return laid_out(input, leaf.type, view, walked, whole);
  }

  // What was read, with the axes of the value: others dropped, the rest in order and repeated.
  ValueId laid_out(ValueId input, const Type& type, const View& view,
                   const std::vector<std::size_t>& walked, const Dims& whole) {
    Dims dims;
    for (std::size_t k : walked) dims.push_back(type.dims[k]);
    Axes order(walked.size()), axes;
    std::iota(order.begin(), order.end(), 0);
    const auto axis = [&](std::int64_t i) {
      return view.axes[walked[static_cast<std::size_t>(i)]];
    };
    std::sort(order.begin(), order.end(),
              [&](std::int64_t i, std::int64_t j) { return axis(i) < axis(j); });
    for (std::int64_t i : order) axes.push_back(axis(i));
    const ValueId kept = emit::reshape(b_, input, dims);
    return emit::broadcast_in_dim(b_, emit::transpose(b_, kept, order), whole, axes);
  }

  // The literal behind a constant of one element.
  const Literal* single(ValueId v) const {
    if (!plan_.is_node(v) || !plan_.node(v).literal) return nullptr;
    const Literal& literal = *plan_.node(v).literal;
    return element_count(literal.type) == 1 ? &literal : nullptr;
  }

  const TiledPlan& plan_;
  const Loops& loops_;
  const Extents& tile_;
  Builder b_;
  std::map<std::pair<ValueId, std::size_t>, ValueId> parts_;
  std::vector<Leaf> leaves_;
};

const Operation& joining(const Operation& reduction) {
  if (&reduction == &op_reduce_prod) return op_mul;
  if (&reduction == &op_reduce_max) return op_max;
  if (&reduction == &op_reduce_min) return op_min;
  if (&reduction == &op_reduce_any) return op_or_;
  if (&reduction == &op_reduce_all) return op_and_;
  return op_add;  // reduce_sum and dot_general
}

// A tile of a product in at least f32.
DType product_dtype(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

// The operand parts of a reduction or product, converted to what the tile adds in.
Values operands_of(TileBuilder& t, const TiledPlan& plan, const TiledStep& step, bool alone) {
  const Node& node = plan.node(step.result);
  Values parts;
  for (std::size_t side = 0; side < node.operands.size(); ++side) {
    const ValueId part = t.part(node.operands[side], side);
    const DType own = plan.function.type(node.operands[side]).dtype;
    const DType in =
        step.kind == TiledStep::Kind::contract ? product_dtype(own) : running_dtype(plan, step);
    parts.push_back(alone ? part : emit::convert(t.builder(), part, in));
  }
  return parts;
}

}  // namespace

DType running_dtype(const TiledPlan& plan, const TiledStep& step) {
  const Node& node = plan.node(step.result);
  const DType dtype = plan.function.type(step.result).dtype;
  const bool adds =
      node.op == &op_reduce_sum || node.op == &op_reduce_prod || node.op == &op_dot_general;
  return adds && is_floating(dtype) ? DType::f64 : dtype;
}

TileFunction make_tile_function(const TiledPlan& plan, const TiledStep& step, const Loops& loops,
                                const Extents& tile, SumStage stage) {
  TileBuilder t(plan, loops, tile);
  Builder& b = t.builder();
  if (step.kind == TiledStep::Kind::map) return t.finish(t.part(step.result, 0, true));
  const Node& node = plan.node(step.result);
  const Values operands = operands_of(t, plan, step, stage.first && stage.last);
  ValueId sum = b.emit(*node.op, operands, node.attributes);
  if (stage.first && stage.last) return t.finish(sum);
  sum = emit::convert(b, sum, running_dtype(plan, step));
  if (!stage.first) {
    const ValueId before = b.input("sum", b.type(sum));
    sum = b.emit(joining(*node.op), {before, sum});
  }
  return t.finish(stage.last ? emit::convert(b, sum, plan.function.type(step.result).dtype) : sum);
}

}  // namespace heddle
