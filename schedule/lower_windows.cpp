#include "heddle/schedule/lower_windows.h"

#include <algorithm>

#include "heddle/graph/emit.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/rewrite.h"
#include "heddle/schedule/classify.h"
#include "heddle/schedule/winograd.h"

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
  const ValueId zero = emit::scalar(build, build.type(operands[0]).dtype, 0);
  const ValueId x = emit::pad(build, operands[0], zero, low, high, holes);
  if (x == operands[0]) return std::nullopt;
  return Values{build.emit(op_conv_general, {x, operands[1]}, Attributes::of(a), node.where)};
}

// Along every axis one tap, of each element in turn.
bool is_pointwise(const ConvAttributes& c, const Dims& taps) {
  for (std::size_t a = 0; a < c.strides.size(); ++a) {
    if (taps[a + 2] != Dim(1) || c.strides[a] != 1 || c.low[a] != 0 || c.high[a] != 0 ||
        c.lhs_dilation[a] != 1) {
      return false;
    }
  }
  return c.groups == 1;
}

// Windows that are the whole image, element by element.
bool is_whole(const ConvAttributes& c, const Dims& image, const Dims& taps) {
  for (std::size_t a = 0; a < c.strides.size(); ++a) {
    if (taps[a + 2] != image[a + 2] || c.low[a] != 0 || c.high[a] != 0 || c.lhs_dilation[a] != 1 ||
        c.rhs_dilation[a] != 1) {
      return false;
    }
  }
  return c.groups == 1;
}

// w[o,c] x[n,c,...], of each image.
ValueId pointwise(Builder& build, ValueId x, ValueId w) {
  const Dims image = build.type(x).dims, taps = build.type(w).dims;
  const ValueId matrix = emit::reshape(build, w, {taps[0], taps[1]});
  const ValueId each = emit::broadcast_in_dim(build, matrix, {image[0], taps[0], taps[1]}, {1, 2});
  return emit::dot_general(
      build, each, x,
      {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {1}});
}

// x[n,...] w[o,...], over all that an image has.
ValueId whole(Builder& build, ValueId x, ValueId w) {
  const Dims image = build.type(x).dims;
  const Axes inner = emit::other_axes(image.size(), {0});
  Dims result(image.size(), 1);
  result[0] = image[0], result[1] = build.type(w).dims[0];
  const ValueId product = emit::dot_general(
      build, x, w,
      {.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = inner, .rhs_contract = inner});
  return emit::reshape(build, product, result);
}

std::optional<Values> lower_convolution(Builder& build, const Node& node, Ids operands,
                                        bool winograd) {
  const ValueId x = operands[0], w = operands[1];
  if (is_inline_window(node, build.type(w))) return std::nullopt;
  const auto c = node.attributes.as<ConvAttributes>();
  if (winograd && suits_winograd(build.type(x), build.type(w), c)) return std::nullopt;
  build.set_location(node.where);
  if (is_pointwise(c, build.type(w).dims)) return Values{pointwise(build, x, w)};
  if (is_whole(c, build.type(x).dims, build.type(w).dims)) {
    return Values{whole(build, x, w)};
  }
  return pad_convolution(build, node, operands);
}

}  // namespace

Program lower_windows(const Program& program, bool winograd) {
  return rewrite(program, [=](Builder& build, const Node& node, Ids operands) {
    if (node.op->strict.pattern == Pattern::window) return split_window(build, node, operands[0]);
    if (node.op == &op_conv_general) return lower_convolution(build, node, operands, winograd);
    return std::optional<Values>();
  });
}

}  // namespace heddle
