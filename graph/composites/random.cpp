// Distributions made of random bits.
#include "heddle/graph/composites/compose.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

// 24 random bits as i32.
ValueId whole_numbers(Builder& b, const Values& x, At at) {
  const ValueId bits = b.emit(op_rng_bits, x, at.attributes);
  return emit::convert(b, emit::div(b, bits, emit::fill_like(b, 256, bits)), DType::i32);
}

ValueId uniform(Builder& b, const Values& x, At at) {
  return emit::mul(b, emit::convert(b, whole_numbers(b, x, at), DType::f32), 0x1p-24);
}

ValueId polynomial(Builder& b, ValueId x, std::initializer_list<double> highest_first) {
  MaybeValue sum;
  for (double c : highest_first) {
    sum = sum ? emit::add(b, emit::mul(b, *sum, x), c) : emit::fill_like(b, c, x);
  }
  return *sum;
}

// sqrt(2) erfinv(u) of odd multiples u of 2^-24 in (-1, 1): Giles, Approximating the erfinv
// function, GPU Computing Gems, 2011 (the single-precision form).
ValueId normal(Builder& b, const Values& x, At at) {
  const ValueId n = emit::convert(b, whole_numbers(b, x, at), DType::f32);
  const ValueId u = emit::mul(b, emit::add(b, n, 0.5 - 0x1p23), 0x1p-23);
  const ValueId one = emit::fill_like(b, 1, u);
  const ValueId product = emit::mul(b, emit::sub(b, one, u), emit::add(b, one, u));
  const ValueId w = emit::neg(b, emit::log(b, product));
  const ValueId near =
      polynomial(b, emit::add(b, w, -2.5),
                 {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                  -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  const ValueId far =
      polynomial(b, emit::add(b, emit::sqrt(b, w), -3),
                 {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                  -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  const ValueId slope = emit::select(b, emit::compare(b, "lt", w, 5), near, far);
  return emit::mul(b, emit::mul(b, slope, u), 1.4142135623730951);
}

Types infer_random(At at) {
  Types types = op_rng_bits.strict.infer(
      {at.op, at.operands, at.attributes});  // the words of its errors name this operation
  types[0].dtype = DType::f32;
  return types;
}

std::vector<Workload> random_rows() {
  std::vector<Workload> rows = op_rng_bits.strict.workloads();
  for (Workload& row : rows) row.low = 0;
  return rows;
}

constexpr OperandSpec kOperands[] = {{"key"}, {"counter"}};
constexpr OptionSpec kOptions[] = {{"dims", OptionKind::dims}};
constexpr OperationSchema kSchemas[] = {{.operands = kOperands, .options = kOptions}};

DtypePlan plan_random(Bound call) {
  DtypePlan p = plan_keep(call);
  p.output = DType::f32;
  return p;
}

consteval Operation distribution(std::string_view name, Function (*decompose)(At),
                                 std::string_view text) {
  return define_op({.name = name,
                    .strict = {.roles = first<2>(kNoGrad),
                               .pattern = Pattern::composite,
                               .traits = kFusable,
                               .infer = infer_random,
                               .decompose = decompose,
                               .workloads = random_rows,
                               .rtol = 1e-5,
                               .text = text},
                    .surface = {.overloads = kSchemas, .plan = plan_random, .body = body_direct}});
}

}  // namespace

constinit const Operation op_random_uniform =
    distribution("random_uniform", decompose<uniform>,
                 "f32 multiples of 2^-24, uniform in [0, 1): the upper 24 bits of rng_bits.\nC1 "
                 "both are u32.\nC2 "
                 "the key is u32[2], the counter u32[4].\nC3 no extent is negative.");

constinit const Operation op_random_normal = distribution(
    "random_normal", decompose<normal>,
    "f32 numbers of the standard normal distribution: sqrt(2) erfinv(u) of the upper 24 bits of "
    "rng_bits, u in (-1, 1).\nC1 both are u32.\nC2 the key is u32[2], the counter u32[4].\nC3 no "
    "extent is negative.");

}  // namespace heddle
