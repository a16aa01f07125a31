// Extensions on concrete tensors: references, gradients by callback, by rules and by
// decomposition, the prohibition of recorded aliases.
#include "eager/extension_support.h"
#include "heddle/backends/eager/record.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

Tensor reference_tensor(std::initializer_list<double> elements) {
  return tensor_on(reference_carrier(), elements);
}

Invocation saving_first(const BoundOperationCall& call) {
  const Type& x = call.tensor(0).type();
  return {call, uniform_plan(call, x.dtype), {{x}}, {}, {0}};
}
// y = x * x, by the operations that are there.
ReferenceResults square_reference(const Invocation& inv) {
  return inv.call.tensor(0) * inv.call.tensor(0);
}
Function square_body(const NodeContext& at) {
  Builder b("square");
  const ValueId x = b.input("x", at.operands[0]);
  b.output("y", emit::mul(b, x, x));
  return b.finish();
}
MaybeTensors square_vjp(const VjpContext& context, std::span<const std::optional<Tensor>> given) {
  return {*given[0] * (context.saved_operands[0] * 2.0)};
}

TEST(ExtensionEager, TheReferenceRunsOnTheReferenceCarrierAlone) {  // A7.2 A7.3 A5.11 A5.12
  const OperationDefinition& d =
      define_unary("ref", {.vjp = kNonDifferentiable, .reference = square_reference});
  EXPECT_EQ(elements(d({reference_tensor({1, 2, 3})})), (Elements{1, 4, 9}));
  EXPECT_EQ(to_text(Tensor(d({reference_tensor({1})})).type()), "f32[1]");
  const std::string text = expect_error<UnsupportedOperationPlan>([&] {
    d({tensor({1, 2}, {2})});
  });
  EXPECT_NE(text.find("acme.ref"), std::string::npos) << text;
  const OperationDefinition& none = define_unary("noref", {.vjp = kNonDifferentiable});
  expect_error<UnsupportedOperationPlan>(
      [&] {
        none({reference_tensor({1, 2})});
      },
      "[acme.noref]", 21);
}

TEST(ExtensionEager, ReferencesOfLiteralsAndWrongOnes) {  // A7.5 A7.6
  const OperationDefinition& literal = define_unary(
      "ref_literal", {.vjp = kNonDifferentiable, .reference = [](const Invocation& inv) {
                        return make_tensor(splat(inv.results[0].type, 3));
                      }});
  const Tensor y = literal({reference_tensor({1, 2})});
  EXPECT_EQ(elements(y), (Elements{3, 3}));
  EXPECT_EQ(y.storage()->carrier(), &reference_carrier()) << "on the call's carrier";
  const OperationDefinition& wrong = define_unary(
      "ref_wrong", {.vjp = kNonDifferentiable, .reference = [](const Invocation& inv) {
                      return make_tensor(splat({DType::f64, inv.results[0].type.dims}, 3));
                    }});
  expect_error<ProviderContractError>(
      [&] {
        wrong({reference_tensor({1, 2})});
      },
      "results[0].dtype: found f64", 28);
}

TEST(ExtensionEager, NoTensorAndTwoCarriers) {  // A5.14
  const OperationDefinition& d = define_operation(
      "acme.two",
      {.operands = {{"x", OperandKind::tensor, true}, {"y", OperandKind::tensor, true}}},
      like_first, {.vjp = kNonDifferentiable});
  expect_error<TypeError>(
      [&] {
        d({reference_tensor({1}), tensor({1}, {1})});
      },
      "tensors of two carriers do not mix: move one with hd::on; operands[1] ('y')", 9);
  const OperationDefinition& weak = define_operation(
      "acme.weak", {.operands = {{"x", OperandKind::weak_scalar}}},
      [](Bound call) {
        return Invocation(call, uniform_plan(call, DType::f32), {{{DType::f32, {}}}});
      },
      {.vjp = kNonDifferentiable});
  const std::string text =
      expect_error<UnsupportedOperationPlan>([&] { weak({1.0}); }, "[acme.weak]", 21);
  EXPECT_NE(text.find("no tensor operand"), std::string::npos) << text;
}

// The reference is what a kernel is held to, within the invocation's tolerance.
TEST(ExtensionEager, AKernelAgreesWithTheReference) {  // A7.4 A6.5
  const OperationDefinition& d = define_unary(
      "conforms", {.vjp = kNonDifferentiable, .reference = square_reference}, [](Bound call) {
        const Type& x = call.tensor(0).type();
        return Invocation(call, uniform_plan(call, x.dtype), {{x, std::nullopt, {.rtol = 1e-3}}});
      });
  static std::vector<double> tolerance;
  const Carrier& carrier = carrier_of(
      "conforms",
      {{d.operation(), kAnyPlan, "k", host_kernel([](const Invocation& inv, auto in, auto out) {
          tolerance = {inv.results[0].atol, inv.results[0].rtol};
          for (std::int64_t i = 0; i < element_count(inv.results[0].type); ++i) {
            const float x = reinterpret_cast<const float*>(in[0])[i];
            reinterpret_cast<float*>(out[0])[i] = x * x * 1.0005f;
          }
          return 0;
        })}});
  const Tensor got = d({tensor_on(carrier, {1, -2, 3})});
  const Tensor want = d({reference_tensor({1, -2, 3})});
  EXPECT_EQ(to_text(got.type()), to_text(want.type()));
  ASSERT_EQ(tolerance, (Elements{0, 1e-3}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(elements(got)[i], elements(want)[i],
                tolerance[0] + tolerance[1] * std::abs(elements(want)[i]));
  }
}

TEST(ExtensionEager, OneInvocationOnEveryCarrier) {  // A5.10 A4.5
  static std::vector<std::string> seen;
  const OperationDefinition& d =
      define_unary("same_everywhere", {.vjp = kNonDifferentiable}, [](Bound call) {
        EXPECT_TRUE(call.tensor(0).empty()) << "types only";
        return like_first(call);
      });
  for (const char* name : {"everywhere_a", "everywhere_b"}) {
    const Carrier& carrier =
        carrier_of(name, {{d.operation(), kAnyPlan, "k", [](const Invocation& inv) {
                             seen.push_back(inv.kernel_id + " " + to_text(inv.results[0].type));
                             return host_kernel(double_floats)(inv);
                           }}});
    d({tensor_on(carrier, {1, 2})});
  }
  EXPECT_EQ(seen, (std::vector<std::string>(2, "acme.same_everywhere f32[2]")));
}

TEST(ExtensionEager, ResolvedOncePerDistinctCall) {  // A5.9
  int resolved = 0, referred = 0;
  const OperationDefinition& d = define_unary("resolved_once",
                                              {.vjp = kNonDifferentiable,
                                               .reference =
                                                   [&](const Invocation& inv) {
                                                     ++referred;
                                                     return square_reference(inv);
                                                   }},
                                              [&](Bound call) {
                                                EXPECT_EQ(referred, 0)
                                                    << "resolution asks nobody else";
                                                ++resolved;
                                                return like_first(call);
                                              });
  const Tensor x = reference_tensor({1, 2});
  d({x});
  const int first = resolved;
  d({x});
  EXPECT_EQ(resolved, first);
  EXPECT_EQ(referred, 2);
}

// Gradients -------------------------------------------------------------------------------------

Elements gradient_of_square(const OperationDefinition& d) {
  Tensor x = reference_tensor({1, -2, 3});
  require_gradient(x);
  backward(sum(d({x}) * reference_tensor({1, 10, 100}), {0}));
  return elements(*gradient(x));
}

TEST(ExtensionGradient, CallbackRulesAndDecompositionAgree) {  // A9.3 A9.4 A9.5
  const Elements want{2, -40, 600};
  EXPECT_EQ(gradient_of_square(define_unary(
                "sq_callback", {.vjp = square_vjp, .reference = square_reference}, saving_first)),
            want);
  EXPECT_EQ(gradient_of_square(
                define_unary("sq_body", {.vjp = kByDecomposition, .decompose = square_body})),
            want);
  EXPECT_EQ(gradient_of_square(define_unary(
                "sq_rules",
                {.vjp = DerivativeRules{.linearize = [](RuleContext& c, auto t) -> MaybeValues {
                   return {emit::mul(c.build, *t[0], emit::mul(c.build, c.primal_in[0], 2))};
                 }},
                 .reference = square_reference})),
            want);
}

TEST(ExtensionGradient, TheContextHoldsWhatWasNamed) {  // A9.1 A9.2 A6.10
  static std::vector<std::string> seen;
  const OperationDefinition& d = define_operation(
      "acme.context",
      {.operands = {{"x", OperandKind::tensor, true},
                    {"beta", OperandKind::weak_scalar},
                    {"y", OperandKind::tensor, true}}},
      [](Bound call) {
        const Type& x = call.tensor(0).type();
        return Invocation(call, uniform_plan(call, x.dtype), {{x}}, {}, {2});
      },
      {.vjp =
           [](const VjpContext& c, std::span<const std::optional<Tensor>> given) {
             EXPECT_EQ(c.invocation.definition()->name, "acme.context");
             EXPECT_EQ(std::get<double>(c.invocation.call.operands[1]), 0.5);
             EXPECT_FALSE(gradients_enabled());
             EXPECT_FALSE(requires_gradient(c.outputs[0]));
             EXPECT_EQ(c.saved_operands.size(), 1u);
             EXPECT_EQ(elements(c.saved_operands[0]), (Elements{10, 20}));
             EXPECT_EQ(elements(c.outputs[0]), (Elements{10, 40}));
             return MaybeTensors{*given[0] * c.saved_operands[0], std::nullopt};
           },
       .reference = [](const Invocation& inv) { return inv.call.tensor(0) * inv.call.tensor(2); }});
  Tensor x = reference_tensor({1, 2}), y = reference_tensor({10, 20});
  require_gradient(x);
  require_gradient(y);
  backward(sum(d({x, 0.5, y}), {0}));
  EXPECT_EQ(elements(*gradient(x)), (Elements{10, 20}));
  EXPECT_FALSE(gradient(y)) << "none flows";
}

TEST(ExtensionGradient, AllCotangentsInOneCall) {  // ruling 17, A9.3
  static int called = 0;
  const OperationDefinition& d =
      define_unary("pair",
                   {.vjp =
                        [](const VjpContext&, std::span<const std::optional<Tensor>> given) {
                          ++called;
                          EXPECT_EQ(given.size(), 3u);
                          EXPECT_FALSE(given[2].has_value());
                          return MaybeTensors{*given[0] + *given[1] * 2.0};
                        },
                    .reference =
                        [](const Invocation& inv) {
                          const Tensor& x = inv.call.tensor(0);
                          return std::vector<Tensor>{x + 0.0, x * 2.0, x * 3.0};
                        }},
                   [](Bound call) {
                     const Type& x = call.tensor(0).type();
                     return Invocation(call, uniform_plan(call, x.dtype), {{x}, {x}, {x}});
                   });
  Tensor x = reference_tensor({1, 2});
  require_gradient(x);
  const CallResults y = d({x});
  ASSERT_EQ(y.size(), 3u);
  backward(sum(y[0] + y[1] * 10.0, {0}));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(elements(*gradient(x)), (Elements{21, 21}));
}

// What a callback may not give.
template <class E>
std::string bad_gradient(const std::string& name, std::function<MaybeTensors()> give) {
  const OperationDefinition& d = define_unary(
      name,
      {.vjp = [=](const VjpContext&, auto) { return give(); }, .reference = square_reference});
  Tensor x = reference_tensor({1, 2});
  require_gradient(x);
  const Tensor y = sum(d({x}), {0});
  const std::string text = expect_error<E>([&] { backward(y); });
  EXPECT_FALSE(gradient(x)) << "no gradient has changed";
  return text;
}

TEST(ExtensionGradient, CallbacksAreHeldToTheirContract) {  // A9.4
  const Tensor good = reference_tensor({1, 2}), longer = reference_tensor({1, 2, 3});
  const Tensor whole = tensor({1, 2, 3}, {3}, {.dtype = DType::i32, .carrier = "reference"});
  EXPECT_NE(bad_gradient<ValueError>("bad_none", [] { return MaybeTensors{}; })
                .find("another number of gradients; gradients: found 0, needed 1"),
            std::string::npos);
  EXPECT_NE(bad_gradient<ValueError>("bad_two",
                                     [=] {
                                       return MaybeTensors{good, good};
                                     })
                .find("gradients: found 2, needed 1"),
            std::string::npos);
  EXPECT_NE(bad_gradient<TypeError>("bad_empty", [] { return MaybeTensors{Tensor()}; })
                .find("gradients[0]: found an empty tensor"),
            std::string::npos);
  const std::string dtype =
      bad_gradient<TypeError>("bad_dtype", [=] { return MaybeTensors{whole}; });
  EXPECT_NE(dtype.find("gradients[0].dtype"), std::string::npos) << "before the shape: " << dtype;
  const std::string shape =
      bad_gradient<ValueError>("bad_shape", [=] { return MaybeTensors{longer}; });
  EXPECT_NE(shape.find("gradients[0].dims"), std::string::npos) << shape;
}

// With a decomposition, too: its derivative is another one.
TEST(ExtensionGradient, ProgramsRefuseACallback) {
  const OperationDefinition& d = define_unary(
      "straight_through",
      {.vjp = [](const VjpContext&,
                 std::span<const std::optional<Tensor>> given) { return MaybeTensors{given[0]}; },
       .decompose =
           [](const NodeContext& at) {
             Builder b("straight_through");
             const ValueId x = b.input("x", at.operands[0]);
             b.output("y", b.emit(op_round_even, {x}));
             return b.finish();
           }});
  const Program p = trace([&](Tensor t) -> Tensor { return sum(Tensor(d({t}))); }, {f32({2})},
                          {.name = "f", .inputs = {"x"}});
  const std::string text = expect_error<UnsupportedAdError>([&] { grad(p, "x"); });
  EXPECT_NE(text.find("acme.straight_through"), std::string::npos) << text;
  Tensor x = tensor({0.4, 1.6}, {2});
  require_gradient(x);
  backward(sum(Tensor(d({x}))));
  EXPECT_EQ(elements(*gradient(x)), (Elements{1, 1}));
}

TEST(ExtensionGradient, NoDerivativeNoNode) {  // A9.5
  const OperationDefinition& d =
      define_unary("no_node", {.vjp = kNonDifferentiable, .reference = square_reference});
  Tensor x = reference_tensor({1, 2});
  require_gradient(x);
  EXPECT_FALSE(requires_gradient(Tensor(d({x}))));
}

TEST(ExtensionGradient, SavedOperandsMustNotChange) {  // A9.12
  static int called = 0;
  const OperationDefinition& d =
      define_unary("saved_version",
                   {.vjp =
                        [](const VjpContext& c, std::span<const std::optional<Tensor>> given) {
                          ++called;
                          return square_vjp(c, given);
                        },
                    .reference = square_reference},
                   saving_first);
  Tensor x = reference_tensor({1, 2});
  require_gradient(x);
  const Tensor y = sum(d({x}), {0});
  assign(x, reference_tensor({3, 4}));
  expect_error<SavedVersionError>([&] { backward(y); }, "[acme.saved_version]");
  EXPECT_EQ(called, 0);
  const Tensor z = sum(d({x}), {0});
  backward(z);
  expect_error<GraphFreedError>([&] { backward(z); }, "retain_graph");
  EXPECT_EQ(called, 1);
}

TEST(ExtensionGradient, AFusedBackwardIsAnotherOperation) {  // A9.11
  static const OperationDefinition& fused =
      define_operation("acme.square_backward", {.operands = {{"x"}, {"g"}}}, like_first,
                       {.vjp = kNonDifferentiable, .reference = [](const Invocation& inv) {
                          return inv.call.tensor(0) * inv.call.tensor(1) * 2.0;
                        }});
  const OperationDefinition& d =
      define_unary("square_fused",
                   {.vjp =
                        [](const VjpContext& c, std::span<const std::optional<Tensor>> given) {
                          return MaybeTensors{fused({c.saved_operands[0], *given[0]})};
                        },
                    .reference = square_reference},
                   saving_first);
  EXPECT_EQ(gradient_of_square(d), (Elements{2, -40, 600}));
}

// Aliases ---------------------------------------------------------------------------------------

struct Aliasing {
  int prepared = 0;
  const OperationDefinition& definition;
  const Carrier& carrier;

  explicit Aliasing(const std::string& name)
      : definition(define_operation(
            "acme." + name, {.operands = {{"x", OperandKind::tensor, true}, {"y"}}},
            [](Bound call) {
              const Type& x = call.tensor(0).type();
              return Invocation(call, uniform_plan(call, x.dtype), {{x}, {x, 0}});
            },
            {.vjp = [](const VjpContext&, auto) { return MaybeTensors{std::nullopt}; }})),
        carrier(carrier_of(name,
                           {{definition.operation(), kAnyPlan, "k", [this](const Invocation& inv) {
                               ++prepared;
                               return host_kernel(double_floats)(inv);
                             }}})) {}
};

TEST(ExtensionAlias, ARecordedAliasIsRefusedBeforeAnyProvider) {  // A9.6 A9.7 A9.8
  Aliasing a("alias_recorded");
  Tensor x = tensor_on(a.carrier, {1, 2});
  const Tensor y = tensor_on(a.carrier, {1, 2});
  require_gradient(x);
  try {
    a.definition({x, y});
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_EQ(e.detail().step, 19);
    EXPECT_EQ(e.detail().field, "results[1].alias_of");
  }
  EXPECT_EQ(a.prepared, 0);
  EXPECT_EQ(x.gradient_link()->call, nullptr);
  EXPECT_EQ(x.storage()->version(), 0u);
  {
    const GradientMode off(false);
    EXPECT_EQ(a.definition({x, y})[1].storage(), x.storage());
    EXPECT_EQ(a.prepared, 1);
  }
  // An operand that no derivative is defined for does not take part.
  Tensor marked = tensor_on(a.carrier, {3, 4});
  require_gradient(marked);
  const CallResults r = a.definition({y, marked});
  EXPECT_EQ(elements(r[0]), (Elements{2, 4}));
  EXPECT_FALSE(requires_gradient(r[0]));
  release(y);
  expect_error<ReleasedError>(
      [&] {
        a.definition({x, y});
      },
      "operands[1]: found a released tensor", 18);  // A9.7
}

TEST(ExtensionAlias, AViewIsNoAlias) {  // A9.9 A6.4
  const OperationDefinition& d = define_unary(
      "view",
      {.vjp =
           [](const VjpContext& c, std::span<const std::optional<Tensor>> given) {
             return MaybeTensors{reshape(*given[0], c.invocation.call.tensor(0).type().dims)};
           }},
      [](Bound call) {
        const Type& x = call.tensor(0).type();
        return Invocation(call, uniform_plan(call, x.dtype), {{{x.dtype, {2, 2}}}});
      });
  const Carrier& carrier = carrier_of(
      "view",
      {{d.operation(), kAnyPlan, "k",
        [](const Invocation&) -> Prepared {
          return PreparedKernel{host_interface(), [](const Invocation& inv, Operands o) {
                                  return ProviderResult({Tensor(inv.results[0].type,
                                                                std::get<Tensor>(o[0]).storage())});
                                }};
        }}},
      BuiltInKernels::interpreted);
  Tensor x = tensor_on(carrier, {1, 2, 3, 4});
  require_gradient(x);
  const Tensor y = d({x});
  EXPECT_EQ(to_text(y.type()), "f32[2,2]");
  EXPECT_EQ(y.storage(), x.storage());
  backward(sum(y, {0, 1}));
  EXPECT_EQ(elements(*gradient(x)), (Elements{1, 1, 1, 1}));
}

// Every name of the public surface is one object under two headers.
static_assert(std::is_same_v<ResolvedInvocation, Invocation>);

TEST(ExtensionSurface, TheUmbrellaHasTheNames) {  // A1.1 A1.2
  using All =
      std::tuple<OperationSchema*, OperandSpec*, OptionSpec*, OperandKind, ResultSpec*,
                 OperationDefinition*, BoundOperationCall*, VjpContext*, ProviderContractError*>;
  EXPECT_EQ(std::tuple_size_v<All>, 9u);
  EXPECT_NE(static_cast<const void*>(&kRequired), nullptr);
  EXPECT_NE(static_cast<const void*>(&kNonDifferentiable), nullptr);
  EXPECT_NE(&define_operation, nullptr);
}

}  // namespace
}  // namespace heddle
