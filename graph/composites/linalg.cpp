// Matrix products as people write them.
#include "absl/strings/str_cat.h"
#include "heddle/graph/call.h"
#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

/// Errors say which operand an extent comes from, in the words of x[.., M, K] and y[.., K, N].
[[noreturn]] void shape_error(const std::string& what, const Type& x, const Type& y,
                              const std::string& why) {
  throw ValueError({.message = absl::StrCat(what, ": x is ", to_text(x), ", y is ", to_text(y),
                                            why.empty() ? "" : "; ", why),
                    .operation = "matmul"});
}
void check_inner(const Type& x, const Type& y) {
  for (const Type* t : {&x, &y}) {
    if (t->rank() < 2) shape_error("a matrix product needs rank 2 or more", x, y, "");
  }
  const Dim &k_x = x.dims.back(), &k_y = y.dims[y.rank() - 2];
  if (k_x == k_y) return;
  shape_error("inner extents differ", x, y,
              absl::StrCat("K is ", to_text(k_x), " from x and ", to_text(k_y), " from y"));
}

Dims batch_of(const Type& t) { return {t.dims.begin(), t.dims.end() - 2}; }

Types infer_matmul(At at) {
  check_operand_count(at, 2);
  check_kind(at, 0, kNumber);
  check_same_dtype(at, 1);
  const Type &x = at.operands[0], &y = at.operands[1];
  check_inner(x, y);
  if (batch_of(x) != batch_of(y)) shape_error("batch extents differ", x, y, "");
  Dims dims = x.dims;
  dims.back() = y.dims.back();
  return {{x.dtype, dims}};
}

ValueId product(Builder& b, ValueId x, ValueId y) {
  const auto rank = static_cast<std::int64_t>(b.type(x).rank());
  const auto y_rank = static_cast<std::int64_t>(b.type(y).rank());
  Axes batch;
  if (y_rank > 2) batch = emit::all_axes(static_cast<std::size_t>(rank) - 2);
  return emit::dot_general(b, x, y, {batch, batch, {rank - 1}, {y_rank - 2}});
}
ValueId matmul(Builder& b, const Values& x, At) { return product(b, x[0], x[1]); }

/// Right-aligned: leading axes of `batch` are put before v's matrix.
ValueId with_batch(Builder& b, ValueId v, const Dims& batch) {
  const Type type = b.type(v);
  Dims dims = batch;
  dims.insert(dims.end(), type.dims.end() - 2, type.dims.end());
  Axes axes;
  for (std::size_t a = 0; a < type.rank(); ++a) {
    axes.push_back(static_cast<std::int64_t>(dims.size() - type.rank() + a));
  }
  return emit::broadcast_in_dim(b, v, dims, axes);
}

/// A plain matrix y multiplies every matrix of x without being repeated.
Function body_matmul(Bound call, const DtypePlan& plan) {
  const std::vector<Type> types = call.tensor_types();
  check_inner(types[0], types[1]);
  const Dims batch = [&] {
    try {
      return broadcast_dims(batch_of(types[0]), batch_of(types[1]));
    } catch (const ValueError&) {
      shape_error("batch extents differ", types[0], types[1], "");
    }
  }();
  Builder b("matmul");
  b.set_location(call.where);
  const ValueId in[] = {b.input("x", types[0]), b.input("y", types[1])};
  ValueId x = emit::convert(b, in[0], plan.operands[0].convert_to);
  ValueId y = emit::convert(b, in[1], plan.operands[1].convert_to);
  if (types[1].rank() > 2) {
    x = with_batch(b, x, batch);
    y = with_batch(b, y, batch);
  }
  b.output("result", product(b, x, y));
  return b.finish();
}

std::vector<Workload> matmul_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims x, Dims y) {
    result.push_back({.operands = {type_of(dtype, std::move(x)), type_of(dtype, std::move(y))},
                      .attributes = {},
                      .low = is_signed(dtype) ? -2.0 : 0.0,
                      .high = 2,
                      .order = is_floating(dtype) ? 2 : 0});
  };
  row(DType::f32, {7, 13}, {13, 5});
  row(DType::f32, {2, 3, 4}, {2, 4, 5});
  row(DType::f32, {2, 1, 3, 4}, {2, 1, 4, 1});
  row(DType::f32, {0, 3}, {3, 2});
  for (DType d : kAllDTypes) {
    if (d != DType::boolean && d != DType::f32) row(d, {2, 3}, {3, 4});
  }
  return result;
}

constexpr OperationSchema kSchemas[] = {{.operands = kXY}};

}  // namespace

constinit const Operation op_matmul = define_op(
    {.name = "matmul",
     .strict = {.roles = first<2>(kSmooth),
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_matmul,
                .decompose = decompose<matmul>,
                .workloads = matmul_rows,
                .rtol = 1e-5,
                .atol = 1e-5,
                .text = "The products of the matrices in the last two axes: x[.., M, K] and y[.., "
                        "K, N] give [.., M, N]. (A call broadcasts the leading axes.)\nC1 both "
                        "have one integer or floating dtype.\nC2 both have rank 2 or more.\nC3 the "
                        "inner extents are equal.\nC4 the batch extents are equal."},
     .surface = {.overloads = kSchemas, .plan = plan_contract, .body = body_matmul}});

}  // namespace heddle
