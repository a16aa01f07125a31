// Kernel packs: what is registered, what is asked in which order, and what a provider that breaks
// its contract leaves behind: nothing.
#include <cmath>
#include <thread>

#include "eager/extension_support.h"
#include "heddle/backends/eager/record.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

static_assert(!std::is_constructible_v<KernelPattern, const Operation&, AnyPlan, std::string,
                                       PrepareFunction, bool>);

DtypePlan plan_of(const OperationDefinition& d, DType dtype = DType::f32) {
  return {.operation = d.name,
          .operands = {{OperandKind::tensor, dtype, dtype}},
          .compute = dtype,
          .arithmetic = is_floating(dtype) ? Arithmetic::ieee : Arithmetic::wrapping,
          .output = dtype};
}
PrepareFunction doubling() { return host_kernel(double_floats); }
KernelPattern pattern(const OperationDefinition& d, const std::string& id, PrepareFunction prepare,
                      int preference = 0) {
  return {d.operation(), {plan_of(d)}, id, std::move(prepare), preference};
}
PrepareFunction refusing(const std::string& reason) {
  return [=](const Invocation&) -> Prepared { return Unsupported(reason); };
}

TEST(Pack, PatternsAreChecked) {  // 2A.5
  const OperationDefinition& d = define_unary("pattern", {.vjp = kNonDifferentiable});
  const DtypePlan good = plan_of(d);
  DtypePlan other = good;
  other.operation = "acme.another";
  auto make = [&](std::vector<DtypePlan> plans, const std::string& id, PrepareFunction prepare) {
    KernelPattern(d.operation(), std::move(plans), id, std::move(prepare));
  };
  expect_error<ValueError>([&] { make({}, "k", doubling()); }, "kernel 'k': it has no plan");
  expect_error<ValueError>(
      [&] {
        make({good, good}, "k", doubling());
      },
      "kernel 'k': a plan stands twice");
  expect_error<ValueError>(
      [&] { make({other}, "k", doubling()); },
      "a plan of another operation: found 'acme.another', needed 'acme.pattern'");
  expect_error<ValueError>([&] { make({good}, "", doubling()); }, "a kernel has an id");
  expect_error<TypeError>([&] { make({good}, "k", nullptr); }, "kernel 'k': it cannot be prepared");
  expect_error<ValueError>(
      [&] {
        KernelProvider(host_interface(),
                       {pattern(d, "k", doubling()), pattern(d, "k", doubling())});
      },
      "two kernels of one id: found k");
  expect_error<ValueError>([] { Unsupported(""); }, "without a reason");
  expect_error<ValueError>([] { ProviderResult({}); }, "has no tensor");
  expect_error<TypeError>([] { ProviderResult({Tensor()}); }, "an empty tensor");
}

TEST(Pack, ARejectedPackContributesNothing) {  // 2A.5, A8.1
  const OperationDefinition& d = define_unary("rejected", {.vjp = kNonDifferentiable});
  const Carrier& carrier = define_carrier(
      "rejected", BuiltInKernels::none, {host_interface(), {pattern(d, "own", refusing("never"))}});
  auto pack = [&](const std::string& name, std::vector<KernelPattern> patterns) {
    return KernelPack{.name = name, .version = 1, .carrier = carrier, .patterns = patterns};
  };
  register_kernel_pack(pack("first", {pattern(d, "a", refusing("a says no"))}));
  expect_error<ValueError>([&] { register_kernel_pack(pack("", {pattern(d, "b", doubling())})); },
                           "kernel pack '' 1: a pack has a name");
  expect_error<ValueError>([&] { register_kernel_pack(pack("empty", {})); },
                           "kernel pack 'empty' 1: a pack has kernels");
  expect_error<ValueError>(
      [&] { register_kernel_pack(pack("first", {pattern(d, "b", doubling())})); },
      "kernel pack 'first' 1: it is registered already");
  expect_error<ValueError>(
      [&] {
        register_kernel_pack(
            pack("second", {pattern(d, "b", doubling()), pattern(d, "a", doubling())}));
      },
      "the carrier has a kernel of this id: found 'a'");
  expect_error<ValueError>(
      [&] {
        register_kernel_pack(
            pack("second", {pattern(d, "b", doubling()), pattern(d, "b", doubling())}));
      },
      "the carrier has a kernel of this id: found 'b'");
  expect_error<ValueError>(
      [&] { register_kernel_pack(pack("second", {pattern(d, "own", doubling())})); },
      "the carrier has a kernel of this id: found 'own'");
  KernelPack foreign = pack("second", {pattern(d, "b", doubling())});
  foreign.interface = {"acme.device", 1};
  expect_error<TypeError>([&] { register_kernel_pack(foreign); },
                          "another interface: found acme.device 1");
  foreign.interface = {host_interface().type, 2};
  expect_error<TypeError>([&] { register_kernel_pack(foreign); }, "another interface: found ");

  const Tensor x = tensor_on(carrier, {1, 2});
  expect_error<TypeError>(
      [&] { register_kernel_pack(pack("late", {pattern(d, "b", doubling())})); },
      "kernel pack 'late' 1: it comes too late: the carrier is in use");
  const std::string text = expect_error<UnsupportedOperationPlan>([&] { d({x}); });
  EXPECT_NE(text.find("own: never; a: a says no"), std::string::npos) << text;
  EXPECT_EQ(text.find("b:"), std::string::npos) << text;
}

TEST(Pack, TheOrderOfCandidates) {  // 2A.5, A8.3 A8.4
  const OperationDefinition& d = define_unary("order", {.vjp = kNonDifferentiable});
  const Carrier& carrier = define_carrier("order", BuiltInKernels::none,
                                          {host_interface(), {pattern(d, "own", refusing("4"))}});
  auto add = [&](const std::string& name, int version, std::vector<KernelPattern> patterns) {
    register_kernel_pack(
        {.name = name, .version = version, .carrier = carrier, .patterns = std::move(patterns)});
  };
  add("zeta", 1, {pattern(d, "zeta", refusing("7")), pattern(d, "best", refusing("1"), 5)});
  add("acme", 2, {pattern(d, "acme2", refusing("6"))});
  add("acme", 1,
      {pattern(d, "acme1", refusing("5")), pattern(d, "low", refusing("8"), -1),
       pattern(d, "second", refusing("2"), 2), pattern(d, "third", refusing("3"), 2)});
  const Tensor x = tensor_on(carrier, {1, 2});
  const std::string text = expect_error<UnsupportedOperationPlan>([&] { d({x}); });
  EXPECT_NE(text.find("best: 1; second: 2; third: 3; own: 4; acme1: 5; acme2: 6; zeta: 7; low: 8"),
            std::string::npos)
      << text;
  EXPECT_EQ(capabilities(carrier, d.operation()), std::vector<DtypePlan>{plan_of(d)});
}

TEST(Pack, UnsupportedGivesTheNextOneAChance) {  // A8.3 A6.11
  const OperationDefinition& d = define_unary("next", {.vjp = kNonDifferentiable});
  const Carrier& carrier = carrier_of(
      "next", {pattern(
                   d, "large",
                   [inner = doubling()](const Invocation& inv) -> Prepared {
                     if (element_count(inv.results[0].type) < 3) return Unsupported("too small");
                     return inner(inv);
                   },
                   1),
               pattern(d, "small", host_kernel([](const Invocation& inv, auto in, auto out) {
                         double_floats(inv, in, out);
                         reinterpret_cast<float*>(out[0])[0] = -1;
                         return 0;
                       }))});
  EXPECT_EQ(elements(d({tensor_on(carrier, {1, 2, 3})})), (Elements{2, 4, 6}));
  EXPECT_EQ(elements(d({tensor_on(carrier, {1, 2})})), (Elements{-1, 4}));
  EXPECT_EQ(capabilities(carrier, d.operation()).size(), 1u);
}

TEST(Pack, AStaticMismatchPreparesNothing) {  // A8.2 A5.12
  const OperationDefinition& d = define_unary("mismatch", {.vjp = kNonDifferentiable});
  int asked = 0;
  const Carrier& carrier =
      carrier_of("mismatch", {pattern(d, "k", [&](const Invocation&) -> Prepared {
                   ++asked;
                   return Unsupported("no");
                 })});
  const Tensor whole = tensor({1, 2}, {2}, {.dtype = DType::i32, .carrier = "mismatch"});
  try {
    d({whole});
    FAIL();
  } catch (const UnsupportedOperationPlan& e) {
    EXPECT_EQ(e.detail().step, 21);
  }
  EXPECT_EQ(asked, 0);
  expect_error<UnsupportedOperationPlan>([&] { d({tensor_on(carrier, {1})}); }, "k: no", 23);
  EXPECT_EQ(asked, 1);
}

TEST(Pack, APatternMakesNoOperation) {  // A5.13
  const OperationDefinition& d = define_unary("made", {.vjp = kNonDifferentiable});
  carrier_of("made", {pattern(d, "acme.not_made", doubling())});
  EXPECT_EQ(find_operation("acme.not_made"), nullptr);
}

TEST(Pack, PreparedOncePerResolvedCall) {
  const OperationDefinition& d = define_unary("once", {.vjp = kNonDifferentiable});
  int prepared = 0;
  const Carrier& carrier =
      carrier_of("once", {pattern(d, "k", [&, inner = doubling()](const Invocation& inv) {
                   ++prepared;
                   return inner(inv);
                 })});
  const Tensor x = tensor_on(carrier, {1, 2}), y = tensor_on(carrier, {5, 6});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(elements(d({x})), (Elements{2, 4}));
  EXPECT_EQ(elements(d({y})), (Elements{10, 12}));
  EXPECT_EQ(prepared, 1);
  d({tensor_on(carrier, {1, 2, 3})});
  EXPECT_EQ(prepared, 2);
}

// A kernel for a built-in operation, before the carrier's own; the gradient stays the operation's.
TEST(Pack, BuiltInOperationsKeepTheirGradient) {  // A9.10 A4.6
  const Carrier& carrier = carrier_of(
      "faster",
      {{op_tanh, kAnyPlan, "acme.tanh", host_kernel([](const Invocation&, auto, auto out) {
          reinterpret_cast<float*>(out[0])[0] = 7;
          return 0;
        }),
        1}},
      BuiltInKernels::interpreted);
  Tensor x = tensor_on(carrier, {0.5});
  require_gradient(x);
  const Tensor y = tanh(x);
  EXPECT_EQ(elements(y), Elements{7});
  EXPECT_EQ(elements(exp(tensor_on(carrier, {0.0}))), Elements{1}) << "others as before";
  backward(y);
  EXPECT_NEAR(item(*gradient(x)), 1 - std::pow(std::tanh(0.5), 2), 1e-6);
}

TEST(Pack, TheCarriersOwnKernelComesFirstAmongEquals) {  // 2A.5
  const Carrier& carrier = carrier_of(
      "equals",
      {{op_tanh, kAnyPlan, "acme.tanh", host_kernel([](const Invocation&, auto, auto out) {
          reinterpret_cast<float*>(out[0])[0] = 7;
          return 0;
        })}},
      BuiltInKernels::interpreted);
  EXPECT_EQ(elements(tanh(tensor_on(carrier, {0.0}))), Elements{0});
}

TEST(Pack, AStorageOnlyCarrierRunsNothing) {  // A5.12
  const Carrier& carrier = define_carrier("shelf", BuiltInKernels::none);
  const Tensor x = tensor_on(carrier, {1, 2});
  EXPECT_EQ(elements(x), (Elements{1, 2}));
  expect_error<UnsupportedOperationPlan>([&] { x + x; }, "[add] ", 21);
  expect_error<ValueError>([] { define_carrier("shelf", BuiltInKernels::none); },
                           "there is such a carrier: found 'shelf'");
  expect_error<ValueError>([] { define_carrier("cpu", BuiltInKernels::none); },
                           "there is such a carrier: found 'cpu'");
}

// Faults ----------------------------------------------------------------------------------------

// Calls acme.<name>(x) on a carrier whose one kernel submits `submit`; gives the error. Checks that
// the call left no trace: elements, versions, gradients.
template <class E>
ErrorDetail fault(const std::string& name, SubmitFunction submit,
                  ResolveFunction resolve = like_first, PrepareFunction prepare = nullptr) {
  const OperationDefinition& d = define_unary(
      name, {.vjp = [](const VjpContext&, auto) { return MaybeTensors{std::nullopt}; }},
      std::move(resolve));
  if (prepare == nullptr) {
    prepare = [=](const Invocation&) -> Prepared {
      return PreparedKernel{host_interface(), submit};
    };
  }
  const Carrier& carrier =
      carrier_of(name, {{d.operation(), kAnyPlan, "faulty", std::move(prepare)}});
  return failing_call<E>(d, carrier);
}

const Tensor& operand(Operands operands) { return std::get<Tensor>(operands[0]); }
Tensor fresh(Operands operands, const Type& type) {
  return new_tensor(type, host_storage(operand(operands))->carrier_object());
}
SubmitFunction giving(std::function<std::vector<Tensor>(Operands)> results) {
  return [=](const Invocation&, Operands o) { return ProviderResult(results(o)); };
}
const Type kPair{DType::f32, {2}};

TEST(Faults, ResultsThatConflict) {  // A11.1 A11.2 A11.3 A11.4 A11.6
  auto field = [](const std::string& name, std::function<std::vector<Tensor>(Operands)> results) {
    const ErrorDetail d = fault<ProviderContractError>(name, giving(std::move(results)));
    EXPECT_EQ(d.step, 28) << name;
    EXPECT_EQ(d.operation, "acme." + name);
    return d.field;
  };
  EXPECT_EQ(field("fault_count",
                  [](Operands o) {
                    return std::vector{fresh(o, kPair), fresh(o, kPair)};
                  }),
            "results");
  EXPECT_EQ(field("fault_carrier",
                  [](Operands) { return std::vector{new_tensor(kPair, reference_carrier())}; }),
            "results[0].carrier");
  EXPECT_EQ(
      field("fault_literal", [](Operands) { return std::vector{make_tensor(splat(kPair, 1))}; }),
      "results[0].carrier");
  EXPECT_EQ(field("fault_size",
                  [](Operands o) {
                    return std::vector{Tensor(kPair, fresh(o, {DType::f32, {9}}).storage())};
                  }),
            "results[0].storage");
  EXPECT_EQ(field("fault_released",
                  [](Operands o) {
                    const Tensor t = fresh(o, kPair);
                    release(t);
                    return std::vector{t};
                  }),
            "results[0].storage");
  EXPECT_EQ(field("fault_dtype",
                  [](Operands o) {
                    return std::vector{fresh(o, {DType::i32, {2}})};
                  }),
            "results[0].dtype");
  EXPECT_EQ(field("fault_shape",
                  [](Operands o) {
                    return std::vector{fresh(o, {DType::f32, {2, 1}})};
                  }),
            "results[0].dims");
  EXPECT_EQ(field("fault_alias", [](Operands o) { return std::vector{operand(o)}; }),
            "results[0].alias_of");
}

TEST(Faults, TwoResultsInOneStorage) {  // A11.6
  const ErrorDetail d = fault<ProviderContractError>(
      "fault_shared", giving([](Operands o) {
        const Tensor t = fresh(o, kPair);
        return std::vector{t, t};
      }),
      [](Bound call) {
        const Type& x = call.tensor(0).type();
        return Invocation(call, uniform_plan(call, x.dtype), {{x}, {x}});
      });
  EXPECT_EQ(d.field, "results[1].storage");
}

void write_first(const Tensor& t, float value) {
  reinterpret_cast<float*>(host_storage(t)->data())[0] = value;
}

TEST(Faults, ChangesWithoutLeave) {  // A11.6
  const ErrorDetail elements_changed =
      fault<ProviderContractError>("fault_writes", [](const Invocation&, Operands o) {
        write_first(operand(o), 99);
        return ProviderResult({fresh(o, kPair)});
      });
  EXPECT_EQ(elements_changed.field, "operands[0]");
  const ErrorDetail version_changed =
      fault<ProviderContractError>("fault_version", [](const Invocation&, Operands o) {
        assign(operand(o), operand(o));
        return ProviderResult({fresh(o, kPair)});
      });
  EXPECT_EQ(version_changed.field, "operands[0]");
  const ErrorDetail released =
      fault<ProviderContractError>("fault_releases", [](const Invocation&, Operands o) {
        release(operand(o));
        return ProviderResult({fresh(o, kPair)});
      });
  EXPECT_EQ(released.field, "operands[0]");
}

TEST(Faults, ChangesWhilePreparing) {  // A11.6
  const OperationDefinition& d = define_unary("fault_prepares", {.vjp = kNonDifferentiable});
  Tensor x;
  const Carrier& carrier =
      carrier_of("fault_prepares", {pattern(d, "k", [&](const Invocation&) -> Prepared {
                   write_first(x, 99);
                   return Unsupported("and says no");
                 })});
  x = tensor_on(carrier, {1, 2});
  const std::string text = expect_error<ProviderContractError>([&] { d({x}); });
  EXPECT_NE(text.find("operands[0]"), std::string::npos) << text;
  EXPECT_EQ(elements(x), (Elements{1, 2}));
  EXPECT_EQ(x.storage()->version(), 0u);
}

struct OwnError : std::exception {};

TEST(Faults, WhatAProviderThrowsPassesAndUndoes) {  // A11.4, 2A.5
  const OperationDefinition& d =
      define_unary("fault_throws", {.vjp = kNonDifferentiable}, [](Bound call) {
        const Type& x = call.tensor(0).type();
        return Invocation(call, uniform_plan(call, x.dtype), {{x}}, {0});
      });
  bool in_prepare = true;
  int asked_next = 0;
  const Carrier& carrier = carrier_of(
      "fault_throws", {{d.operation(), kAnyPlan, "throws",
                        [&](const Invocation&) -> Prepared {
                          if (in_prepare) throw OwnError();
                          return PreparedKernel{
                              host_interface(), [](const Invocation&, Operands o) -> Submitted {
                                write_first(operand(o), 99);  // permitted, but then
                                throw OwnError();
                              }};
                        },
                        1},
                       {d.operation(), kAnyPlan, "next", [&](const Invocation&) -> Prepared {
                          ++asked_next;
                          return Unsupported("no");
                        }}});
  const Tensor x = tensor_on(carrier, {1, 2});
  EXPECT_THROW(d({x}), OwnError);
  EXPECT_EQ(asked_next, 0) << "an error is not a refusal";
  in_prepare = false;
  EXPECT_THROW(d({x}), OwnError);
  EXPECT_EQ(elements(x), (Elements{1, 2}));
  EXPECT_EQ(x.storage()->version(), 0u);
}

TEST(Faults, AKernelThatFailsSaysItsStatus) {
  const ErrorDetail d =
      fault<RuntimeError>("fault_status", nullptr, like_first,
                          host_kernel([](const Invocation&, auto, auto) { return 42; }));
  EXPECT_EQ(d.step, 27);
  EXPECT_EQ(d.found, "status 42");
}

TEST(Faults, AnotherInterfaceOrNothingSubmitted) {  // 2A.5
  const ErrorDetail other =
      fault<TypeError>("fault_interface", nullptr, like_first, [](const Invocation&) -> Prepared {
        return PreparedKernel{{"acme.device", 1},
                              giving([](Operands o) { return std::vector{fresh(o, kPair)}; })};
      });
  EXPECT_EQ(other.step, 26);
  const ErrorDetail empty =
      fault<TypeError>("fault_empty", nullptr, like_first, [](const Invocation&) -> Prepared {
        return PreparedKernel{host_interface(), nullptr};
      });
  EXPECT_EQ(empty.step, 26);
  const ErrorDetail nothing =
      fault<TypeError>("fault_nothing", [](const Invocation&, Operands) -> Submitted {
        return std::shared_ptr<ProviderCompletion>();
      });
  EXPECT_EQ(nothing.step, 26);
}

// Completions -----------------------------------------------------------------------------------

TEST(Completion, IsWaitedFor) {  // A11.5
  const OperationDefinition& d = define_unary("later", {.vjp = kNonDifferentiable});
  std::vector<std::thread> threads;
  const Carrier& carrier = carrier_of(
      "later", {pattern(d, "k", [&](const Invocation&) -> Prepared {
        return PreparedKernel{host_interface(), [&](const Invocation&, Operands o) -> Submitted {
                                auto completion = std::make_shared<ProviderCompletion>();
                                const Tensor x = operand(o), y = fresh(o, x.type());
                                threads.emplace_back([=] {
                                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                  for (std::size_t i = 0; i < 2; ++i) {
                                    reinterpret_cast<float*>(host_storage(y)->data())[i] =
                                        2 * reinterpret_cast<const float*>(x.storage()->host())[i];
                                  }
                                  completion->fulfil(ProviderResult({y}));
                                });
                                return completion;
                              }};
      })});
  EXPECT_EQ(elements(d({tensor_on(carrier, {1, 2})})), (Elements{2, 4}));
  for (std::thread& t : threads) t.join();
}

TEST(Completion, AnswersOnceAndAsOftenAsAsked) {  // A11.5
  ProviderCompletion completion;
  EXPECT_FALSE(completion.done());
  const Tensor t = make_tensor(splat(kPair, 1));
  completion.fulfil(ProviderResult({t}));
  EXPECT_TRUE(completion.done());
  EXPECT_EQ(completion.wait().outputs[0].storage(), t.storage());
  EXPECT_EQ(completion.wait().outputs.size(), 1u);
  expect_error<ProviderContractError>([&] { completion.fulfil(ProviderResult({t})); },
                                      "answered twice; completion", 28);
}

TEST(Completion, LateFailuresAndSecondAnswersUndo) {  // A11.4 A11.5
  const ErrorDetail late =
      fault<RuntimeError>("fault_late", [](const Invocation&, Operands o) -> Submitted {
        write_first(operand(o), 99);
        auto completion = std::make_shared<ProviderCompletion>();
        completion->fail(std::make_exception_ptr(RuntimeError({.message = "the device is gone"})));
        return completion;
      });
  EXPECT_EQ(late.message, "the device is gone");
  const ErrorDetail twice =
      fault<ProviderContractError>("fault_twice", [](const Invocation&, Operands o) -> Submitted {
        auto completion = std::make_shared<ProviderCompletion>();
        completion->fulfil(ProviderResult({fresh(o, kPair)}));
        EXPECT_THROW(completion->fulfil(ProviderResult({fresh(o, kPair)})), ProviderContractError);
        return completion;
      });
  EXPECT_EQ(twice.field, "completion");
}

// Effects ---------------------------------------------------------------------------------------

TEST(Effects, AChangedOperandsVersionGrowsByOne) {  // A11.6
  const OperationDefinition& d = define_operation(
      "acme.increment", {.operands = {{"x"}, {"by", OperandKind::weak_scalar}}},
      [](Bound call) {
        return Invocation(call, uniform_plan(call, DType::f32), {{call.tensor(0).type(), 0}}, {0});
      },
      {.vjp = kNonDifferentiable});
  const Carrier& carrier = carrier_of(
      "increment", {{d.operation(), kAnyPlan, "k", [](const Invocation&) -> Prepared {
                       return PreparedKernel{
                           host_interface(), [](const Invocation& inv, Operands o) {
                             EXPECT_TRUE(inv.call.tensor(0).empty());
                             const Tensor& x = operand(o);
                             const float by = static_cast<float>(std::get<double>(o[1]));
                             for (int i = 0; i < 2; ++i) {
                               reinterpret_cast<float*>(host_storage(x)->data())[i] += by;
                               host_storage(x)->changed();
                             }
                             return ProviderResult({x});
                           }};
                     }}});
  const Tensor x = tensor_on(carrier, {1, 2});
  const Tensor y = d({x, 0.5});
  EXPECT_EQ(y.storage(), x.storage()) << "the very operand";
  EXPECT_EQ(elements(x), (Elements{1.5, 2.5}));
  EXPECT_EQ(x.storage()->version(), 1u);
  expect_error<ValueError>(
      [&] {
        d({make_tensor(splat(kPair, 1)), 0.5});
      },
      "a constant cannot be changed; operands[0]", 18);
  // A program has no storage to change.
  expect_error<NotImplementedError>(
      [&] {
        trace([&](Tensor t) -> Tensor { return d({t, 0.5}); }, {f32({2})});
      },
      "cannot be part of a program; operands[0]", 18);
}

TEST(Effects, AnAliasThatIsAnotherTensor) {  // A7.6 A9.8 A6.4
  const OperationDefinition& d = define_unary("same", {.vjp = kNonDifferentiable}, [](Bound call) {
    const Type& x = call.tensor(0).type();
    return Invocation(call, uniform_plan(call, x.dtype), {{x, 0}});
  });
  bool honest = true;
  const Carrier& carrier =
      carrier_of("same", {{d.operation(), kAnyPlan, "k", [&](const Invocation&) -> Prepared {
                             return PreparedKernel{
                                 host_interface(), [&](const Invocation&, Operands o) {
                                   return ProviderResult({honest ? operand(o) : fresh(o, kPair)});
                                 }};
                           }}});
  Tensor x = tensor_on(carrier, {1, 2});
  require_gradient(x);
  const Tensor y = d({x});
  EXPECT_EQ(y.storage(), x.storage());
  EXPECT_FALSE(requires_gradient(y)) << "A9.5: no node";
  honest = false;
  const std::string text = expect_error<ProviderContractError>([&] { d({x}); });
  EXPECT_NE(text.find("results[0].alias_of"), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle
