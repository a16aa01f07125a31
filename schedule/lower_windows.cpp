#include "heddle/schedule/lower_windows.h"

#include <algorithm>

#include "heddle/graph/emit.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/rewrite.h"
#include "heddle/schedule/classify.h"

namespace heddle {
namespace {

using emit::Axes;

std::optional<Values> split_window(Builder& build, const Node& node, ValueId x) {
  const auto w = node.attributes.as<WindowAttributes>();
  std::int64_t elements = 1, longest = 1;
  for (std::int64_t n : w.window) elements *= n, longest = std::max(longest, n);
  if (elements <= kInlineWindow || elements == longest) return std::nullopt;
  const std::size_t rank = w.window.size();
  const Axes ones(rank, 1), zeros(rank, 0);
  const WindowAttributes none{ones, ones, zeros, zeros, ones, ones};
  for (std::size_t a = rank; a-- > 0;) {
    WindowAttributes one = none;
    one.window[a] = w.window[a], one.strides[a] = w.strides[a];
    one.low[a] = w.low[a], one.high[a] = w.high[a];
    one.base_dilation[a] = w.base_dilation[a], one.window_dilation[a] = w.window_dilation[a];
    if (Attributes::of(one) == Attributes::of(none)) continue;
    x = build.emit(*node.op, {x}, Attributes::of(one), node.where);
  }
  return Values{x};
}

std::optional<Values> pad_convolution(Builder& build, const Node& node, Ids operands) {
  auto a = node.attributes.as<ConvAttributes>();
  Axes low{0, 0}, high{0, 0}, holes{0, 0};
  for (std::size_t s = 0; s < a.low.size(); ++s) {
    low.push_back(a.low[s]), high.push_back(a.high[s]), holes.push_back(a.lhs_dilation[s] - 1);
    a.low[s] = a.high[s] = 0, a.lhs_dilation[s] = 1;
  }
  build.set_location(node.where);
  const ValueId zero = emit::scalar(build, build.type(operands[0]).dtype, 0);
  const ValueId x = emit::pad(build, operands[0], zero, low, high, holes);
  if (x == operands[0]) return std::nullopt;
  return Values{build.emit(op_conv_general, {x, operands[1]}, Attributes::of(a), node.where)};
}

std::optional<Values> lower(Builder& build, const Node& node, Ids operands) {
  if (node.op->strict.pattern == Pattern::window) return split_window(build, node, operands[0]);
  if (node.op != &op_conv_general || is_inline_window(node, build.type(operands[1]))) {
    return std::nullopt;
  }
  return pad_convolution(build, node, operands);
}

}  // namespace

Program lower_windows(const Program& program) { return rewrite(program, lower); }

}  // namespace heddle
