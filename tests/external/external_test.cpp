// Kernels of packs inside compiled programs and exported libraries. A program of its own: the packs
// are registered before the carrier's first tensor.
#include <gtest/gtest.h>

#include "artifact/programs.h"
#include "heddle/backends/eager/pack.h"
#include "heddle/backends/graph_runtime.h"
#include "heddle/frontend/heddle.h"
#include "heddle/graph/operation.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;
using Doubles = std::vector<double>;

Prepared for_f32(const ResolvedInvocation& inv) {
  if (inv.plan.compute != DType::f32) return Unsupported("f32 only");
  return PreparedKernel{host_interface(), [](const ResolvedInvocation&, Operands) -> Submitted {
                          throw RuntimeError({.message = "for compiled programs only"});
                        }};
}

Invocation resolve_affine(const BoundOperationCall& call) {
  const Type& x = call.tensor(0).type();
  return {call, uniform_plan(call, x.dtype), {{x}}};
}
HEDDLE_REGISTER_OP(
    affine, "acme.affine",
    {.operands = {{"x"}, {"scale", OperandKind::weak_scalar}},
     .options = {{"offsets", OptionKind::integers}, {"word", std::string("abc")}, {"flag", false}}},
    resolve_affine, {.vjp = kNonDifferentiable});

Invocation resolve_two(const BoundOperationCall& call) {
  const Type& x = call.tensor(0).type();
  return {call, uniform_plan(call, x.dtype), {{Type{x.dtype, {x.dims[0]}}}, {x}}};
}
HEDDLE_REGISTER_OP(two, "acme.two", {.operands = {{"x"}, {"y"}}}, resolve_two,
                   {.vjp = kNonDifferentiable});
HEDDLE_REGISTER_OP(failing, "acme.failing", {.operands = {{"x"}}},
                   [](const BoundOperationCall& call) -> Invocation {
                     const Type& x = call.tensor(0).type();
                     return {call, uniform_plan(call, x.dtype), {{x}}};
                   },
                   {.vjp = kNonDifferentiable});

HEDDLE_REGISTER_OP(ordered, "acme.ordered", {.operands = {{"x"}}},
                   [](const BoundOperationCall& call) {
                     DtypePlan plan = uniform_plan(call, DType::f32);
                     plan.accumulation = Accumulation::sequential;
                     return Invocation(call, plan, {{call.tensor(0).type()}});
                   },
                   {.vjp = kByDecomposition, .decompose = [](const NodeContext& at) {
                      Builder b("ordered");
                      b.output("y", b.input("x", at.operands[0]));
                      return b.finish();
                    }});

KernelPattern pattern(const Operation& op, const std::string& symbol,
                      const std::string& object = HEDDLE_KERNELS_OBJECT) {
  return {op, kAnyPlan, "acme." + symbol, for_f32, 1, ObjectKernel{symbol, object}};
}

const bool kRegistered = [] {
  register_kernel_pack({.name = "acme",
                        .version = 1,
                        .carrier = cpu_carrier(),
                        .patterns = {pattern(affine.operation(), "tests_affine"),
                                     pattern(two.operation(), "tests_two_results"),
                                     pattern(op_tanh, "tests_seven"),
                                     pattern(failing.operation(), "tests_failing"),
                                     {ordered.operation(), kAnyPlan, "acme.ordered", for_f32, 1,
                                      ObjectKernel{"tests_seven", HEDDLE_KERNELS_OBJECT}}}});
  return true;
}();

Doubles run(const Program& p, const std::vector<Literal>& arguments, std::size_t output = 0) {
  return to_doubles(compile(p)->run(p.entry().name, arguments)[output]);
}

Literal floats(Dims dims, std::initializer_list<float> values) {
  return make_literal<float>(std::move(dims), values);
}

Tensor call_affine(const Tensor& x, double scale, Attributes options) {
  return affine({x, scale}, std::move(options));
}

TEST(External, GetsOperandsAndOptions) {  // design 7: packs match the node of the same name
  const Program p = trace(
      [](const Tensor& x) {
        return call_affine(x + 1, 0.5,
                           {{{"offsets", std::vector<std::int64_t>{10, 20}}, {"flag", true}}}) *
               2;
      },
      {f32({3})}, {.name = "f"});
  EXPECT_EQ(run(p, {floats({3}, {1, 3, 5})}), (Doubles{2068, 2070, 2072}));
}

TEST(External, OfABuiltInOperationWhereItTakesTheCall) {
  auto f = [](const Tensor& x) { return tanh(x) + 1; };
  const Program in_f32 = trace(f, {f32({2})}, {.name = "f"});
  EXPECT_EQ(run(in_f32, {floats({2}, {0, 0})}), (Doubles{8, 8}));
  const Program in_f64 = trace(f, {f64({2})}, {.name = "f"});
  EXPECT_EQ(run(in_f64, {make_literal<double>({2}, {0, 0})}), (Doubles{1, 1})) << "refused";
  GraphRuntime runtime;
  EXPECT_EQ(to_doubles(runtime.compile(in_f32)->run(std::vector{floats({2}, {0, 0})})[0]),
            (Doubles{8, 8}))
      << "over kernels of symbolic extents";
}

// Ruling 28: a plan that says the order of its sums is for kernels that keep it.
TEST(External, OfASequentialPlan) {
  const Program p =
      trace([](const Tensor& x) -> Tensor { return ordered({x}); }, {f32({2})}, {.name = "f"});
  EXPECT_EQ(run(p, {floats({2}, {0, 0})}), (Doubles{7, 7}));
  EXPECT_TRUE(compile(p)->plan().kernels.at(0).sequential);
}

TEST(External, EveryOperandAndResultHasAPort) {
  auto both = [](const Tensor& x) {
    const CallResults r = two({x, x});
    return std::vector<Tensor>{r[0], r[1]};
  };
  const Program p = trace(both, {f32({2, 2})}, {.name = "f"});
  EXPECT_EQ(run(p, {floats({2, 2}, {1, 2, 3, 4})}, 0), (Doubles{3, 7}));
  EXPECT_EQ(run(p, {floats({2, 2}, {1, 2, 3, 4})}, 1), (Doubles{2, 4, 6, 8}));
  // A small constant, a broadcast and a reshape are in memory for it; the second result is unread.
  auto first = [](const Tensor& x) {
    const Tensor spread = broadcast_to(x, {2, 2});
    const CallResults r = two({spread, reshape(constant(floats({4}, {1, 2, 3, 4})), {2, 2})});
    return r[0] + 1;
  };
  const Program q = trace(first, {f32({2})}, {.name = "f"});
  EXPECT_EQ(run(q, {floats({2}, {5, 6})}), (Doubles{12, 12}));
}

TEST(External, DonatedOperandsAreLeftAlone) {
  Function f = trace([](const Tensor& x) { return tanh(x); }, {f32({2})},
                     {.name = "f", .inputs = {"x"}, .outputs = {"x"}})
                   .entry();
  f.inputs[0].donate = true;
  const Program p({f});
  EXPECT_EQ(run(p, {floats({2}, {1, 2})}), (Doubles{7, 7}));
  const std::unique_ptr<Executable> made = compile(p);
  for (const Kernel& kernel : made->plan().kernels) {
    for (const Port& out : kernel.out) EXPECT_EQ(out.shares, -1);
  }
}

TEST(External, AFailureEndsTheRun) {
  const Program p =
      trace([](const Tensor& x) -> Tensor { return failing({x}); }, {f32({2})}, {.name = "f"});
  const std::string text = expect_error<RuntimeError>([&] { run(p, {floats({2}, {1, 2})}); });
  EXPECT_NE(text.find("tests_failing"), std::string::npos) << text;
}

TEST(External, GoesIntoExportedLibraries) {
  const Program p = trace([](const Tensor& x) { return tanh(x) + x; }, {f32({2})},
                          {.name = "f", .inputs = {"x"}, .outputs = {"y"}});
  const TemporaryFolder folder;
  export_library({{"f", p}}, {.name = "seven", .folder = folder.path()});
  const std::string printed = testing::run_c(folder, R"(
#include <stdio.h>
#include "seven.h"
int main(void) {
  const float x[2] = {1, 2};
  float y[2];
  seven_t *seven = seven_create(NULL);
  if (seven_f(seven, x, y)) { printf("%s\n", seven_error(seven)); return 1; }
  printf("%g %g\n", y[0], y[1]);
  seven_destroy(seven);
  return 0;
}
)",
                                             {"seven.a"});
  EXPECT_EQ(printed, "8 9\n");
}

TEST(ExternalErrors, ObjectsAndSymbols) {
  std::string text =
      expect_error<ValueError>([] { pattern(op_exp, "tests_seven", "/nowhere/kernels.o"); });
  EXPECT_NE(text.find("/nowhere/kernels.o"), std::string::npos) << text;
  text = expect_error<ValueError>([] { pattern(op_exp, "tests_eight"); });
  EXPECT_NE(text.find("tests_eight"), std::string::npos) << text;
  EXPECT_NE(text.find("tests_seven"), std::string::npos) << "what there is: " << text;
  text = expect_error<ValueError>([] { pattern(op_exp, "tests_seven", "/etc/passwd"); });
  EXPECT_NE(text.find("no object file"), std::string::npos) << text;
  text = expect_error<ValueError>([] { pattern(op_exp, "not a name"); });
  EXPECT_NE(text.find("not a name"), std::string::npos) << text;
}

TEST(ExternalErrors, WithoutDecompositionOrKernelForTheDtype) {
  const Program p = trace(
      [](const Tensor& x) {
        return call_affine(x, 1, {{{"offsets", std::vector<std::int64_t>{}}}});
      },
      {f64({2})}, {.name = "f"});
  const std::string text = expect_error<UnsupportedOperationPlan>([&] { compile(p); });
  EXPECT_NE(text.find("acme.affine"), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle
