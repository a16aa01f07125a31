// The transposed convolution as people call it.
#include "heddle/graph/ops/conv.h"

#include "absl/strings/str_cat.h"
#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/ops/window.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

// As a convolution over x with the strides as holes.
ConvAttributes convolution(const ConvTransposeAttributes& a, const Type& w) {
  ConvAttributes c;
  for (std::size_t s = 0; s < a.strides.size(); ++s) {
    const std::int64_t reach = spread(w.dims[s + 2].constant(), a.dilation[s]);
    c.strides.push_back(1);
    c.low.push_back(reach - 1 - a.low[s]);
    c.high.push_back(reach - 1 - a.high[s] + a.output_padding[s]);
  }
  c.lhs_dilation = a.strides, c.rhs_dilation = a.dilation, c.groups = a.groups;
  return c;
}

void check_ranks(At at) {
  const Type &x = at.operands[0], &w = at.operands[1];
  if (x.rank() >= 2 && w.rank() == x.rank()) return;
  operation_error<ValueError>(at, "operands are [batch, channels, ..] and [channels, out, ..]",
                              "operands[1].dims", to_text(w),
                              x.rank() < 2 ? "rank 2 or more" : "the rank of " + to_text(x));
}

Types infer_conv_transpose(At at) {
  check_operand_count(at, 2);
  check_kind(at, 0, kNumber);
  check_same_dtype(at, 1);
  check_ranks(at);
  const auto a = at.attributes.as<ConvTransposeAttributes>();
  const Type &x = at.operands[0], &w = at.operands[1];
  const std::size_t spatial = x.rank() - 2;
  check_numbers(at, "strides", a.strides, spatial, 1);
  check_numbers(at, "low", a.low, spatial, 0);
  check_numbers(at, "high", a.high, spatial, 0);
  check_numbers(at, "output_padding", a.output_padding, spatial, 0);
  check_numbers(at, "dilation", a.dilation, spatial, 1);
  check_numbers(at, "groups", {a.groups}, 1, 1);
  if (w.dims[0] != x.dims[1] || w.dims[0].constant() % a.groups != 0) {
    operation_error<ValueError>(
        at, absl::StrCat("channels differ: x is ", to_text(x), ", w is ", to_text(w)),
        "operands[1].dims[0]", to_text(w.dims[0]),
        absl::StrCat(to_text(x.dims[1]), " channels, a multiple of ", a.groups, " groups"));
  }
  const ConvAttributes c = convolution(a, w);
  Dims dims{x.dims[0], a.groups * w.dims[1]};
  for (std::size_t s = 0; s < spatial; ++s) {
    const std::int64_t window = w.dims[s + 2].constant();
    if (window < 1) {
      operation_error<ValueError>(at, "a window of nothing", "operands[1].dims", to_text(w),
                                  "spatial extents of at least 1");
    }
    dims.push_back(WindowAxis{x.dims[s + 2].constant(), window, 1, c.low[s], c.high[s],
                              c.lhs_dilation[s], c.rhs_dilation[s]}
                       .result());
  }
  return {{x.dtype, dims}};
}

ValueId conv_transpose(Builder& b, const Values& x, At at) {
  const auto a = at.attributes.as<ConvTransposeAttributes>();
  const ValueId taps = transposed_taps(b, x[1], a.groups);
  return b.emit(op_conv_general, {x[0], taps}, Attributes::of(convolution(a, at.operands[1])));
}

std::vector<Workload> conv_transpose_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims x, Dims w, ConvTransposeAttributes a) {
    result.push_back({.operands = {type_of(dtype, std::move(x)), type_of(dtype, std::move(w))},
                      .attributes = Attributes::of(a),
                      .low = is_signed(dtype) ? -2.0 : 0.0,
                      .high = 2,
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {2, 3, 4, 3}, {3, 2, 3, 2}, {{2, 1}, {1, 0}, {0, 1}, {1, 0}, {1, 1}});
  row(DType::f32, {1, 2, 2, 2}, {2, 1, 2, 2}, {{2, 1}, {1, 0}, {0, 1}, {1, 0}, {2, 2}, 2});
  row(DType::f32, {1, 2, 5}, {2, 3, 3}, {{3}, {0}, {0}, {2}, {1}});
  row(DType::f32, {0, 2, 5}, {2, 3, 3}, {{1}, {0}, {0}, {0}, {1}});
  for (DType d : kAllDTypes) {
    if (d != DType::boolean && d != DType::f32) {
      row(d, {1, 2, 3}, {2, 1, 2}, {{2}, {0}, {0}, {0}, {1}});
    }
  }
  return result;
}

Attribute one_group() { return std::int64_t{1}; }
constexpr OperandSpec kXW[] = {{"x"}, {"w"}};
constexpr OptionSpec kOptions[] = {
    {"strides", OptionKind::integers},  {"low", OptionKind::integers},
    {"high", OptionKind::integers},     {"output_padding", OptionKind::integers},
    {"dilation", OptionKind::integers}, {"groups", OptionKind::integer, one_group}};
constexpr OperationSchema kSchemas[] = {{.operands = kXW, .options = kOptions}};
constexpr Role kRoles[] = {Role::smooth, Role::smooth};

}  // namespace

constinit const Operation op_conv_transpose = define_op(
    {.name = "conv_transpose",
     .strict = {.roles = kRoles,
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_conv_transpose,
                .decompose = decompose<conv_transpose>,
                .workloads = conv_transpose_rows,
                .rtol = 1e-5,
                .atol = 1e-5,
                .text = "The adjoint of a convolution in x: x[n, c, s..] w[c, o, k..] is added at "
                        "place s * stride + k * dilation - low of result[n, g, o, ..], for the "
                        "channels c of group g. Spatial extents (n - 1) stride + (k - 1) dilation "
                        "+ 1 - low - high + output_padding.\nC1 both have one integer or floating "
                        "dtype.\nC2 both have the same rank, 2 or more.\nC3 every list has one "
                        "entry per spatial axis; strides, dilations and groups are at least 1, "
                        "paddings at least 0.\nC4 w's first extent is x's channels, a multiple of "
                        "the groups.\nC5 w's spatial extents are at least 1."},
     .surface = {.overloads = kSchemas, .plan = plan_contract, .body = body_direct}});

}  // namespace heddle
