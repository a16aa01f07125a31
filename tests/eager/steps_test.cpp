// The order in which the faults of one call are reported: every pair of them, generated. Each fault
// can be made alone or with any other; of two the earlier step is reported (requirements 3.5).
#include <set>

#include "eager/extension_support.h"
#include "heddle/graph/resolution_cache.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

// The steps at which a call of an extension can fail. (14 belongs to the plans of built-in
// operations, 16 to the types of C++, 22 and 24 to tables that are not a carrier's.)
constexpr int kSteps[] = {1, 2, 3, 4, 9, 15, 17, 18, 19, 21, 23, 26, 27, 28};

std::set<int> faults;
bool faulty(int step) { return faults.count(step) != 0; }
int provider_calls = 0;

Invocation resolve_faulty(const BoundOperationCall& call) {
  if (faulty(15)) throw ValueError({.message = "resolve says no", .step = 15});
  const Type& x = call.tensor(0).type();
  DtypePlan plan = uniform_plan(call, faulty(21) ? DType::f64 : DType::f32, DType::f32);
  std::vector<ResultSpec> results;
  results.emplace_back(x, faulty(19) ? std::optional(0) : std::nullopt);
  return {call, std::move(plan), std::move(results), {}, {}, faulty(17) ? "" : "k"};
}

Submitted submit_faulty(const Invocation& inv, Operands operands) {
  if (faulty(27)) throw RuntimeError({.message = "the kernel fails", .step = 27});
  const Tensor& x = std::get<Tensor>(operands[0]);
  std::vector<Tensor> results(faulty(28) ? 2 : 1);
  for (Tensor& r : results) {
    r = new_tensor(inv.results[0].type, host_storage(x)->carrier_object());
  }
  return ProviderResult(std::move(results));
}

Prepared prepare_faulty(const Invocation&) {
  ++provider_calls;
  if (faulty(23)) return Unsupported("prepare says no");
  return PreparedKernel{faulty(26) ? KernelInterface{"acme.device", 1} : host_interface(),
                        submit_faulty};
}

const OperationDefinition& faulty_operation() {
  static const OperationDefinition& d = define_operation(
      "acme.faulty",
      {.operands = {{"x", OperandKind::tensor, true}, {"y"}, {"z"}},
       .options = {{"axis", OptionKind::integer}}},
      resolve_faulty, {.vjp = [](const VjpContext&, std::span<const std::optional<Tensor>>) {
        return MaybeTensors{std::nullopt};
      }});
  return d;
}

const Carrier& faulty_carrier() {
  static const Carrier& carrier = [&]() -> const Carrier& {
    const OperationDefinition& d = faulty_operation();
    const OperandPlan f32{OperandKind::tensor, DType::f32, DType::f32};
    const DtypePlan plan{.operation = d.name,
                         .operands = {f32, f32, f32},
                         .compute = DType::f32,
                         .arithmetic = Arithmetic::ieee,
                         .output = DType::f32};
    return carrier_of("faulty", {{d.operation(), {plan}, "faulty", prepare_faulty}});
  }();
  return carrier;
}

// The same faults on a carrier that computes by others: 25 in place of 21, which asks no plans.
constexpr int kCompositeSteps[] = {1, 2, 3, 4, 9, 15, 17, 18, 19, 25, 23, 26, 27, 28};

const Carrier& faulty_composite() {
  static const Carrier& carrier = define_carrier(
      {.name = "faulty_composite",
       .composite = CompositeProvider{
           .result_carriers =
               [](const Carrier& own, const Invocation&) {
                 ++provider_calls;
                 return std::vector<const Carrier*>(faulty(25) ? 2 : 1, &own);
               },
           .prepare = [](const Carrier&, const Invocation&) -> MaybeComposite {
             if (faulty(23)) return Unsupported("prepare says no");
             if (faulty(26)) return PreparedComposite{nullptr};
             return PreparedComposite{[](const Invocation& inv, Operands operands, Location) {
               return submit_faulty(inv, operands);
             }};
           }}});
  return carrier;
}

// The step reported by a call with these faults; 0: none.
int reported(const std::set<int>& wanted, const Carrier& carrier = faulty_carrier()) {
  faults = wanted;
  resolution_cache().clear();
  Tensor x = tensor_on(carrier, {1, 2});
  require_gradient(x);
  const Tensor y = tensor_on(carrier, {1, 2}), elsewhere = tensor({1, 2}, {2});
  if (faulty(18)) release(x);
  std::vector<Operand> operands{x, faulty(4) ? Operand(1.0) : Operand(y),
                                faulty(9) ? elsewhere : y};
  if (faulty(1)) operands.emplace_back(y);
  std::vector<Attributes::Entry> options;
  if (faulty(2)) options.push_back({"unknown", true});
  if (!faulty(3)) options.push_back({"axis", std::int64_t{0}});
  try {
    call(faulty_operation().operation(), operands, Attributes(options), {});
  } catch (const Error& e) {
    return e.detail().step;
  }
  return 0;
}

TEST(Steps, EachFaultIsReportedAlone) {
  EXPECT_EQ(reported({}), 0);
  for (int step : kSteps) EXPECT_EQ(reported({step}), step);
}

TEST(Steps, OfTwoFaultsTheEarlierIsReported) {  // A4.7 A3.6
  for (int first : kSteps) {
    for (int second : kSteps) {
      if (first >= second) continue;
      SCOPED_TRACE("steps " + std::to_string(first) + " and " + std::to_string(second));
      provider_calls = 0;
      EXPECT_EQ(reported({first, second}), first);
      if (first < 23) {
        EXPECT_EQ(provider_calls, 0);
      }
    }
  }
}

// The refusal of a composite comes from `prepare`, after its carriers were asked: 25, then 23.
TEST(Steps, OnACompositeToo) {  // A10.1 A10.2
  EXPECT_EQ(reported({}, faulty_composite()), 0);
  for (std::size_t i = 0; i < std::size(kCompositeSteps); ++i) {
    for (std::size_t j = i; j < std::size(kCompositeSteps); ++j) {
      const int first = kCompositeSteps[i], second = kCompositeSteps[j];
      SCOPED_TRACE("steps " + std::to_string(first) + " and " + std::to_string(second));
      provider_calls = 0;
      EXPECT_EQ(reported({first, second}, faulty_composite()), first);
      if (first < 23) {
        EXPECT_EQ(provider_calls, 0);
      }
    }
  }
}

}  // namespace
}  // namespace heddle
