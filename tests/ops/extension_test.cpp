// Operations defined at run time: the values a definition is made of, what define_operation
// refuses, and that a definition is then an operation like any other in calls, programs and
// derivatives.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/call.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/text.h"
#include "heddle/graph/verify.h"
#include "ops/support.h"
#include "ops/traced.h"
#include "support/expect_error.h"

namespace heddle::ops_test {
namespace {

using heddle::testing::expect_error;

constexpr OperandKind kTensor = OperandKind::tensor, kWeak = OperandKind::weak_scalar,
                      kStructural = OperandKind::structural;

// define_operation ------------------------------------------------------------------------------

Invocation same_type(const BoundOperationCall& call) {
  const Type& x = call.tensor(0).type();
  return {call, uniform_plan(call, x.dtype), {{x}}};
}
const OperationSchema& one_tensor() {
  static const OperationSchema schema{.operands = {{"x", kTensor, true}}};
  return schema;
}
const OperationDefinition& define(const std::string& name, DefinitionParts parts = {},
                                  ResolveFunction resolve = same_type) {
  if (!parts.vjp.given()) parts.vjp = kNonDifferentiable;
  return define_operation(name, one_tensor(), std::move(resolve), std::move(parts));
}

TEST(define_operation, gives_a_definition_found_by_name) {  // A5.1 A1.3
  const OperationDefinition& d = define("tests.given");
  EXPECT_EQ(d.name, "tests.given");
  EXPECT_EQ(d.schema.operands[0].name, "x");
  EXPECT_TRUE(d.vjp.none());
  EXPECT_EQ(find_operation("tests.given"), &d.operation());
  EXPECT_EQ(definition_of(d.operation()), &d);
  EXPECT_EQ(find_operation("tests.given", 2), nullptr);
  EXPECT_EQ(definition_of(op_add), nullptr);
}

TEST(define_operation, refuses_names) {  // A5.2, ruling 3
  for (const char* bad : {"", "square", "acme.", ".square", "acme..square", "acme.2d", "acme.a b",
                          "heddle.square", "add.custom", "graph_input.x", "acme.graph_output"}) {
    SCOPED_TRACE(bad);
    expect_error<ValueError>([&] { define(bad); }, "; name: found '" + std::string(bad) + "'");
    EXPECT_EQ(find_operation(bad), nullptr);
  }
}

TEST(define_operation, built_in_names_pass_the_same_checker) {  // req C9
  for (const Operation* op : built_in_operations()) {
    EXPECT_EQ(operation_name_fault(op->name, false), "") << op->name;
  }
  for (const char* bad : {"", "Add", "_x", "1x", "a.b", "graph_input", "graph_output"}) {
    EXPECT_NE(operation_name_fault(bad, false), "") << bad;
  }
}

TEST(define_operation, wants_a_resolver_and_a_derivative) {  // A5.3 A5.4
  const std::string text = expect_error<TypeError>([] { define("tests.no_resolve", {}, nullptr); },
                                                   "[tests.no_resolve] extension_test.cpp:");
  EXPECT_NE(text.find("a definition resolves its calls; resolve: found nothing"), std::string::npos)
      << text;
  expect_error<ValueError>(
      [] { define_operation("tests.no_vjp", one_tensor(), same_type, {}); },
      "the derivative must be said; vjp: found nothing, needed a callback, rules");
  expect_error<TypeError>([] { define("tests.empty_vjp", {.vjp = VjpFunction()}); },
                          "no function; vjp: found an empty function");
  expect_error<TypeError>([] { define("tests.empty_rules", {.vjp = DerivativeRules{}}); },
                          "no function; vjp: found an empty function");
  expect_error<ValueError>([] { define("tests.no_body", {.vjp = kByDecomposition}); },
                           "by decomposition needs one; decompose: found nothing");
  for (const char* name : {"tests.no_resolve", "tests.no_vjp", "tests.empty_vjp",
                           "tests.empty_rules", "tests.no_body"}) {
    EXPECT_EQ(find_operation(name), nullptr) << name;
  }
}

TEST(define_operation, reports_the_first_fault) {  // A5.6
  define("tests.taken");
  auto all = [](const char* name, ResolveFunction resolve, DefinitionParts parts) {
    return [=] { define_operation(name, one_tensor(), resolve, parts); };
  };
  // name, resolve, omitted derivative, kind of derivative, duplicate.
  EXPECT_NE(expect_error<ValueError>(all("bad", nullptr, {})).find("name"), std::string::npos);
  expect_error<TypeError>(all("tests.taken", nullptr, {}), "resolve: found nothing");
  EXPECT_NE(expect_error<ValueError>(all("tests.taken", same_type, {})).find("derivative"),
            std::string::npos);
  expect_error<TypeError>(all("tests.taken", same_type, {.vjp = VjpFunction()}),
                          "vjp: found an empty function");
  EXPECT_NE(expect_error<ValueError>(all("tests.taken", same_type, {.vjp = kNonDifferentiable}))
                .find("'tests.taken'"),
            std::string::npos);
}

TEST(define_operation, keeps_the_first_of_a_name) {  // A5.5
  const OperationDefinition& first = define("tests.twice");
  expect_error<ValueError>([] { define("tests.twice"); },
                           "there is an operation of this name; name: found 'tests.twice'");
  EXPECT_EQ(find_operation("tests.twice"), &first.operation());
}

TEST(define_operation, is_atomic_among_threads) {  // A5.5
  std::atomic<int> made = 0, refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      try {
        define("tests.raced");
        ++made;
      } catch (const ValueError&) {
        ++refused;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(refused, 7);
}

void register_bad() {
  internal::register_or_abort("Bad Name", []() -> const OperationDefinition& {
    return define_operation("Bad Name", one_tensor(), same_type, {.vjp = kNonDifferentiable});
  });
}

TEST(RegisterOpDeathTest, ends_the_process_with_name_and_reason) {  // req C4 req C9, ruling 2
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(register_bad(), "operation 'Bad Name' cannot be registered: .*two parts");
  EXPECT_DEATH(
      {
        HEDDLE_REGISTER_OP(a, "tests.macro", one_tensor(), same_type, {.vjp = kNonDifferentiable});
        static_cast<void>(a);
      },
      "'tests.macro' cannot be registered: .*there is an operation of this name");
  EXPECT_DEATH(
      {
        HEDDLE_REGISTER_OP(b, "add.x", one_tensor(), same_type, {.vjp = kNonDifferentiable});
        static_cast<void>(b);
      },
      "'add.x' cannot be registered: .*reserved");
}

HEDDLE_REGISTER_OP(registered_at_start, "tests.macro", one_tensor(), same_type,
                   {.vjp = kNonDifferentiable});

TEST(define_operation, by_the_macro) {  // req C4
  EXPECT_EQ(find_operation("tests.macro"), &registered_at_start.operation());
}

// Binding and resolving -------------------------------------------------------------------------

const Type kF32x3{DType::f32, {3}};

// Counts its resolutions and keeps the last call.
struct Counted {
  int resolved = 0;
  std::vector<Operand> operands;
  std::string options;
  const OperationDefinition& definition;

  explicit Counted(const std::string& name)
      : definition(define_operation(
            name,
            {.operands = {{"x", kTensor, true}, {"beta", kWeak}, {"mode", kStructural}},
             .options = {{"axis", OptionKind::integer}, {"exact", true}}},
            [this](const BoundOperationCall& call) {
              ++resolved;
              operands = call.operands;
              options = to_text(call.options);
              return same_type(call);
            },
            {.vjp = kNonDifferentiable})) {}
};

TEST(extension_call, binds_before_it_resolves) {  // A3.1 A3.3 A3.5
  static Counted counted("tests.bound");
  Traced trace;
  const Tensor x = trace.input("x", kF32x3);
  const Tensor y =
      counted.definition({x, 2.0, Attribute("wide")}, Attributes({{"axis", std::int64_t{1}}}));
  EXPECT_EQ(to_text(y.type()), "f32[3]");
  EXPECT_GT(counted.resolved, 0);
  EXPECT_EQ(std::get<double>(counted.operands[1]), 2.0);
  EXPECT_EQ(std::get<std::string>(std::get<Attribute>(counted.operands[2])), "wide");
  EXPECT_EQ(counted.options, "{axis = 1, exact = true}");
  EXPECT_TRUE(std::get<Tensor>(counted.operands[0]).empty()) << "A5.10: types only";
}

TEST(extension_call, binding_faults_come_in_order) {  // A3.2 A3.4 A3.6 A3.7
  static Counted counted("tests.faults");
  Traced trace;
  const Operand x = trace.input("x", kF32x3), weak = 2.0, mode = Attribute("wide");
  const Attributes good({{"axis", std::int64_t{1}}}), unknown({{"axes", std::int64_t{1}}}),
      wrong({{"axis", std::string("one")}});
  auto step = [&](std::vector<Operand> operands, Attributes options) {
    try {
      call(counted.definition.operation(), operands, std::move(options), {});
    } catch (const TypeError& e) {
      return e.detail().step;
    }
    return 0;
  };
  EXPECT_EQ(step({x, weak}, unknown), 1);
  EXPECT_EQ(step({x, weak, mode, mode}, good), 1);
  EXPECT_EQ(step({weak, weak, mode}, unknown), 2);
  EXPECT_EQ(step({weak, weak, mode}, {}), 3);
  EXPECT_EQ(step({weak, weak, mode}, good), 4);
  EXPECT_EQ(step({x, x, mode}, good), 4);
  EXPECT_EQ(step({x, mode, mode}, good), 4);
  EXPECT_EQ(step({x, weak, weak}, good), 4);
  EXPECT_EQ(step({x, weak, mode}, wrong), 4);
  EXPECT_EQ(counted.resolved, 0);
  EXPECT_EQ(step({x, true, mode}, good), 0) << "a bool is a weak scalar";
}

struct OwnError : std::exception {};

TEST(extension_call, resolver_errors_pass_unchanged) {  // A5.7
  const OperationDefinition& d =
      define("tests.throws", {}, [](Bound) -> Invocation { throw OwnError(); });
  Traced trace;
  const Tensor x = trace.input("x", kF32x3);
  EXPECT_THROW(d({x}), OwnError);
  EXPECT_TRUE(trace.finish(x).entry().nodes.empty()) << "nothing was emitted";
}

TEST(extension_call, an_invocation_is_of_its_call) {  // A5.8
  static std::optional<Invocation> kept;
  const OperationDefinition& d = define("tests.stale", {}, [](Bound call) {
    if (!kept) kept.emplace(same_type(call));
    return *kept;
  });
  const OperationDefinition& other = define("tests.stolen", {}, [](Bound) { return *kept; });
  Traced trace;
  const Tensor x = trace.input("x", kF32x3);
  d({x});
  auto field = [&](const OperationDefinition& definition) {
    try {
      definition({x});
    } catch (const ValueError& e) {
      EXPECT_EQ(e.detail().step, 17);
      return e.detail().field;
    }
    return std::string("none");
  };
  EXPECT_EQ(field(d), "call");
  EXPECT_EQ(field(other), "operation");
}

// What a resolver's invocation may be, in the order of the checks.
TEST(extension_call, invocations_are_checked) {  // A6.8 A6.9 A6.12
  using Specs = std::vector<ResultSpec>;
  static std::function<Invocation(Bound)> resolve;
  const OperationDefinition& d = define_operation(
      "tests.checked", {.operands = {{"x", kTensor, true}, {"beta", kWeak}, {"mode", kStructural}}},
      [](Bound call) { return resolve(call); }, {.vjp = kNonDifferentiable});
  Traced trace;
  const Tensor x = trace.input("x", kF32x3);
  auto field = [&](std::function<Invocation(Bound)> f) {
    resolve = std::move(f);
    try {
      d({x, 1.0, Attribute("m")});
    } catch (const ValueError& e) {
      EXPECT_EQ(e.detail().step, 17) << e.what();
      EXPECT_EQ(e.detail().operation, "tests.checked");
      return e.detail().field;
    }
    return std::string("none");
  };
  auto plan = [](Bound call) { return uniform_plan(call, DType::f32); };
  auto other_plan = [=](Bound call) {
    DtypePlan p = plan(call);
    p.operation = "add";
    return p;
  };
  auto swapped = [=](Bound call) {
    DtypePlan p = plan(call);
    std::swap(p.operands[0], p.operands[1]);
    return p;
  };
  const ResultSpec good(kF32x3), alias(kF32x3, 1);
  EXPECT_EQ(field([=](Bound c) {
              return Invocation(c, other_plan(c), Specs{}, {0, 0});
            }),
            "results");
  EXPECT_EQ(field([=](Bound c) {
              return Invocation(c, other_plan(c), {good}, {0, 0}, {0, 0});
            }),
            "mutated");
  EXPECT_EQ(field([=](Bound c) {
              return Invocation(c, other_plan(c), {good}, {}, {0, 0});
            }),
            "saved");
  EXPECT_EQ(field([=](Bound c) { return Invocation(c, other_plan(c), {good}, {7}); }),
            "plan.operation");
  EXPECT_EQ(field([=](Bound c) { return Invocation(c, swapped(c), {good}, {7}); }),
            "plan.operands[0]");
  EXPECT_EQ(field([=](Bound c) { return Invocation(c, plan(c), {alias}, {7}); }), "mutated");
  EXPECT_EQ(field([=](Bound c) { return Invocation(c, plan(c), {alias}, {-1}); }), "mutated");
  EXPECT_EQ(field([=](Bound c) { return Invocation(c, plan(c), {alias}, {}, {1}); }), "saved");
  EXPECT_EQ(field([=](Bound c) { return Invocation(c, plan(c), {alias}, {}, {}, ""); }),
            "results[0].alias_of");
  EXPECT_EQ(field([=](Bound c) { return Invocation(c, plan(c), {good}, {}, {}, ""); }),
            "kernel_id");
  std::string id;
  EXPECT_EQ(field([&](Bound c) {
              Invocation inv(c, plan(c), {good}, {}, {0});
              id = inv.kernel_id;
              EXPECT_EQ(inv.definition(), &d);
              return inv;
            }),
            "none");
  EXPECT_EQ(id, "tests.checked");
}

// In programs -----------------------------------------------------------------------------------

float swish(float x, float beta) { return x / (1 + std::exp(-beta * x)); }

// x * logistic(beta x), given in every way.
ValueId emit_swish(Builder& b, ValueId x, double beta) {
  return emit::mul(b, x, b.emit(op_logistic, {emit::mul(b, x, beta)}));
}
Function swish_body(At at) {
  Builder b("swish");
  const ValueId x = b.input("x", at.operands[0]);
  b.output("y", emit_swish(b, x, at.attributes.get<double>("beta")));
  return b.finish();
}
ReferenceResults swish_reference(const ResolvedInvocation& inv) {
  const auto beta = static_cast<float>(std::get<double>(inv.call.operands[1]));
  const Literal x = to_literal(inv.call.tensor(0));
  std::vector<float> y;
  for (float v : view<float>(x)) y.push_back(swish(v, beta));
  return make_tensor(make_literal<float>(x.type.dims, std::span<const float>(y)));
}
DerivativeRules swish_rules() {
  // d/dx x s(bx) = s + b x s (1 - s)
  return {.linearize = [](RuleContext& c, std::span<const MaybeValue> t) -> MaybeValues {
    const double beta = c.node.attributes.get<double>("beta");
    Builder& b = c.build;
    const ValueId x = c.primal_in[0], s = b.emit(op_logistic, {emit::mul(b, x, beta)});
    const ValueId one_less = emit::add(b, emit::neg(b, s), 1.0);
    const ValueId bent = emit::mul(b, emit::mul(b, emit::mul(b, x, s), one_less), beta);
    return {emit::mul(b, *t[0], emit::add(b, s, bent))};
  }};
}
const OperationDefinition& define_swish(const std::string& name, DefinitionParts parts) {
  return define_operation(name, {.operands = {{"x", kTensor, true}, {"beta", kWeak}}}, same_type,
                          std::move(parts));
}

Program swish_program(const OperationDefinition& d) {
  Traced trace;
  const Tensor x = trace.input("x", kF32x3);
  return trace.finish(d({x, 1.5}));
}
const Literal kPoint = make_literal<float>({3}, {-1.0f, 0.5f, 2.0f});

void expect_swish(const Program& program) {
  const std::vector<Literal> in{kPoint};
  const std::vector<double> got = to_doubles(interpret(program, program.entry().name, in)[0]);
  const std::vector<double> x = to_doubles(kPoint);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(got[i], swish(static_cast<float>(x[i]), 1.5f), 1e-6);
  }
}

TEST(extension_program, a_call_is_one_node_with_text) {  // A5.11
  const OperationDefinition& d =
      define_swish("tests.swish_text", {.vjp = kNonDifferentiable, .reference = swish_reference});
  const Program p = swish_program(d);
  verify(p);
  const std::string text = to_text(p);
  EXPECT_NE(text.find("%0 = tests.swish_text(x) {beta = 0x1.8p+0} : f32[3]"), std::string::npos)
      << text;
  const Program again = parse(text, "t.heddle");
  EXPECT_EQ(to_text(again), text);
  EXPECT_EQ(again.entry().nodes[0].op, &d.operation());
  expect_swish(again);
  for (const char* bad : {"tests.nobody(x) {beta=0x1.8p+0}", "tests.swish_text(x)",
                          "tests.swish_text(x) {beta=true, more=1}", "tests.swish_text()"}) {
    SCOPED_TRACE(bad);
    expect_error<ParseError>([&] {
      parse("func @f(x: f32[3]) -> (y: f32[3]) {\n  %0 = " + std::string(bad) +
                " : f32[3]\n  return %0\n}\n",
            "t.heddle");
    });
  }
}

TEST(extension_program, expands_where_there_is_a_decomposition) {
  const OperationDefinition& d =
      define_swish("tests.swish_body", {.vjp = kByDecomposition, .decompose = swish_body});
  const Program p = swish_program(d);
  expect_swish(p);
  const Program expanded = expand_composites(p);
  for (const Node& n : expanded.entry().nodes) EXPECT_EQ(n.op->extension, nullptr);
  expect_swish(expanded);
}

TEST(extension_program, a_decomposition_keeps_the_types) {
  const OperationDefinition& d =
      define_swish("tests.swish_lies",
                   {.vjp = kByDecomposition, .decompose = [](At at) {
                      Builder b("lies");
                      b.output("y", emit::convert(b, b.input("x", at.operands[0]), DType::i32));
                      return b.finish();
                    }});
  const std::string text = expect_error<ValueError>([&] { expand_composites(swish_program(d)); });
  EXPECT_NE(text.find("tests.swish_lies"), std::string::npos) << text;
}

TEST(extension_program, nothing_to_run_is_named) {  // A7.3
  const OperationDefinition& d = define_swish("tests.swish_none", {.vjp = kNonDifferentiable});
  const std::vector<Literal> in{kPoint};
  const Program p = swish_program(d);
  const std::string text = expect_error<UnsupportedOperationPlan>([&] { interpret(p, "f", in); });
  EXPECT_NE(text.find("tests.swish_none"), std::string::npos) << text;
}

TEST(extension_program, a_reference_is_held_to_the_invocation) {  // A7.5 A7.6
  auto run = [](const std::string& name, ReferenceFunction reference) {
    const OperationDefinition& d =
        define_swish(name, {.vjp = kNonDifferentiable, .reference = std::move(reference)});
    const std::vector<Literal> in{kPoint};
    interpret(swish_program(d), "f", in);
  };
  auto tensor_of = [](DType dtype, Dims dims) { return make_tensor(splat({dtype, dims}, 1)); };
  auto field = [&](auto f) {
    try {
      f();
    } catch (const ProviderContractError& e) {
      EXPECT_EQ(e.detail().step, 28);
      return e.detail().field;
    }
    return std::string("none");
  };
  EXPECT_EQ(field([&] { run("tests.ref_none", [](auto&) { return std::vector<Tensor>{}; }); }),
            "results");
  EXPECT_EQ(
      field([&] { run("tests.ref_dtype", [&](auto&) { return tensor_of(DType::i32, {4}); }); }),
      "results[0].dtype");
  EXPECT_EQ(
      field([&] { run("tests.ref_shape", [&](auto&) { return tensor_of(DType::f32, {4}); }); }),
      "results[0].dims");
  EXPECT_EQ(field([&] { run("tests.ref_alias", [&](auto& inv) { return inv.call.tensor(0); }); }),
            "results[0].alias_of");
  expect_error<TypeError>([&] { run("tests.ref_empty", [](auto&) { return Tensor(); }); },
                          "[tests.ref_empty]", 28);
}

std::vector<double> run_one(const Program& p, const std::vector<Literal>& in) {
  return to_doubles(interpret(p, p.entry().name, in).back());
}

TEST(extension_program, derivatives_by_rules_and_by_decomposition_agree) {  // ruling 13
  const Program by_rules = swish_program(
      define_swish("tests.swish_rules", {.vjp = swish_rules(), .reference = swish_reference}));
  const Program by_body = swish_program(
      define_swish("tests.swish_by_body", {.vjp = kByDecomposition, .decompose = swish_body}));
  const Program both = swish_program(
      define_swish("tests.swish_both", {.vjp = swish_rules(), .decompose = swish_body}));
  const std::vector<std::string> wrt{"x"};
  const std::vector<Literal> in{kPoint, make_literal<float>({3}, {1.0f, 2.0f, -1.0f})};
  const std::vector<double> want = run_one(vjp(by_body, wrt), in);
  const std::vector<double> x = to_doubles(kPoint), v = to_doubles(in[1]);
  for (std::size_t i = 0; i < 3; ++i) {
    const double h = 1e-3, f = swish(static_cast<float>(x[i] + h), 1.5f),
                 g = swish(static_cast<float>(x[i] - h), 1.5f);
    EXPECT_NEAR(want[i], v[i] * (f - g) / (2 * h), 1e-3);
    EXPECT_NEAR(run_one(vjp(by_rules, wrt), in)[i], want[i], 1e-6);
    EXPECT_NEAR(run_one(jvp(by_rules, wrt), in)[i], want[i], 1e-6);
    EXPECT_NEAR(run_one(vjp(both, wrt), in)[i], want[i], 1e-6);
  }
  // Second order: the reverse of the reverse.
  const std::vector<std::string> both_wrt{"x"};
  const std::vector<Literal> second{in[0], in[1], in[0], in[1]};
  EXPECT_EQ(vjp(vjp(by_rules, wrt), both_wrt).entry().outputs.size(), 3u);
  const std::vector<double> a = run_one(vjp(vjp(by_rules, wrt), both_wrt), second),
                            b = run_one(vjp(vjp(by_body, wrt), both_wrt), second);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
}

TEST(extension_program, a_linear_operation_gives_its_transpose) {
  const OperationDefinition& twice = define_operation(
      "tests.twice_as_much", one_tensor(), same_type,
      {.vjp = DerivativeRules{.transpose = [](TransposeContext& c, std::span<const MaybeValue> ct)
                                  -> MaybeValues { return {emit::mul(c.build, *ct[0], 2.0)}; }},
       .reference = [](const Invocation& inv) -> ReferenceResults {
         std::vector<float> y;
         const Literal x = to_literal(inv.call.tensor(0));
         for (float v : view<float>(x)) y.push_back(2 * v);
         return make_tensor(make_literal<float>(x.type.dims, std::span<const float>(y)));
       }});
  Traced trace;
  const Tensor x = trace.input("x", kF32x3);
  const Program p = trace.finish(twice({x}));
  const std::vector<std::string> wrt{"x"};
  EXPECT_EQ(run_one(vjp(p, wrt), {kPoint, kPoint}), (std::vector<double>{-2, 1, 4}));
  EXPECT_EQ(run_one(jvp(p, wrt), {kPoint, kPoint}), (std::vector<double>{-2, 1, 4}));
}

TEST(extension_program, a_callback_is_refused_by_transforms) {  // ruling 13
  const OperationDefinition& d = define_swish(
      "tests.swish_opaque",
      {.vjp = [](const VjpContext&,
                 std::span<const std::optional<Tensor>>) { return MaybeTensors{std::nullopt}; },
       .reference = swish_reference});
  const std::vector<std::string> wrt{"x"};
  const std::string text = expect_error<UnsupportedAdError>([&] { vjp(swish_program(d), wrt); });
  EXPECT_NE(text.find("tests.swish_opaque"), std::string::npos) << text;
}

TEST(extension_program, no_derivative_is_a_gradient_of_zero) {  // A9.5
  const OperationDefinition& d =
      define_swish("tests.swish_flat", {.vjp = kNonDifferentiable, .reference = swish_reference});
  const std::vector<std::string> wrt{"x"};
  EXPECT_EQ(run_one(vjp(swish_program(d), wrt), {kPoint, kPoint}), (std::vector<double>{0, 0, 0}));
}

TEST(extension_program, an_operation_with_effects_stays_out) {  // ruling 12
  const OperationDefinition& d = define("tests.changes", {}, [](Bound call) {
    const Type& x = call.tensor(0).type();
    return Invocation(call, uniform_plan(call, x.dtype), {{x}}, {0});
  });
  Traced trace;
  const Tensor x = trace.input("x", kF32x3);
  expect_error<NotImplementedError>(
      [&] { d({x}); }, "changes an operand cannot be part of a program; operands[0]", 18);
}

TEST(extension_values, a_gradient_context_is_complete) {  // A9.2
  const OperationDefinition& d = define("tests.context", {}, [](Bound call) {
    const Type& x = call.tensor(0).type();
    return Invocation(call, uniform_plan(call, x.dtype), {{x}}, {}, {0});
  });
  const Operand operands[] = {make_tensor(kPoint)};
  const BoundOperationCall bound = heddle::bind(d.operation(), operands, {}, {});
  const Invocation inv = resolve(bound, {});
  const Tensor t = make_tensor(kPoint);
  const VjpContext good(inv, {t}, {t});
  EXPECT_EQ(good.saved_operands.size(), 1u);
  expect_error<ValueError>([&] { VjpContext(inv, {}, {t}); },
                           "one output per result; outputs: found 0, needed 1");
  expect_error<ValueError>([&] { VjpContext(inv, {t}, {}); },
                           "one tensor per saved operand; saved_operands: found 0, needed 1");
}

TEST(extension_values, one_result_is_a_tensor) {  // A5.11
  const Tensor t = make_tensor(kPoint);
  const Tensor one = CallResults{{t}};
  EXPECT_EQ(to_text(one.type()), "f32[3]");
  const CallResults two{{t, t}};
  EXPECT_EQ(two.size(), 2u);
  expect_error<ValueError>([&] { static_cast<void>(static_cast<Tensor>(two)); },
                           "this one has several");
}

}  // namespace
}  // namespace heddle::ops_test
