#include "heddle/backends/halide/padded_rows.h"

#include <algorithm>

#include "heddle/backends/halide/store_tiles.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {
namespace {

bool reaches_beyond_rows(const ConvAttributes& c) {
  const auto plain = [](std::int64_t n) { return n == 1; };
  return std::all_of(c.lhs_dilation.begin(), c.lhs_dilation.end(), plain) && c.low[0] >= 0 &&
         c.low[1] >= 0 && (c.low[1] > 0 || c.high[1] > 0);
}

// The padded rows of images that the convolution reads: places of `width` columns.
Func define_rows(KernelBuilder& b, const Node& conv, std::int64_t width) {
  const auto a = conv.attributes.as<ConvAttributes>();
  const Type& type = b.elements.type(conv.operands[0]);
  const std::int64_t height = type.dims[2].constant();
  const std::int64_t count = std::min(type.dims[3].constant(), width - a.low[1]);
  const Expr zero = Halide::Internal::make_zero(expression_type(type.dtype));
  Func rows("padded_rows");
  Var x("x"), y("y"), c("c"), n("n");
  const RDom r(0, constant(count), "element");
  const Expr row = y - constant(a.low[0]), last = constant(height - 1);
  const Expr element = b.elements.at(conv.operands[0], {n, c, clamp(row, 0, last), r});
  rows(x, y, c, n) = zero;
  rows(r + constant(a.low[1]), y, c, n) = select(row >= 0 && row <= last, element, zero);
  const int vector = b.lanes_of(conv.operands[0]);
  rows.vectorize(x, vector, Halide::TailStrategy::RoundUp);
  rows.update().vectorize(r, vector, Halide::TailStrategy::GuardWithIf);
  return rows;
}

}  // namespace

const Node* padded_convolution(const KernelBuilder& b) {
  const Function& body = b.kernel.body;
  const Node* conv = nullptr;
  for (const Node& node : body.nodes) {
    if (node.op != &op_conv_general) continue;
    if (conv != nullptr) return nullptr;
    conv = &node;
  }
  if (conv == nullptr || is_symbolic(body) || !b.kernel.stages.empty()) return nullptr;
  const Dims& result = body.type(conv->results[0]).dims;
  const bool images = result.size() == 4 && result[3].constant() >= b.lanes;
  const bool fits = images && reaches_beyond_rows(conv->attributes.as<ConvAttributes>()) &&
                    is_elementwise_behind(body, conv->results[0]);
  return fits ? conv : nullptr;
}

void store_padded_convolution(KernelBuilder& b, const Map& map, const Node& conv) {
  const auto a = conv.attributes.as<ConvAttributes>();
  const Dims &taps = b.elements.type(conv.operands[1]).dims,
             &result = b.elements.type(conv.results[0]).dims;
  const std::int64_t height = result[2].constant(), width = result[3].constant();
  const std::int64_t places =
      (width - 1) * a.strides[1] + (taps[3].constant() - 1) * a.rhs_dilation[1] + 1;
  const Func rows = define_rows(b, conv, places);
  b.elements.store_places_by([&conv, rows](const Node& node) -> Elements::Reader {
    if (&node != &conv) return nullptr;
    return [rows](const Index& i) { return Expr(rows(reversed(i))); };
  });
  b.make_outputs();
  OutputGroup& group = b.outputs[0];
  constexpr std::int64_t kBytes = 16 * 1024;  // half of a first-level cache
  const std::int64_t together =
      std::clamp<std::int64_t>(kBytes / (4 * places * a.strides[0]), 1, height);
  const Var n = group.args[0], c = group.args[1], y = group.args[2], x = group.args[3];
  Var block("block"), row("row"), task("task"), own("own");
  Func out = group.f;
  out.split(y, block, row, constant(together), tail(height, together))
      .reorder({x, row, block, c, n});
  vectorize(out, x, width, map.vector, 1);
  const Var planes = fuse_batch(out, c, {n});
  const std::int64_t count = result[0].constant() * result[1].constant();
  const std::int64_t each = std::max<std::int64_t>(1, map.grain / (height * width));
  if (count > each) {
    out.split(planes, task, own, constant(each), tail(count, each)).parallel(task);
  }
  Func(rows).compute_at(out, block);
}

}  // namespace heddle::halide
