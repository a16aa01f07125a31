// Carriers that compute by other carriers: what a composite is asked, what its answers are held to,
// and that the call it answers stays the only one that is seen.
#include <cmath>
#include <thread>

#include "eager/extension_support.h"
#include "heddle/backends/eager/record.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

const Type kPair{DType::f32, {2}};

using ResultCarriers =
    std::function<std::vector<const Carrier*>(const Carrier&, const Invocation&)>;
using PrepareComposite = std::function<MaybeComposite(const Carrier&, const Invocation&)>;

ResultCarriers all_on(const Carrier& carrier) {
  return [&carrier](const Carrier&, const Invocation& inv) {
    return std::vector<const Carrier*>(inv.results.size(), &carrier);
  };
}
ResultCarriers all_at_home() {
  return [](const Carrier& own, const Invocation& inv) {
    return std::vector<const Carrier*>(inv.results.size(), &own);
  };
}
// For composites that do not ask where they are called.
CompositeFunction placeless(SubmitFunction submit) {
  if (submit == nullptr) return nullptr;
  return [submit](const Invocation& inv, Operands o, Location) { return submit(inv, o); };
}
PrepareComposite submitting(SubmitFunction submit) {
  return
      [submit](const Carrier&, const Invocation&) { return PreparedComposite{placeless(submit)}; };
}

// The call, made on the cpu on copies of the operands.
std::vector<Tensor> on_the_cpu(const Invocation& inv, Operands operands) {
  std::vector<Operand> moved;
  for (const Operand& o : operands) {
    const Tensor* t = std::get_if<Tensor>(&o);
    moved.push_back(t != nullptr ? Operand(on(*t, "cpu")) : o);
  }
  return call(*inv.call.op, moved, inv.call.options, {});
}
SubmitFunction delegating(const std::string& results_to) {
  return [=](const Invocation& inv, Operands operands) {
    std::vector<Tensor> results;
    for (const Tensor& t : on_the_cpu(inv, operands)) {
      results.push_back(results_to == "cpu" ? t : on(t, results_to));
    }
    return ProviderResult(std::move(results));
  };
}

const Carrier& composite_carrier(const std::string& name, ResultCarriers carriers,
                                 PrepareComposite prepare) {
  return define_carrier({.name = name,
                         .composite = CompositeProvider{.result_carriers = std::move(carriers),
                                                        .prepare = std::move(prepare)}});
}

// What is asked -----------------------------------------------------------------------------------

TEST(Composite, IsAskedForCarriersThenForWorkOncePerResolvedCall) {  // A10.1
  std::vector<std::string> asked;
  const Carrier* seen[2] = {};
  const Carrier& carrier = composite_carrier(
      "asked",
      [&](const Carrier& own, const Invocation& inv) {
        asked.push_back("carriers of " + std::string(inv.call.op->name));
        EXPECT_TRUE(inv.call.tensor(0).empty()) << "types, no storage";
        seen[0] = &own;
        return std::vector<const Carrier*>{&cpu_carrier()};
      },
      [&](const Carrier& own, const Invocation& inv) -> MaybeComposite {
        asked.push_back("work of " + std::string(inv.call.op->name));
        seen[1] = &own;
        return PreparedComposite{placeless(delegating("cpu"))};
      });
  for (int i = 1; i <= 3; ++i)
    EXPECT_EQ(elements(tanh(tensor_on(carrier, {0, 0}))), (Elements{0, 0}));
  EXPECT_EQ(asked, (std::vector<std::string>{"carriers of tanh", "work of tanh"}));
  EXPECT_EQ(seen[0], &carrier);
  EXPECT_EQ(seen[1], &carrier);
  tanh(tensor_on(carrier, {0, 0, 0}));
  EXPECT_EQ(asked.size(), 4u);
}

// Definitions -------------------------------------------------------------------------------------

TEST(Composite, KernelsOrACompositeNotBoth) {  // 2A.5
  const OperationDefinition& d = define_unary("combination", {.vjp = kNonDifferentiable});
  const CompositeProvider good{.result_carriers = all_at_home(),
                               .prepare = submitting(delegating("combination"))};
  auto define = [&](CarrierDefinition definition) {
    definition.name = "combination";
    expect_error<TypeError>([&] { define_carrier(definition); });
    expect_error<NotAvailableError>([] { find_carrier("combination"); });
  };
  define({.kernels = KernelProvider(host_interface(), {}), .composite = good});
  define({.built_in = BuiltInKernels::compiled, .composite = good});
  define({.composite = CompositeProvider{.result_carriers = nullptr, .prepare = good.prepare}});
  define({.composite =
              CompositeProvider{.result_carriers = good.result_carriers, .prepare = nullptr}});
  const Carrier& carrier = define_carrier({.name = "combination", .composite = good});
  expect_error<TypeError>([&] {
    register_kernel_pack(
        {.name = "acme",
         .version = 1,
         .carrier = carrier,
         .patterns = {{d.operation(), kAnyPlan, "k", host_kernel(double_floats)}}});
  });
  EXPECT_TRUE(capabilities(carrier, d.operation()).empty());
}

TEST(Composite, CarriersWithoutOneKeepTheirOwnPath) {  // A10.6
  for (const char* name : {"cpu", "reference"}) {
    EXPECT_EQ(find_carrier(name).composite, nullptr);
    const Tensor y = tanh(tensor({0.0}, {1}, {.carrier = name}));
    EXPECT_EQ(y.storage()->carrier(), &find_carrier(name));
  }
  const OperationDefinition& d = define_unary("own_path", {.vjp = kNonDifferentiable});
  const Carrier& kernels =
      carrier_of("own_path", {{d.operation(), kAnyPlan, "k", host_kernel(double_floats)}});
  EXPECT_EQ(kernels.composite, nullptr);
  EXPECT_EQ(elements(d({tensor_on(kernels, {1, 2})})), (Elements{2, 4}));
  const Carrier& shelf = define_carrier({.name = "bare_shelf"});
  expect_error<UnsupportedOperationPlan>([&] { d({tensor_on(shelf, {1, 2})}); });
}

// Values and gradients ----------------------------------------------------------------------------

TEST(Composite, TheOuterCallIsTheOnlyOneRecorded) {  // A10.4 A9.10
  // tanh as 2 logistic(2x) - 1, on the cpu, with gradients on: nothing of it is recorded.
  std::vector<bool> recording;
  const Carrier& carrier =
      composite_carrier("outer", all_at_home(),
                        submitting([&](const Invocation& inv, Operands operands) -> Submitted {
                          if (inv.call.op != &op_tanh) return delegating("outer")(inv, operands);
                          recording.push_back(gradients_enabled());
                          Tensor x = on(std::get<Tensor>(operands[0]), "cpu");
                          require_gradient(x);
                          return ProviderResult({on(logistic(x * 2.0) * 2.0 - 1.0, "outer")});
                        }));
  Tensor x = tensor_on(carrier, {0.5, -1});
  require_gradient(x);
  const Tensor y = tanh(x);
  EXPECT_EQ(recording, std::vector<bool>{true});
  ASSERT_NE(y.gradient_link(), nullptr);
  EXPECT_EQ(y.gradient_link()->call->operation, "tanh");
  EXPECT_EQ(y.gradient_link()->call->into[0], x.gradient_link()) << "one node, straight to x";
  backward(y, {.cotangent = tensor_on(carrier, {1, 10})});
  const Elements g = elements(*gradient(x));
  EXPECT_NEAR(g[0], 1 - std::pow(std::tanh(0.5), 2), 1e-6);
  EXPECT_NEAR(g[1], 10 * (1 - std::pow(std::tanh(1.0), 2)), 1e-5);
  EXPECT_EQ(gradient(x)->storage()->carrier(), &carrier);
}

// An operand in pieces, results dense on another carrier; nothing is decided by the pieces.
TEST(Composite, ResultsOnAnotherCarrier) {  // A10.2 A10.4 A10.7
  const Carrier& carrier =
      composite_carrier("pieces", all_on(cpu_carrier()), submitting(delegating("cpu")));
  Tensor x = tensor_on(carrier, {1, -2, 3}), w = tensor_on(carrier, {4, 5, 6});
  require_gradient(x);
  require_gradient(w);
  const Tensor y = x * w;
  EXPECT_EQ(y.storage()->carrier(), &cpu_carrier());
  EXPECT_EQ(elements(y), (Elements{4, -10, 18}));
  const Tensor z = sum(relu(y) * tensor({1, 1, 2}, {3}), {0});  // goes on there
  EXPECT_EQ(item(z), 40);
  backward(z);
  EXPECT_EQ(elements(*gradient(x)), (Elements{4, 0, 12}));
  EXPECT_EQ(elements(*gradient(w)), (Elements{1, 0, 6}));
  EXPECT_EQ(gradient(x)->storage()->carrier(), &carrier) << "where x is";
  backward(x * w, {.cotangent = tensor({1, 1, 1}, {3})});
  EXPECT_EQ(elements(*gradient(x)), (Elements{8, 5, 18})) << "added";
}

TEST(Composite, ItsOwnWayWithProgramsOfGradients) {  // A10.4
  int programs = 0, runs = 0;
  const Carrier& carrier = define_carrier(
      {.name = "own_way",
       .composite = CompositeProvider{
           .result_carriers = all_at_home(),
           .prepare = submitting(delegating("own_way")),
           .prepare_program = [&](const Carrier& own, const Function& f) -> ProgramFunction {
             ++programs;
             return [&, f](std::span<const Tensor> inputs, Location) {
               ++runs;
               std::vector<Literal> arguments;
               for (const Tensor& t : inputs) arguments.push_back(to_literal(t));
               std::vector<Tensor> outputs;
               for (const Literal& l : interpret(Program({f}), f.name, arguments)) {
                 outputs.push_back(tensor(l, own.name));
               }
               return outputs;
             };
           }}});
  Tensor x = tensor_on(carrier, {2, 3});
  require_gradient(x);
  for (int i = 0; i < 3; ++i) backward(x * x, {.cotangent = tensor_on(carrier, {1, 1})});
  EXPECT_EQ(elements(*gradient(x)), (Elements{12, 18}));
  EXPECT_EQ(programs, 1);
  EXPECT_EQ(runs, 3);
}

// Faults ------------------------------------------------------------------------------------------

// Calls acme.<name>(x) on a composite; gives the error. Checks that the call left no trace.
template <class E>
ErrorDetail fault(const std::string& name, ResultCarriers carriers, PrepareComposite prepare,
                  std::vector<ResultSpec> results = {{kPair}}) {
  const OperationDefinition& d = define_unary(
      name, {.vjp = [](const VjpContext&, auto) { return MaybeTensors{std::nullopt}; }},
      [results](Bound call) { return Invocation(call, uniform_plan(call, DType::f32), results); });
  const Carrier& carrier = composite_carrier(name, std::move(carriers), std::move(prepare));
  return failing_call<E>(d, carrier);
}

MaybeComposite not_reached(const Carrier&, const Invocation&) {
  ADD_FAILURE() << "prepared";
  return Unsupported("not reached");
}
const Tensor& operand(Operands operands) { return std::get<Tensor>(operands[0]); }
void write_first(const Tensor& t, float value) {
  carrier_storage(t)->write(0, std::as_bytes(std::span(&value, 1)));
}

TEST(CompositeFaults, ResultCarriers) {  // A10.2
  const ErrorDetail length = fault<ValueError>(
      "carriers_length",
      [](const Carrier& own, const Invocation&) { return std::vector<const Carrier*>(2, &own); },
      not_reached);
  EXPECT_EQ(length.step, 25);
  EXPECT_EQ(length.operation, "acme.carriers_length");
  EXPECT_EQ(length.field, "result_carriers");
  EXPECT_EQ(length.found, "2");
  const ErrorDetail null = fault<TypeError>(
      "carriers_null",
      [](const Carrier&, const Invocation&) { return std::vector<const Carrier*>(1, nullptr); },
      not_reached);
  EXPECT_EQ(null.step, 25);
  EXPECT_EQ(null.field, "result_carriers[0]");
}

struct OwnError : std::exception {};

TEST(CompositeFaults, Preparing) {  // A10.3
  const ErrorDetail refused = fault<UnsupportedOperationPlan>(
      "composite_refuses", all_at_home(), [](const Carrier&, const Invocation&) -> MaybeComposite {
        return Unsupported("the moon is full");
      });
  EXPECT_EQ(refused.step, 23);
  EXPECT_NE(refused.message.find("the moon is full"), std::string::npos) << refused.message;
  const ErrorDetail nothing =
      fault<TypeError>("composite_nothing", all_at_home(), submitting(nullptr));
  EXPECT_EQ(nothing.step, 26);
  const ErrorDetail never = fault<TypeError>(
      "composite_never", all_at_home(), submitting([](const Invocation&, Operands) -> Submitted {
        return std::shared_ptr<ProviderCompletion>();
      }));
  EXPECT_EQ(never.step, 26);
}

TEST(CompositeFaults, WhatItThrowsPassesAndUndoes) {  // A10.3, ruling 30
  const OperationDefinition& d = define_unary("composite_throws", {.vjp = kNonDifferentiable});
  Tensor x;
  std::string where = "carriers";
  auto spoil = [&](const std::string& at) {
    if (where != at) return;
    write_first(x, 99);
    throw OwnError();
  };
  const Carrier& carrier = composite_carrier(
      "composite_throws",
      [&](const Carrier& own, const Invocation&) {
        spoil("carriers");
        return std::vector<const Carrier*>{&own};
      },
      [&](const Carrier&, const Invocation&) -> MaybeComposite {
        spoil("prepare");
        return PreparedComposite{[&](const Invocation&, Operands, Location) -> Submitted {
          spoil("submit");
          auto completion = std::make_shared<ProviderCompletion>();
          write_first(x, 99);
          completion->fail(std::make_exception_ptr(OwnError()));  // late
          return completion;
        }};
      });
  x = tensor_on(carrier, {1, 2});
  for (const char* at : {"carriers", "prepare", "submit", "later"}) {
    where = at;
    EXPECT_THROW(d({x}), OwnError) << at;
    EXPECT_EQ(elements(x), (Elements{1, 2})) << at;
    EXPECT_EQ(x.storage()->version(), 0u) << at;
  }
}

TEST(CompositeFaults, ChangesWithoutLeave) {  // A10.3 A10.5
  const OperationDefinition& d = define_unary("composite_writes", {.vjp = kNonDifferentiable});
  Tensor x;
  std::string where;
  auto spoil = [&](const std::string& at) {
    if (where == at) write_first(x, 99);
    if (where == at + ", counted") carrier_storage(x)->changed();
  };
  const Carrier& carrier = composite_carrier(
      "composite_writes",
      [&](const Carrier& own, const Invocation&) {
        spoil("carriers");
        return std::vector<const Carrier*>{&own};
      },
      [&](const Carrier& own, const Invocation&) -> MaybeComposite {
        spoil("prepare");
        return PreparedComposite{[&](const Invocation&, Operands, Location) {
          spoil("submit");
          return ProviderResult({new_tensor(kPair, own)});
        }};
      });
  x = tensor_on(carrier, {1, 2});
  for (const char* at : {"carriers", "carriers, counted", "prepare", "prepare, counted", "submit",
                         "submit, counted"}) {
    where = at;
    const std::string text = expect_error<ProviderContractError>([&] { d({x}); });
    EXPECT_NE(text.find("operands[0]"), std::string::npos) << at << ": " << text;
    EXPECT_EQ(elements(x), (Elements{1, 2})) << at;
    EXPECT_EQ(x.storage()->version(), 0u) << at;
  }
}

TEST(CompositeFaults, ResultsThatConflict) {  // A10.5 A11.3
  using Results = std::function<std::vector<Tensor>(const Tensor& x)>;
  auto field = [](const std::string& name, const Carrier& promised, Results results,
                  std::vector<ResultSpec> specs = {{kPair}}) {
    const ErrorDetail d = fault<ProviderContractError>(
        name, all_on(promised), submitting([results](const Invocation&, Operands o) {
          return ProviderResult(results(operand(o)));
        }),
        std::move(specs));
    EXPECT_EQ(d.step, 28) << name;
    EXPECT_EQ(d.operation, "acme." + name);
    return d.field;
  };
  const Carrier& cpu = cpu_carrier();
  auto on_cpu = [](const Type& type) { return new_tensor(type, cpu_carrier()); };
  EXPECT_EQ(field("r_count", cpu,
                  [=](const Tensor&) {
                    return std::vector{on_cpu(kPair), on_cpu(kPair)};
                  }),
            "results");
  EXPECT_EQ(field("r_home", cpu,
                  [](const Tensor& x) {
                    return std::vector{new_tensor(kPair, carrier_storage(x)->carrier_object())};
                  }),
            "results[0].carrier");
  EXPECT_EQ(field("r_second", cpu,
                  [=](const Tensor&) {
                    return std::vector{on_cpu(kPair), new_tensor(kPair, reference_carrier())};
                  },
                  {{kPair}, {kPair}}),
            "results[1].carrier");
  EXPECT_EQ(field("r_literal", cpu,
                  [](const Tensor&) { return std::vector{make_tensor(splat(kPair, 1))}; }),
            "results[0].carrier");
  EXPECT_EQ(field("r_dtype", cpu,
                  [=](const Tensor&) {
                    return std::vector{on_cpu({DType::i32, {2}})};
                  }),
            "results[0].dtype");
  EXPECT_EQ(field("r_shape", cpu,
                  [=](const Tensor&) {
                    return std::vector{on_cpu({DType::f32, {1, 2}})};
                  }),
            "results[0].dims");
  EXPECT_EQ(field("r_size", cpu,
                  [=](const Tensor&) {
                    return std::vector{Tensor(kPair, on_cpu({DType::f32, {9}}).storage())};
                  }),
            "results[0].storage");
  EXPECT_EQ(field("r_operand", cpu, [](const Tensor& x) { return std::vector{x}; }),
            "results[0].carrier");
}

TEST(CompositeFaults, Completions) {  // A10.3 A11.5
  const OperationDefinition& d = define_unary("composite_later", {.vjp = kNonDifferentiable});
  std::vector<std::thread> threads;
  bool twice = false;
  const Carrier& carrier = composite_carrier(
      "composite_later", all_on(cpu_carrier()),
      submitting([&](const Invocation&, Operands o) -> Submitted {
        auto completion = std::make_shared<ProviderCompletion>();
        const Tensor y = on(operand(o), "cpu") * 2.0;
        threads.emplace_back([=, &twice] {
          completion->fulfil(ProviderResult({y}));
          if (!twice) return;
          EXPECT_THROW(completion->fulfil(ProviderResult({y})), ProviderContractError);
        });
        if (twice) threads.back().join(), threads.pop_back();
        return completion;
      }));
  const Tensor x = tensor_on(carrier, {1, 2});
  EXPECT_EQ(elements(d({x})), (Elements{2, 4}));
  twice = true;
  const std::string text = expect_error<ProviderContractError>([&] { d({x}); });
  EXPECT_NE(text.find("twice"), std::string::npos) << text;
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace heddle
