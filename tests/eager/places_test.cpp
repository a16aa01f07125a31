// Whatever fails, the error names the user's own file and line: of element access and lifetime
// calls, of registrations, and of callbacks and kernels from outside that do not say it themselves.
#include <functional>
#include <stdexcept>

#include "eager/extension_support.h"
#include "heddle/backends/eager/composite.h"
#include "heddle/backends/register_kernel.h"
#include "heddle/backends/tiled/carrier.h"
#include "heddle/graph/emit.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

const ErrorDetail& failure(const std::function<void()>& misuse, ErrorDetail& detail) {
  detail = {};
  try {
    misuse();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    detail = e.detail();
    EXPECT_NE(std::string(e.what()).find("places_test.cpp:"), std::string::npos) << e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
  }
  return detail;
}

struct Misuse {
  std::uint32_t line;
  std::function<void()> run;
};
void expect_lines(const std::vector<Misuse>& all) {
  for (const Misuse& m : all) {
    SCOPED_TRACE("line " + std::to_string(m.line));
    ErrorDetail detail;
    EXPECT_EQ(to_text(failure(m.run, detail).where), "places_test.cpp:" + std::to_string(m.line));
  }
}

// design 3: every error carries the caller's file and line.
TEST(Places, OfElementAccessAndLifetime) {
  const Tensor none, many = tensor({1, 2, 3}, {3});
  Tensor gone = tensor({1, 2}, {2}), whole = tensor({1}, {1}, {.dtype = DType::i32});
  Tensor marked = tensor({1, 2}, {2});
  require_gradient(marked);
  Tensor made = marked * 2;
  release(gone);
  const std::vector<double> two{1, 2};
  const std::vector<std::int64_t> three{3}, negative{-1}, beyond{std::int64_t{1} << 61};
  const std::int64_t terabytes = std::int64_t{1} << 44;
  const TensorOptions nowhere{.carrier = "nowhere"}, odd{.dtype = DType(99)};
  // clang-format off
  expect_lines({
      {__LINE__, [&] { tensor(two, three); }},
      {__LINE__, [&] { tensor(two, negative); }},
      {__LINE__, [&] { tensor(1.0, nowhere); }},
      {__LINE__, [&] { tensor(splat(f32({}), 1), "nowhere"); }},
      {__LINE__, [&] { full(three, 1, odd); }},
      {__LINE__, [&] { full(three, 1, nowhere); }},
      {__LINE__, [&] { zeros(negative); }},
      {__LINE__, [&] { empty(beyond); }},
      {__LINE__, [&] { empty(std::vector<std::int64_t>{terabytes}); }},
      {__LINE__, [&] { empty(three, nowhere); }},
      {__LINE__, [&] { on(many, "nowhere"); }},
      {__LINE__, [&] { on(gone, "reference"); }},
      {__LINE__, [&] { on(none, "reference"); }},
      {__LINE__, [&] { elements(gone); }},
      {__LINE__, [&] { elements(none); }},
      {__LINE__, [&] { elements(many, 2, 5); }},
      {__LINE__, [&] { elements(gone, 0, 1); }},
      {__LINE__, [&] { item(many); }},
      {__LINE__, [&] { item(gone); }},
      {__LINE__, [&] { to_literal(gone); }},
      {__LINE__, [&] { to_literal(none); }},
      {__LINE__, [&] { release(gone); }},
      {__LINE__, [&] { release(none); }},
      {__LINE__, [&] { assign(gone, many); }},
      {__LINE__, [&] { assign(many, gone); }},
      {__LINE__, [&] { assign(many, 2, two); }},
      {__LINE__, [&] { require_gradient(whole); }},
      {__LINE__, [&] { require_gradient(made); }},
      {__LINE__, [&] { backward(many); }},
      {__LINE__, [&] { backward(made); }},
      {__LINE__, [&] { backward(made, {.cotangent = none}); }},
      {__LINE__, [&] { backward(made, {.cotangent = many}); }},
      {__LINE__, [&] { gradients(made, {}); }},
      {__LINE__, [&] { find_carrier("nowhere"); }},
      {__LINE__, [&] { trace([&](const Tensor& x) { elements(x); return x; }, {f32({2})}); }},
  });
  // clang-format on
}

TEST(Places, OfRegistrations) {
  const OperationDefinition& d = define_unary("places", {.vjp = kNonDifferentiable});
  const OperationSchema schema{.operands = {{"x"}}};
  const ResolveFunction resolve = like_first;
  const PrepareFunction prepare = host_kernel(double_floats);
  const KernelPattern one(d.operation(), kAnyPlan, "k", prepare);
  const KernelPack pack{.name = "", .carrier = find_carrier("reference"), .patterns = {one}};
  const DefinitionParts parts{.vjp = kNonDifferentiable};
  const std::vector<DtypePlan> none;
  const ObjectKernel missing{"f", "/nowhere.o"};
  // clang-format off
  expect_lines({
      {__LINE__, [&] { define_operation("acme", schema, resolve, parts); }},
      {__LINE__, [&] { define_operation("acme.places", schema, resolve, parts); }},
      {__LINE__, [&] { KernelPattern(d.operation(), none, "k", prepare); }},
      {__LINE__, [&] { KernelPattern(d.operation(), kAnyPlan, "", prepare); }},
      {__LINE__, [&] { KernelPattern(d.operation(), kAnyPlan, "k", prepare, 0, missing); }},
      {__LINE__, [&] { KernelProvider(host_interface(), {one, one}); }},
      {__LINE__, [&] { register_kernel_pack(pack); }},
      {__LINE__, [&] { register_kernel("no.such", "cpu", prepare); }},
      {__LINE__, [&] { register_kernel("acme.places", "nowhere", prepare); }},
      {__LINE__, [&] { define_carrier("cpu", BuiltInKernels::none); }},
      {__LINE__, [&] { define_carrier({.name = "", .built_in = BuiltInKernels::none}); }},
      {__LINE__, [&] { define_tiled_carrier("small", {.budget_bytes = 1}); }},
  });
  // clang-format on
}

// ---- kernels from outside ----

class Strange : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

PrepareFunction submitting(std::function<Submitted()> submit) {
  return [=](const Invocation&) -> Prepared {
    return PreparedKernel{host_interface(),
                          [=](const Invocation&, Operands) -> Submitted { return submit(); }};
  };
}

// The second call runs by the first one's record, and names its own line.
void expect_call_places(const OperationDefinition& d, const Tensor& x, int step = 27) {
  ErrorDetail first, second;
  // clang-format off
  failure([&] { d({x}); }, first); const std::uint32_t one = __LINE__;
  failure([&] { d({x}); }, second); const std::uint32_t other = __LINE__;
  // clang-format on
  EXPECT_EQ(to_text(first.where), "places_test.cpp:" + std::to_string(one));
  EXPECT_EQ(to_text(second.where), "places_test.cpp:" + std::to_string(other));
  for (const ErrorDetail* e : {&first, &second}) {
    EXPECT_EQ(e->operation, d.name);
    EXPECT_EQ(e->step, step);
    EXPECT_EQ(e->carrier, find_carrier(d.name).name);
  }
}

// A11, 2A.5, step 27
TEST(Places, OfKernelsThatFail) {
  const ErrorDetail bare{.message = "something failed"};
  auto throwing = [&] { return [=]() -> Submitted { throw ValueError(bare); }; };
  auto later = [&]() -> Submitted {
    auto completion = std::make_shared<ProviderCompletion>();
    completion->fail(std::make_exception_ptr(RuntimeError(bare)));
    return completion;
  };
  const std::pair<const char*, PrepareFunction> kernels[] = {
      {"status", host_kernel([](auto&&...) { return 7; })},
      {"submit", submitting(throwing())},
      {"later", submitting(later)},
      {"prepare", [=](const Invocation&) -> Prepared { throw RuntimeError(bare); }},
      {"nothing", submitting([]() -> Submitted { return ProviderResult({}); })}};
  for (const auto& [name, prepare] : kernels) {
    SCOPED_TRACE(name);
    const OperationDefinition& d =
        define_unary("fails_" + std::string(name), {.vjp = kNonDifferentiable});
    const Carrier& carrier = carrier_of(d.name, {{d.operation(), kAnyPlan, "k", prepare}});
    expect_call_places(d, tensor_on(carrier, {1, 2}));
  }
}

TEST(Places, WhatAKernelSaysItselfStays) {
  const OperationDefinition& d = define_unary("says", {.vjp = kNonDifferentiable});
  const ErrorDetail full{.message = "mine",
                         .step = 3,
                         .operation = "inner",
                         .carrier = "moon",
                         .where = Location("kernel.c", 12)};
  const Carrier& carrier =
      carrier_of(d.name, {{d.operation(), kAnyPlan, "k",
                           submitting([=]() -> Submitted { throw ReleasedError(full); })}});
  const std::string text = expect_error<ReleasedError>([&] { d({tensor_on(carrier, {1})}); });
  EXPECT_EQ(text, "[inner] kernel.c:12: mine (carrier moon)");
}

TEST(Places, ForeignExceptionsKeepTheirType) {
  int number = 0;
  auto call = [&](const std::function<Submitted()>& submit) {
    const OperationDefinition& d =
        define_unary("foreign" + std::to_string(number++), {.vjp = kNonDifferentiable});
    const Carrier& carrier =
        carrier_of(d.name, {{d.operation(), kAnyPlan, "k", submitting(submit)}});
    d({tensor_on(carrier, {1})});
  };
  EXPECT_THROW(call([]() -> Submitted { throw std::out_of_range("theirs"); }), std::out_of_range);
  EXPECT_THROW(call([]() -> Submitted { throw 7; }), int);
  try {
    call([]() -> Submitted { throw Strange({.message = "ours, derived elsewhere"}); });
    ADD_FAILURE() << "no error";
  } catch (const Strange& e) {
    EXPECT_STREQ(e.what(), "ours, derived elsewhere");
  }
}

TEST(Places, OfComposites) {
  const ErrorDetail bare{.message = "something failed"};
  int number = 0;
  auto expect_place = [&](const CompositeProvider& provider) {
    const OperationDefinition& d =
        define_unary("composite" + std::to_string(number++), {.vjp = kNonDifferentiable});
    const Carrier& carrier = define_carrier({.name = d.name, .composite = provider});
    expect_call_places(d, tensor_on(carrier, {1, 2}));
  };
  const auto same = [](const Carrier& c, const Invocation&) {
    return std::vector<const Carrier*>{&c};
  };
  const auto fails = [=](auto&&...) -> MaybeComposite { throw ValueError(bare); };
  const auto submits = [=](auto&&...) -> MaybeComposite {
    return PreparedComposite{[=](auto&&...) -> Submitted { throw ValueError(bare); }};
  };
  expect_place(
      {.result_carriers = [=](auto&&...) -> std::vector<const Carrier*> { throw ValueError(bare); },
       .prepare = fails});
  expect_place({.result_carriers = same, .prepare = fails});
  expect_place({.result_carriers = same, .prepare = submits});
}

// ---- callbacks of an extension ----

Function identity(const NodeContext& at) {
  Builder b("same");
  b.output("y", b.input("x", at.operands[0]));
  return b.finish();
}
[[noreturn]] void fail_bare() { throw ValueError({.message = "something failed"}); }
Function failing_body(const NodeContext&) { fail_bare(); }

TEST(Places, OfDecompositionsAndReferences) {
  const OperationDefinition& body =
      define_unary("bad_body", {.vjp = kByDecomposition, .decompose = failing_body});
  const OperationDefinition& reference = define_unary(
      "bad_reference", {.vjp = kNonDifferentiable,
                        .reference = [](const Invocation&) -> ReferenceResults { fail_bare(); },
                        .decompose = identity});
  const Tensor x = tensor({1, 2}, {2}), exact = on(x, "reference");
  std::uint32_t line = 0;
  // clang-format off
  auto traced = [&](const OperationDefinition& d) {
    line = __LINE__; return trace([&](Tensor t) -> Tensor { return d({t}); }, {f32({2})});
  };
  expect_lines({
      {__LINE__, [&] { body({x}); }},
      {__LINE__, [&] { body({x}); }},
      {__LINE__, [&] { body({exact}); }},
      {__LINE__, [&] { reference({exact}); }},
      {__LINE__, [&] { reference({exact}); }},
  });
  // clang-format on
  const Program p = traced(body), q = traced(reference);
  const std::vector<Literal> in{splat(f32({2}), 1)};
  expect_lines({{line, [&] { compile(p); }},
                {line, [&] { interpret(p, "main", in); }},
                {line, [&] { interpret(q, "main", in); }},
                {line, [&] { jvp(p, "x0"); }}});
  ErrorDetail detail;
  EXPECT_EQ(failure([&] { compile(p); }, detail).operation, "acme.bad_body");
}

TEST(Places, OfDerivatives) {
  const auto bad_rule = [](auto&&...) -> MaybeValues { fail_bare(); };
  const OperationDefinition& smooth = define_unary(
      "bad_linearize", {.vjp = DerivativeRules{.linearize = bad_rule}, .decompose = identity});
  const OperationDefinition& linear = define_unary(
      "bad_transpose", {.vjp = DerivativeRules{.transpose = bad_rule}, .decompose = identity});
  const auto bad_vjp = [](const VjpContext&, std::span<const std::optional<Tensor>>) {
    fail_bare();
    return MaybeTensors();
  };
  const OperationDefinition& opaque =
      define_unary("bad_vjp", {.vjp = bad_vjp, .decompose = identity});
  Tensor x = tensor({1}, {1});
  require_gradient(x);
  // clang-format off
  const Tensor y = opaque({x}); const std::uint32_t line = __LINE__;
  expect_lines({
      {__LINE__, [&] { smooth({x}); }},
      {__LINE__, [&] { smooth({x}); }},
      {__LINE__, [&] { linear({x}); }},
      {line, [&] { backward(y); }},
  });
  const auto f = [&](Tensor t) -> Tensor { return smooth({t}); }; const std::uint32_t in_f = __LINE__;
  const auto g = [&](Tensor t) -> Tensor { return linear({t}); }; const std::uint32_t in_g = __LINE__;
  // clang-format on
  const Program p = trace(f, {f32({})}), q = trace(g, {f32({})});
  expect_lines({{in_f, [&] { grad(p, "x0"); }}, {in_g, [&] { grad(q, "x0"); }}});
}

TEST(Places, OfTheCallInsideATrace) {
  const OperationDefinition& two =
      define_operation("acme.places_two", {.operands = {{"x"}}},
                       [](const BoundOperationCall& call) {
                         const Type& x = call.tensor(0).type();
                         return Invocation(call, uniform_plan(call, x.dtype), {{x}, {x}});
                       },
                       {.vjp = kNonDifferentiable, .reference = [](const Invocation& inv) {
                          return std::vector<Tensor>{inv.call.tensor(0), inv.call.tensor(0)};
                        }});
  const Tensor x = tensor({1}, {1});
  trace(
      [&](const Tensor& t) {
        const CallResults both = two({t});
        // clang-format off
        expect_lines({{__LINE__, [&] { neg(both); }}});
        // clang-format on
        return t;
      },
      {f32({1})});
}

}  // namespace
}  // namespace heddle
