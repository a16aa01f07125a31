// Losses.
#include <limits>

#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

Types infer_cross_entropy(At at) {
  check_operand_count(at, 2);
  check_kind(at, 0, kFloat);
  check_dtype(at, 1, DType::i32);
  const Type &logits = at.operands[0], &labels = at.operands[1];
  if (logits.rank() == 0) {
    operation_error<ValueError>(at, "logits need an axis of classes", "operands[0].dims",
                                to_text(logits), "rank at least 1");
  }
  const Dims rows(logits.dims.begin(), logits.dims.end() - 1);
  if (labels.dims != rows) {
    operation_error<ValueError>(at, "one label per row of the logits", "operands[1].dims",
                                to_text(labels),
                                to_text(rows) + ", as logits are " + to_text(logits));
  }
  return {{logits.dtype, {}}};
}

std::int64_t classes_axis(const Builder& b, ValueId logits) {
  return static_cast<std::int64_t>(b.type(logits).rank()) - 1;
}

// Where the class is the row's label, of the logits' shape: compared in place, so that no table of
// ones is stored.
ValueId is_label(Builder& b, ValueId logits, ValueId labels) {
  const Dims dims = b.type(logits).dims;
  const std::int64_t axis = classes_axis(b, logits);
  const ValueId classes = emit::iota(b, DType::i32, dims, axis);
  return emit::compare(b, "eq", classes, emit::broadcast_over(b, labels, dims, {axis}));
}

// Per row: is the label one of the classes?
ValueId is_known(Builder& b, ValueId logits, ValueId labels) {
  ValueId known = emit::compare(b, "ge", labels, 0);
  const Dim& classes = b.type(logits).dims.back();
  if (!classes.is_constant()) return known;
  const auto limit = static_cast<double>(classes.constant());
  return emit::logical_and(b, known, emit::compare(b, "lt", labels, limit));
}
ValueId nan_like(Builder& b, ValueId x) {
  const Type type = b.type(x);
  return b.filled(type, std::numeric_limits<double>::quiet_NaN());
}

// The mean over rows of log(sum(exp(z))) - z[label], with z the logits less their maximum. Where no
// class is the label the row is multiplied by NaN: its derivatives are NaN too.
ValueId cross_entropy(Builder& b, const Values& x, At) {
  const std::int64_t axis = classes_axis(b, x[0]);
  const ValueId hit = is_label(b, x[0], x[1]);
  const ValueId z = shifted(b, x[0], axis);
  const ValueId total = emit::log(b, emit::reduce_sum(b, emit::exp(b, z), {axis}));
  const ValueId chosen = emit::select(b, hit, z, emit::zeros_like(b, z));
  const ValueId picked = emit::reduce_sum(b, chosen, {axis});
  const ValueId loss = emit::sub(b, total, picked);

  const ValueId one = emit::fill_like(b, 1, loss);
  const ValueId factor = emit::select(b, is_known(b, x[0], x[1]), one, nan_like(b, loss));
  const ValueId checked = emit::mul(b, loss, factor);
  return mean_along(b, checked, emit::all_axes(b.type(loss).rank()));
}

// (softmax - one-hot) d / rows; NaN in rows whose label is no class.
MaybeValues cross_entropy_vjp(Builder& b, const Values& x, ValueId, ValueId d, At) {
  const std::int64_t axis = classes_axis(b, x[0]);
  const Type type = b.type(x[0]);
  const ValueId hit = is_label(b, x[0], x[1]);
  const ValueId e = emit::exp(b, shifted(b, x[0], axis));
  const ValueId sum = emit::reduce_sum(b, e, {axis});
  const ValueId total = emit::select(b, is_known(b, x[0], x[1]), sum, nan_like(b, sum));
  const ValueId share = share_of_total(b, e, total, axis);
  const ValueId less = emit::sub(b, share, emit::convert(b, hit, type.dtype));
  const Dims rows = emit::without(type.dims, {axis});
  const ValueId count = count_along(b, rows, emit::all_axes(rows.size()), type.dtype);
  const ValueId each = emit::broadcast_scalar(b, emit::div(b, d, count), type.dims);
  return {emit::mul(b, less, each), std::nullopt};
}

std::vector<Workload> cross_entropy_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims dims) {
    const Dim classes = dims.back();
    const Dims rows(dims.begin(), dims.end() - 1);
    result.push_back({.operands = {type_of(dtype, dims), type_of(DType::i32, rows)},
                      .attributes = {},
                      .ranges = {{-4, 4}, {0, static_cast<double>(classes.constant() - 1)}}});
  };
  row(DType::f32, {7, 13});
  row(DType::f32, {32, 10});
  row(DType::f32, {2, 3, 5});
  row(DType::f32, {4});
  row(DType::f32, {3, 1});
  for (DType d : {DType::f16, DType::bf16, DType::f64}) row(d, {3, 5});
  return result;
}

constexpr Role kRoles[] = {Role::smooth, Role::no_grad};
constexpr OperandSpec kOperands[] = {{"logits"}, {"labels"}};
constexpr OperationSchema kSchemas[] = {{.operands = kOperands}};

}  // namespace

constinit const Operation op_cross_entropy = define_op(
    {.name = "cross_entropy",
     .strict = {.roles = kRoles,
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_cross_entropy,
                .decompose = decompose<cross_entropy>,
                .vjp = reverse_rule<cross_entropy_vjp>,
                .workloads = cross_entropy_rows,
                .rtol = 1e-5,
                .text =
                    "The mean over rows of -log(softmax(logits)[label]) along the last axis, a "
                    "scalar.\nC1 logits have a floating dtype.\nC2 labels are i32.\nC3 one "
                    "label per row of the logits.\nA label outside [0, classes) makes the loss, "
                    "and the gradient of its row, NaN. The mean of no rows is NaN."},
     .surface = {.overloads = kSchemas, .plan = plan_cross_entropy, .body = body_direct}});

}  // namespace heddle
