// Attention, its gradient, which computes the scores again rather than keep them, and the
// gradient's two halves, which each do so.
#include <cmath>
#include <limits>

#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

DotAttributes rows_by_rows() { return {{0}, {0}, {2}, {2}}; }
DotAttributes rows_by_columns() { return {{0}, {0}, {2}, {1}}; }
DotAttributes columns_by_columns() { return {{0}, {0}, {1}, {1}}; }

double scale_of(At at) {
  const double scale = at.attributes.as<AttentionAttributes>().scale;
  const double depth = static_cast<double>(at.operands[0].dims[2].constant());
  return scale == 0 ? 1 / std::sqrt(depth) : scale;
}

// Scaled products of queries and keys; -inf where a query does not see the key.
ValueId scores(Builder& b, ValueId q, ValueId k, At at) {
  const ValueId products = emit::dot_general(b, q, k, rows_by_rows());
  const ValueId scaled = emit::mul(b, products, scale_of(at));
  if (!at.attributes.as<AttentionAttributes>().causal) return scaled;
  const Dims dims = b.type(scaled).dims;
  const ValueId query = emit::iota(b, DType::i32, dims, 1),
                key = emit::iota(b, DType::i32, dims, 2);
  const double nothing = -std::numeric_limits<double>::infinity();
  return emit::select(b, emit::compare(b, "le", key, query), scaled,
                      emit::fill_like(b, nothing, scaled));
}
ValueId along_keys(Builder& b, ValueId x, ValueId like) {
  return emit::broadcast_over(b, x, Dims(b.type(like).dims), {2});
}

// attention --------------------------------------------------------------------------------------

void check_matrix(At at, std::size_t i, const Dims& needed, const char* what) {
  check_same_dtype(at, i);
  if (at.operands[i].dims == needed) return;
  operation_error<ValueError>(at, what, "operands[" + std::to_string(i) + "].dims",
                              to_text(at.operands[i]), to_text(needed));
}
void check_heads(At at) {
  at.attributes.as<AttentionAttributes>();
  check_kind(at, 0, kFloat);
  for (std::size_t i = 0; i < 3; ++i) {
    if (at.operands[i].rank() == 3) continue;
    operation_error<ValueError>(at, "queries, keys and values are [heads, tokens, depth]",
                                "operands[" + std::to_string(i) + "].dims", to_text(at.operands[i]),
                                "rank 3");
  }
  const Dims &q = at.operands[0].dims, &k = at.operands[1].dims, &v = at.operands[2].dims;
  check_matrix(at, 1, {q[0], k[1], q[2]}, "keys are as deep as queries, in as many heads");
  check_matrix(at, 2, {q[0], k[1], v[2]}, "there is one value for each key");
}
Types infer_attention(At at) {
  check_operand_count(at, 3);
  check_heads(at);
  const Dims &q = at.operands[0].dims, &v = at.operands[2].dims;
  const DType dtype = at.operands[0].dtype;
  return {{dtype, {q[0], q[1], v[2]}}, {dtype, {q[0], q[1]}}};
}
Function decompose_attention(At at) {
  Builder b("attention");
  const Values x = operand_inputs(b, at);
  const ValueId s = scores(b, x[0], x[1], at);
  const ValueId most = emit::reduce_max(b, s, {2});
  const ValueId e = emit::exp(b, emit::sub(b, s, along_keys(b, most, s)));
  const ValueId sum = emit::reduce_sum(b, e, {2});
  const ValueId share = share_of_total(b, e, sum, 2);
  b.output("y0", emit::dot_general(b, share, x[2], rows_by_columns()));
  b.output("y1", emit::add(b, most, emit::log(b, sum)));
  return b.finish();
}
Function attention_vjp(At at) {
  Builder b("attention_vjp");
  const Values x = operand_inputs(b, at);
  const Types results = infer_attention(at);
  const ValueId y = b.input("y0", results[0]), lse = b.input("y1", results[1]);
  const ValueId d = b.input("d0", results[0]), d_lse = b.input("d1", results[1]);
  const ValueId delta = emit::sub(b, emit::reduce_sum(b, emit::mul(b, d, y), {2}), d_lse);
  const Values operands{x[0], x[1], x[2], lse, d, delta};
  const Values gradient = b.add(op_attention_gradient, operands, at.attributes);
  for (std::size_t i = 0; i < 3; ++i) b.output("x" + std::to_string(i), gradient[i]);
  return b.finish();
}

// attention_gradient, _dq, _dkv: q, k, v, the scores' logsumexp, the result's cotangent d, and
// delta: d times the result, summed along each row, less the logsumexp's cotangent
// -------------------------

void check_gradient(At at) {
  check_operand_count(at, 6);
  check_heads(at);
  const Dims &q = at.operands[0].dims, &v = at.operands[2].dims;
  check_matrix(at, 3, {q[0], q[1]}, "there is one logsumexp for each query");
  check_matrix(at, 4, {q[0], q[1], v[2]}, "the cotangent has the result's extents");
  check_matrix(at, 5, {q[0], q[1]}, "there is one delta for each query");
}
struct Shares {
  ValueId p, ds;  ///< of keys in a query's result; cotangents of the products
};
Shares shares(Builder& b, const Values& x, At at) {
  const ValueId s = scores(b, x[0], x[1], at);
  const ValueId p = emit::exp(b, emit::sub(b, s, along_keys(b, x[3], s)));
  const ValueId dp = emit::dot_general(b, x[4], x[2], rows_by_rows());
  const ValueId less = emit::sub(b, dp, along_keys(b, x[5], dp));
  return {p, emit::mul(b, emit::mul(b, p, less), scale_of(at))};
}
Types infer_dq(At at) {
  check_gradient(at);
  return {at.operands[0]};
}
ValueId attention_dq(Builder& b, const Values& x, At at) {
  return emit::dot_general(b, shares(b, x, at).ds, x[1], rows_by_columns());
}
Types infer_dkv(At at) {
  check_gradient(at);
  return {at.operands[1], at.operands[2]};
}
Function decompose_dkv(At at) {
  Builder b("attention_dkv");
  const Values x = operand_inputs(b, at);
  const Shares s = shares(b, x, at);
  b.output("y0", emit::dot_general(b, s.ds, x[0], columns_by_columns()));
  b.output("y1", emit::dot_general(b, s.p, x[4], columns_by_columns()));
  return b.finish();
}
Types infer_gradient(At at) {
  check_gradient(at);
  return {at.operands[0], at.operands[1], at.operands[2]};
}
Function decompose_gradient(At at) {
  Builder b("attention_gradient");
  const Values x = operand_inputs(b, at);
  b.output("y0", b.emit(op_attention_dq, x, at.attributes));
  const Values keys = b.add(op_attention_dkv, x, at.attributes);
  b.output("y1", keys[0]);
  b.output("y2", keys[1]);
  return b.finish();
}

// Rows -------------------------------------------------------------------------------------------

template <bool kGradient>
std::vector<Workload> attention_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, std::int64_t queries, std::int64_t keys, std::int64_t depth,
                       std::int64_t width, AttentionAttributes a) {
    Workload w{.operands = {type_of(dtype, {2, queries, depth}), type_of(dtype, {2, keys, depth}),
                            type_of(dtype, {2, keys, width})},
               .attributes = Attributes::of(a),
               .low = -1,
               .high = 1};
    if (kGradient) {
      w.operands.push_back(type_of(dtype, {2, queries}));
      w.operands.push_back(type_of(dtype, {2, queries, width}));
      w.operands.push_back(type_of(dtype, {2, queries}));
      w.order = 1;
    }
    result.push_back(std::move(w));
  };
  row(DType::f32, 5, 7, 3, 2, {});
  row(DType::f32, 6, 6, 4, 4, {true});
  row(DType::f32, 3, 5, 2, 2, {true, 0.5});
  row(DType::f32, 1, 1, 1, 1, {});
  for (DType d : {DType::f16, DType::bf16, DType::f64}) row(d, 3, 4, 2, 3, {});
  return result;
}

template <int kProducts>
std::pair<std::int64_t, std::int64_t> attention_cost(At at, const Bindings& symbols) {
  auto [flops, bytes] = cost(at, symbols, 1);
  const Dims &q = at.operands[0].dims, &k = at.operands[1].dims;
  flops = 2 * kProducts;
  for (const Dim& d : {q[0], q[1], k[1], q[2]}) flops *= evaluate(d, symbols);
  if (at.attributes.as<AttentionAttributes>().causal) flops /= 2;
  return {flops, bytes};
}

// The call ---------------------------------------------------------------------------------------

constexpr OperandSpec kOperands[] = {{"q"}, {"k"}, {"v"}};
Attribute zero_option() { return 0.0; }
constexpr OptionSpec kOptions[] = {{"causal", OptionKind::flag, false_option},
                                   {"scale", OptionKind::number, zero_option}};
constexpr OperationSchema kSchemas[] = {{.operands = kOperands, .options = kOptions}};
constexpr Role kRoles[] = {Role::smooth, Role::smooth, Role::smooth,
                           Role::smooth, Role::smooth, Role::smooth};

// Leading axes are heads.
Function body_attention(Bound call, const DtypePlan& plan) {
  const std::vector<Type> types = call.tensor_types();
  Builder b("attention");
  b.set_location(call.where);
  Values in, heads;
  for (std::size_t i = 0; i < 3; ++i) {
    in.push_back(b.input(kOperands[i].name, types[i]));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (types[i].rank() < 2 || types[i].rank() != types[0].rank()) {
      throw ValueError({.message = "queries, keys and values are [.., tokens, depth]",
                        .operation = "attention",
                        .field = "operands[" + std::to_string(i) + "].dims",
                        .found = to_text(types[i]),
                        .needed = i == 0 ? "rank at least 2" : "the rank of the queries"});
    }
    Dims dims(types[i].dims.end() - 2, types[i].dims.end());
    const Dims lead(types[i].dims.begin(), types[i].dims.end() - 2);
    dims.insert(dims.begin(), element_count(lead));
    heads.push_back(emit::reshape(b, emit::convert(b, in[i], plan.operands[i].convert_to), dims));
  }
  const Values results = b.add(op_attention, heads, call.options);
  for (std::size_t r = 0; r < 2; ++r) {
    Dims dims = b.type(results[r]).dims;
    dims.erase(dims.begin());
    dims.insert(dims.begin(), types[0].dims.begin(), types[0].dims.end() - 2);
    b.output("result" + std::to_string(r), emit::reshape(b, results[r], dims));
  }
  return b.finish();
}

}  // namespace

constinit const Operation op_attention = define_op(
    {.name = "attention",
     .strict = {.roles = first<3>(kRoles),
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_attention,
                .decompose = decompose_attention,
                .vjp = attention_vjp,
                .workloads = attention_rows<false>,
                .rtol = 1e-5,
                .atol = 1e-5,
                .roofline = attention_cost<2>,
                .text =
                    "softmax(scale q k^T) v for q[H, T, D], k[H, S, D] and v[H, S, E] of each head "
                    "H, and the logsumexp of each query's scaled products. `scale` 0 is 1/sqrt(D); "
                    "`causal`: query t sees the keys 0 .. t. (In a call any leading axes are "
                    "heads.)\nC1 all three have one floating dtype.\nC2 all three have rank "
                    "3.\nC3 keys have the queries' heads and depth.\nC4 there is one value for "
                    "each key.\nA row with NaN or inf among its products is NaN. Source: Vaswani "
                    "et al. 2017; its gradient computes the scores again (Dao et al. 2022)."},
     .surface = {.overloads = kSchemas, .plan = plan_floating, .body = body_attention}});

constinit const Operation op_attention_gradient = define_op(
    {.name = "attention_gradient",
     .strict = {.roles = kRoles,
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_gradient,
                .decompose = decompose_gradient,
                .workloads = attention_rows<true>,
                .rtol = 1e-5,
                .atol = 1e-5,
                .roofline = attention_cost<5>,
                .text = "The cotangents of attention's queries, keys and values, of q, k, v, the "
                        "logsumexp, the result's cotangent d and delta = sum(d result) - "
                        "d_logsumexp along each row: attention_dq's result, then "
                        "attention_dkv's.\nC1 all have one floating dtype.\nC2 heads have rank "
                        "3.\nC3 the extents are attention's."}});

constinit const Operation op_attention_dq = define_op(
    {.name = "attention_dq",
     .strict = {.roles = kRoles,
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_dq,
                .decompose = decompose<attention_dq>,
                .workloads = attention_rows<true>,
                .rtol = 1e-5,
                .atol = 1e-5,
                .roofline = attention_cost<3>,
                .text = "The cotangent of attention's queries, of attention_gradient's operands: "
                        "with p = exp(scale q k^T - logsumexp), scale (p (d v^T - delta)) k.\nC1 "
                        "all have one floating dtype.\nC2 heads have rank 3.\nC3 the extents are "
                        "attention's."}});

constinit const Operation op_attention_dkv = define_op(
    {.name = "attention_dkv",
     .strict = {.roles = kRoles,
                .pattern = Pattern::composite,
                .traits = kFusable,
                .infer = infer_dkv,
                .decompose = decompose_dkv,
                .workloads = attention_rows<true>,
                .rtol = 1e-5,
                .atol = 1e-5,
                .roofline = attention_cost<4>,
                .text = "The cotangents of attention's keys and values, of attention_gradient's "
                        "operands: scale (p (d v^T - delta))^T q, and p^T d.\nC1 all have one "
                        "floating dtype.\nC2 heads have rank 3.\nC3 the extents are "
                        "attention's."}});

}  // namespace heddle
