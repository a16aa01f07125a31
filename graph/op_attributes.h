// The attributes of the primitives: one struct per shape of attribute, read with Attributes::as<>.
// An operation that is not named here has no attributes. Orders of operands where the name does not
// say them: select(predicate, yes, no), clamp(x, low, high).
#ifndef HEDDLE_GRAPH_OP_ATTRIBUTES_H_
#define HEDDLE_GRAPH_OP_ATTRIBUTES_H_

#include "heddle/graph/attributes.h"

namespace heddle {

/// compare: "eq" "ne" "lt" "le" "gt" "ge".
struct CompareAttributes {
  std::string direction;
  static constexpr auto fields() {
    return std::tuple{field("direction", &CompareAttributes::direction)};
  }
};
/// convert, bitcast.
struct ConvertAttributes {
  DType to = DType::f32;
  static constexpr auto fields() { return std::tuple{field("to", &ConvertAttributes::to)}; }
};
/// iota: result[i] = i[axis].
struct IotaAttributes {
  DType dtype = DType::i32;
  Dims dims;
  std::int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{field("dtype", &IotaAttributes::dtype), field("dims", &IotaAttributes::dims),
                      field("axis", &IotaAttributes::axis)};
  }
};
/// broadcast_in_dim: operand axis a is result axis axes[a] (strictly increasing); an extent of 1
/// stretches.
struct BroadcastAttributes {
  Dims dims;
  std::vector<std::int64_t> axes;
  static constexpr auto fields() {
    return std::tuple{field("dims", &BroadcastAttributes::dims),
                      field("axes", &BroadcastAttributes::axes)};
  }
};
/// reshape: the same elements in row-major order.
struct ReshapeAttributes {
  Dims dims;
  static constexpr auto fields() { return std::tuple{field("dims", &ReshapeAttributes::dims)}; }
};
/// transpose: result axis a is operand axis permutation[a].
struct TransposeAttributes {
  std::vector<std::int64_t> permutation;
  static constexpr auto fields() {
    return std::tuple{field("permutation", &TransposeAttributes::permutation)};
  }
};
/// slice: per axis start, limit (exclusive), stride >= 1.
struct SliceAttributes {
  std::vector<std::int64_t> starts, limits, strides;
  static constexpr auto fields() {
    return std::tuple{field("starts", &SliceAttributes::starts),
                      field("limits", &SliceAttributes::limits),
                      field("strides", &SliceAttributes::strides)};
  }
};
/// pad(x, value): per axis elements before, after (may be negative: they cut), and between each
/// two.
struct PadAttributes {
  std::vector<std::int64_t> low, high, interior;
  static constexpr auto fields() {
    return std::tuple{field("low", &PadAttributes::low), field("high", &PadAttributes::high),
                      field("interior", &PadAttributes::interior)};
  }
};
/// concatenate, argmax, argmin.
struct AxisAttributes {
  std::int64_t axis = 0;
  static constexpr auto fields() { return std::tuple{field("axis", &AxisAttributes::axis)}; }
};
/// The reductions (sorted, distinct axes; removed from the result) and reverse.
struct AxesAttributes {
  std::vector<std::int64_t> axes;
  static constexpr auto fields() { return std::tuple{field("axes", &AxesAttributes::axes)}; }
};
/// gather(x, indices): result[a.., i.., b..] = x[a.., indices[i..], b..] along `axis`; scatter(x,
/// indices, updates): the adjoint, x with updates added at the indices (duplicates add up). Indices
/// are i32; strict ones are in [0, extent): the surface turns negative ones round first. `mode`:
/// "clip" moves an index outside to the nearest element, "drop" gives 0 (gather) or leaves the
/// update out (scatter).
struct GatherAttributes {
  std::int64_t axis = 0;
  std::string mode = "drop";
  static constexpr auto fields() {
    return std::tuple{field("axis", &GatherAttributes::axis),
                      field("mode", &GatherAttributes::mode)};
  }
};
/// dot_general(lhs, rhs): batch axes first, then lhs's free axes, then rhs's free axes, each in its
/// operand's order.
struct DotAttributes {
  std::vector<std::int64_t> lhs_batch, rhs_batch, lhs_contract, rhs_contract;
  static constexpr auto fields() {
    return std::tuple{field("lhs_batch", &DotAttributes::lhs_batch),
                      field("rhs_batch", &DotAttributes::rhs_batch),
                      field("lhs_contract", &DotAttributes::lhs_contract),
                      field("rhs_contract", &DotAttributes::rhs_contract)};
  }
};
/// dynamic_slice: the result's extents.
struct DynamicSliceAttributes {
  std::vector<std::int64_t> sizes;
  static constexpr auto fields() {
    return std::tuple{field("sizes", &DynamicSliceAttributes::sizes)};
  }
};
/// reduce_window_sum, _max, _min: one entry per axis. Windows of `window` elements, `strides`
/// apart, over the operand with base_dilation - 1 holes between its elements and low, high places
/// before and after (negative ones cut); window_dilation: the distance of a window's elements.
struct WindowAttributes {
  std::vector<std::int64_t> window, strides, low, high, base_dilation, window_dilation;
  static constexpr auto fields() {
    return std::tuple{field("window", &WindowAttributes::window),
                      field("strides", &WindowAttributes::strides),
                      field("low", &WindowAttributes::low),
                      field("high", &WindowAttributes::high),
                      field("base_dilation", &WindowAttributes::base_dilation),
                      field("window_dilation", &WindowAttributes::window_dilation)};
  }
};
/// conv_general: one entry per spatial axis. lhs_dilation > 1 is the transposed form.
struct ConvAttributes {
  std::vector<std::int64_t> strides, low, high, lhs_dilation, rhs_dilation;
  std::int64_t groups = 1;
  static constexpr auto fields() {
    return std::tuple{field("strides", &ConvAttributes::strides),
                      field("low", &ConvAttributes::low),
                      field("high", &ConvAttributes::high),
                      field("lhs_dilation", &ConvAttributes::lhs_dilation),
                      field("rhs_dilation", &ConvAttributes::rhs_dilation),
                      field("groups", &ConvAttributes::groups)};
  }
};
/// cumsum, cumprod, cummax, cummin. reverse: from the end; exclusive: without the element itself.
struct CumulativeAttributes {
  std::int64_t axis = 0;
  bool reverse = false, exclusive = false;
  static constexpr auto fields() {
    return std::tuple{field("axis", &CumulativeAttributes::axis),
                      field("reverse", &CumulativeAttributes::reverse),
                      field("exclusive", &CumulativeAttributes::exclusive)};
  }
};
/// argsort: the indices of the first `count` elements in order.
struct ArgsortAttributes {
  std::int64_t axis = 0, count = 0;
  bool descending = false, nan_first = false;
  static constexpr auto fields() {
    return std::tuple{field("axis", &ArgsortAttributes::axis),
                      field("count", &ArgsortAttributes::count),
                      field("descending", &ArgsortAttributes::descending),
                      field("nan_first", &ArgsortAttributes::nan_first)};
  }
};
/// rng_bits, random_uniform, random_normal: the result's extents.
struct RandomAttributes {
  Dims dims;
  static constexpr auto fields() { return std::tuple{field("dims", &RandomAttributes::dims)}; }
};

// Composites.

/// sort.
struct SortAttributes {
  std::int64_t axis = 0;
  bool descending = false;
  static constexpr auto fields() {
    return std::tuple{field("axis", &SortAttributes::axis),
                      field("descending", &SortAttributes::descending)};
  }
};
/// top_k: how many.
struct TopKAttributes {
  std::int64_t k = 0;
  static constexpr auto fields() { return std::tuple{field("k", &TopKAttributes::k)}; }
};
/// max_pool: one entry per spatial axis, which are the last ones. ceil: a last window that is not
/// whole counts too, if it begins inside x or the padding before it.
struct PoolAttributes {
  std::vector<std::int64_t> window, strides, low, high;
  bool ceil = false;
  static constexpr auto fields() {
    return std::tuple{field("window", &PoolAttributes::window),
                      field("strides", &PoolAttributes::strides),
                      field("low", &PoolAttributes::low), field("high", &PoolAttributes::high),
                      field("ceil", &PoolAttributes::ceil)};
  }
};
/// avg_pool. count_padding: the divisor counts padding (never what lies beyond it).
struct AvgPoolAttributes : PoolAttributes {
  bool count_padding = false;
  static constexpr auto fields() {
    return std::tuple_cat(PoolAttributes::fields(),
                          std::tuple{field("count_padding", &AvgPoolAttributes::count_padding)});
  }
};
/// conv_transpose: one entry per spatial axis; low and high cut, output_padding adds at the end.
struct ConvTransposeAttributes {
  std::vector<std::int64_t> strides, low, high, output_padding, dilation;
  std::int64_t groups = 1;
  static constexpr auto fields() {
    return std::tuple{field("strides", &ConvTransposeAttributes::strides),
                      field("low", &ConvTransposeAttributes::low),
                      field("high", &ConvTransposeAttributes::high),
                      field("output_padding", &ConvTransposeAttributes::output_padding),
                      field("dilation", &ConvTransposeAttributes::dilation),
                      field("groups", &ConvTransposeAttributes::groups)};
  }
};

/// softmax, log_softmax: along one axis. logsumexp too (the axis is removed).
using SoftmaxAttributes = AxisAttributes;
/// gelu: x * Phi(x) with the exact erf, or its tanh approximation.
struct GeluAttributes {
  bool tanh = false;
  static constexpr auto fields() { return std::tuple{field("tanh", &GeluAttributes::tanh)}; }
};
/// layer_norm(x, scale, shift): over the last axis; scale and shift are vectors of its extent.
struct LayerNormAttributes {
  double epsilon = 1e-5;
  static constexpr auto fields() {
    return std::tuple{field("epsilon", &LayerNormAttributes::epsilon)};
  }
};
/// attention, its gradient and the halves of that. scale 0: 1/sqrt(depth). causal: query t sees the
/// keys 0 .. t.
struct AttentionAttributes {
  bool causal = false;
  double scale = 0;
  static constexpr auto fields() {
    return std::tuple{field("causal", &AttentionAttributes::causal),
                      field("scale", &AttentionAttributes::scale)};
  }
};

}  // namespace heddle

#endif  // HEDDLE_GRAPH_OP_ATTRIBUTES_H_
