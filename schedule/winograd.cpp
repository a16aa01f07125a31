#include "heddle/schedule/winograd.h"

#include <algorithm>

#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle {
namespace {

using emit::Axes;

constexpr std::int64_t kFewestChannels = 16;
// So many tiles pay for the transform of weights that are not constant.
constexpr std::int64_t kFewestTiles = 32;

bool all(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::all_of(values.begin(), values.end(), [=](std::int64_t v) { return v == value; });
}

// Three elements along an axis as four: g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2.
ValueId transformed(Builder& build, ValueId g, std::int64_t axis) {
  const auto part = [&](std::int64_t i) { return emit::slice_axis(build, g, axis, i, i + 1); };
  const ValueId ends = emit::add(build, part(0), part(2));
  return emit::concatenate(build,
                           Values{part(0), emit::mul(build, emit::add(build, ends, part(1)), 0.5),
                                  emit::mul(build, emit::sub(build, ends, part(1)), 0.5), part(2)},
                           axis);
}

// The three again.
ValueId restored(Builder& build, ValueId u, std::int64_t axis) {
  const auto part = [&](std::int64_t i) { return emit::slice_axis(build, u, axis, i, i + 1); };
  return emit::concatenate(build, Values{part(0), emit::sub(build, part(1), part(2)), part(3)},
                           axis);
}

}  // namespace

bool suits_winograd(const Type& x, const Type& w, const ConvAttributes& c) {
  if (x.dtype != DType::f32 || x.rank() != 4 || is_symbolic(x) || is_symbolic(w)) return false;
  if (w.dims[2] != Dim(3) || w.dims[3] != Dim(3) || c.groups != 1) return false;
  if (!all(c.strides, 1) || !all(c.lhs_dilation, 1) || !all(c.rhs_dilation, 1)) return false;
  std::int64_t tiles = x.dims[0].constant();
  for (std::size_t a = 0; a < 2; ++a) {
    const std::int64_t results = x.dims[a + 2].constant() + c.low[a] + c.high[a] - 2;
    if (results < 4) return false;
    tiles *= (results + 1) / 2;
  }
  return tiles >= kFewestTiles && w.dims[0].constant() >= kFewestChannels &&
         w.dims[1].constant() >= kFewestChannels;
}

const Node* winograd_convolution(const Function& body) {
  if (is_symbolic(body)) return nullptr;
  const Node* conv = nullptr;
  for (const Node& node : body.nodes) {
    const Pattern p = node.op->strict.pattern;
    if (!is_reduction(body, node) && !is_fibre(node) && p != Pattern::scatter &&
        p != Pattern::composite)
      continue;
    if (conv != nullptr || node.op != &op_conv_general) return nullptr;
    conv = &node;
  }
  if (conv == nullptr || !suits_winograd(body.type(conv->operands[0]), body.type(conv->operands[1]),
                                         conv->attributes.as<ConvAttributes>())) {
    return nullptr;
  }
  return is_elementwise_behind(body, conv->results[0]) ? conv : nullptr;
}

WinogradShape winograd_shape(const Function& body, const Node& conv) {
  const Dims &result = body.type(conv.results[0]).dims, &w = body.type(conv.operands[1]).dims;
  return {result[0].constant(), w[1].constant(), w[0].constant(), (result[2].constant() + 1) / 2,
          (result[3].constant() + 1) / 2};
}

ValueId winograd_panels(Builder& build, ValueId w) {
  const Dims dims = build.type(w).dims;
  const std::int64_t outputs = dims[0].constant();
  const std::int64_t panels = (outputs + kWinogradPanel - 1) / kWinogradPanel;
  const ValueId u = transformed(build, transformed(build, w, 2), 3);
  const ValueId zero = emit::scalar(build, DType::f32, 0);
  const ValueId whole = emit::pad(build, u, zero, {0, 0, 0, 0},
                                  {panels * kWinogradPanel - outputs, 0, 0, 0}, {0, 0, 0, 0});
  const ValueId split = emit::reshape(build, whole, {panels, kWinogradPanel, dims[1], 16});
  return emit::transpose(build, split, {0, 3, 2, 1});
}

ValueId weights_of_panels(Builder& build, ValueId u, std::int64_t outputs) {
  const Dims dims = build.type(u).dims;
  const ValueId turned = emit::transpose(build, u, {0, 3, 2, 1});
  const ValueId whole =
      emit::reshape(build, turned, {dims[0].constant() * kWinogradPanel, dims[2], Dim(4), Dim(4)});
  const ValueId own = emit::slice_axis(build, whole, 0, 0, outputs);
  return restored(build, restored(build, own, 2), 3);
}

std::optional<ValueId> panels_of_weights(const Function& body, ValueId w) {
  const std::vector<std::uint32_t> makers = definitions(body);
  // The way back through first operands: two restorations, the outputs' slice unless it is whole,
  // the order of axes.
  const Operation* const way[] = {&op_concatenate, &op_slice,   &op_concatenate, &op_slice,
                                  &op_slice,       &op_reshape, &op_transpose};
  for (const Operation* op : way) {
    const std::uint32_t n = makers[w.index];
    if (n == kNoNode) return std::nullopt;
    if (body.nodes[n].op == op) {
      w = body.nodes[n].operands[0];
    } else if (op != &op_slice) {
      return std::nullopt;
    }
  }
  if (makers[w.index] != kNoNode) return std::nullopt;
  const Dims& dims = body.type(w).dims;
  const bool panels = dims.size() == 4 && dims[1] == Dim(16) && dims[3] == Dim(kWinogradPanel);
  return panels ? std::optional(w) : std::nullopt;
}

}  // namespace heddle
