#include "acme.h"

#include <cmath>

#include "heddle/backends/eager/pack.h"
#include "heddle/graph/emit.h"
#include "swish_kernel.h"

namespace acme {
namespace {

namespace hd = heddle;
namespace emit = heddle::emit;

// What a call is, from the types of its operands: one result, of x's type.
hd::ResolvedInvocation resolve(const hd::BoundOperationCall& call) {
  const hd::Type& x = call.tensor(0).type();
  if (!hd::is_floating(x.dtype)) {
    throw hd::TypeError({.message = "swish_beta is for floats",
                         .operation = "acme.swish_beta",
                         .field = "operands[0].dtype",
                         .found = hd::to_text(x)});
  }
  return {call,
          hd::uniform_plan(call, x.dtype),
          {hd::ResultSpec(x, std::nullopt, {1e-6, 1e-5})},
          {},
          {0}};
}

double beta_of(const hd::Attributes& attributes) {
  const hd::Attribute& beta = *attributes.find("beta");
  const auto* whole = std::get_if<std::int64_t>(&beta);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(beta);
}
double beta_of(const hd::ResolvedInvocation& inv) {
  const hd::Operand& beta = inv.call.operands[1];
  if (const auto* whole = std::get_if<std::int64_t>(&beta)) return static_cast<double>(*whole);
  return std::get<double>(beta);
}

// What it means, in double.
hd::ReferenceResults reference(const hd::ResolvedInvocation& inv) {
  const hd::Type& type = inv.results[0].type;
  std::vector<double> y;
  for (double x : hd::elements(inv.call.tensor(0))) {
    y.push_back(x / (1 + std::exp(-beta_of(inv) * x)));
  }
  return hd::Tensor(hd::tensor(y, hd::constant_extents(type.dims),
                               {.dtype = type.dtype, .carrier = "reference"}));
}

// The same as operations that Heddle has: what programs compile.
hd::Function decompose(const hd::NodeContext& at) {
  hd::Builder b("swish_beta");
  const hd::ValueId x = b.input("x", at.operands[0]);
  const hd::ValueId s = emit::logistic(b, emit::mul(b, x, beta_of(at.attributes)));
  b.output("y", emit::mul(b, x, s));
  return b.finish();
}

// dy = (s + beta x s (1 - s)) dx with s = logistic(beta x). It emits operations that have rules, so
// any order of derivatives works.
hd::MaybeValues linearize(hd::RuleContext& c, std::span<const hd::MaybeValue> tangents) {
  if (!tangents[0]) return {std::nullopt};
  hd::Builder& b = c.build;
  const double beta = beta_of(c.node.attributes);
  const hd::ValueId x = c.primal_in[0];
  const hd::ValueId s = emit::logistic(b, emit::mul(b, x, beta));
  const hd::ValueId rest = emit::sub(b, emit::fill_like(b, 1, s), s);
  const hd::ValueId slope = emit::mul(b, emit::mul(b, emit::mul(b, x, beta), s), rest);
  return {emit::mul(b, *tangents[0], emit::add(b, s, slope))};
}

const hd::OperationSchema kSchema{
    .operands = {{"x", hd::OperandKind::tensor, true}, {"beta", hd::OperandKind::weak_scalar}}};
HEDDLE_REGISTER_OP(definition, "acme.swish_beta", kSchema, resolve,
                   {.vjp = hd::DerivativeRules{.linearize = linearize},
                    .reference = reference,
                    .decompose = decompose});

int run_in_c(const hd::ResolvedInvocation& inv, std::span<const std::byte* const> in,
             std::span<std::byte* const> out) {
  return acme_swish_beta(reinterpret_cast<const float*>(in[0]), static_cast<float>(beta_of(inv)),
                         reinterpret_cast<float*>(out[0]),
                         static_cast<size_t>(hd::element_count(inv.results[0].type)));
}

hd::Prepared prepare(const hd::ResolvedInvocation& inv) {
  if (inv.plan.compute != hd::DType::f32) return hd::Unsupported("the kernel in C is for f32");
  return hd::host_kernel(run_in_c)(inv);
}

}  // namespace

hd::Tensor swish_beta(hd::Tensor x, double beta, std::source_location where) {
  return definition({std::move(x), beta}, {}, where);
}

void use_kernel_in_c() {
  hd::register_kernel_pack({.name = "acme",
                            .version = 1,
                            .carrier = hd::cpu_carrier(),
                            .patterns = {{definition.operation(), hd::kAnyPlan, "acme.swish_beta.c",
                                          prepare, /*preferred=*/1,
                                          hd::ObjectKernel{"acme_swish_beta_compiled",
                                                           ACME_SWISH_OBJECT}}}});
}

}  // namespace acme
