// The order in which the faults of one call are reported: every pair of them, generated. Each fault
// can be made alone or with any other; of two the earlier step is reported (requirements 3.5). Two
// calls: of an extension, whose callback decides dtypes and effects, and of a built-in operation,
// which has a dtype plan (step 14) and shapes (15) of its own.
//
// A third call is that of the extension on a carrier that computes by others.
//
// Steps 5 to 8 and 10 to 13 come with signatures. Step 20 is no fault: a call that writes no
// element ends there, whatever would fail later. At step 16 C++ types stand guard: what is no
// invocation does not leave a resolve callback.
#include <set>

#include "eager/extension_support.h"
#include "heddle/backends/select.h"
#include "heddle/graph/resolution_cache.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

// Step 16.
struct NoInvocation {};
static_assert(std::is_constructible_v<ResolveFunction, Invocation (*)(const BoundOperationCall&)>);
static_assert(
    !std::is_constructible_v<ResolveFunction, NoInvocation (*)(const BoundOperationCall&)>);
static_assert(!std::is_constructible_v<ResolveFunction, DtypePlan (*)(const BoundOperationCall&)>);
static_assert(!std::is_constructible_v<ResolveFunction, void (*)(const BoundOperationCall&)>);

// The steps at which a call of each kind can fail, and 20, where it can end.
constexpr int kExtensionSteps[] = {1, 2, 3, 4, 9, 15, 17, 18, 19, 20, 21, 22, 23, 24, 26, 27, 28};
// 25 in place of 21, which asks no plans. The refusal comes from `prepare`, after the carriers of
// the results were asked: 25, then 23.
constexpr int kCompositeSteps[] = {1, 2, 3, 4, 9, 15, 17, 18, 19, 20, 25, 23, 26, 27, 28};
constexpr int kBuiltInSteps[] = {1, 2, 3, 4, 9, 14, 15, 18, 20, 21, 22, 23, 24, 26, 27, 28};

std::set<int> faults;
bool faulty(int step) { return faults.count(step) != 0; }
int provider_calls = 0;

// Steps 22 to 24: the kernel asks a table for the one that serves a position of its own.
void choose_for_position(const Invocation& inv) {
  KernelTable table;
  for (const char* id : {"one", "two"}) {
    KernelEntry e{.id = id, .operation = inv.call.op};
    e.interface = "position";
    if (faulty(22)) e.devices = {"gpu"};
    if (faulty(23)) e.refusal = [](const KernelRequest&) { return std::string("not me"); };
    if (!faulty(24) && table.holds("one")) break;
    table.add(e);
  }
  table.seal();
  KernelRequest request = request_of(inv);
  request.interface = "position";
  table.select(request, {}, TiePolicy::strict);
}

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

Prepared prepare_faulty(const Invocation& inv) {
  ++provider_calls;
  choose_for_position(inv);
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

using Call = int (*)(const std::set<int>&);

// The step that is reported; 0: none.
int step_of(const Operation& op, const std::vector<Operand>& operands,
            std::vector<Attributes::Entry> options) {
  resolution_cache().clear();
  try {
    call(op, operands, Attributes(std::move(options)), {});
  } catch (const Error& e) {
    return e.detail().step;
  }
  return 0;
}

int call_extension_on(const Carrier& carrier, const std::set<int>& wanted) {
  faults = wanted;
  const auto made = [](std::string_view where) {
    return faulty(20) ? zeros({0}, {.carrier = where}) : tensor({1, 2}, {2}, {.carrier = where});
  };
  const std::string_view own = carrier.name;
  Tensor x = made(own);
  require_gradient(x);
  const Tensor y = made(own), elsewhere = made("cpu");
  if (faulty(18)) release(x);
  std::vector<Operand> operands{x, faulty(4) ? Operand(1.0) : Operand(y),
                                faulty(9) ? elsewhere : y};
  if (faulty(1)) operands.emplace_back(y);
  std::vector<Attributes::Entry> options;
  if (faulty(2)) options.push_back({"unknown", true});
  if (!faulty(3)) options.push_back({"axis", std::int64_t{0}});
  return step_of(faulty_operation().operation(), operands, std::move(options));
}

int call_extension(const std::set<int>& wanted) {
  return call_extension_on(faulty_carrier(), wanted);
}
int call_on_composite(const std::set<int>& wanted) {
  return call_extension_on(faulty_composite(), wanted);
}

// Two carriers: the kernel of the one is for sums in f32, that of the other for sums in f64.
const Carrier& dot_carrier(bool other) {
  const auto made = [](const char* name, DType accumulator) -> const Carrier& {
    const OperandPlan f32{OperandKind::tensor, DType::f32, DType::f32};
    const DtypePlan plan{.operation = "dot_general",
                         .operands = {f32, f32},
                         .compute = DType::f32,
                         .arithmetic = Arithmetic::ieee,
                         .accumulation = Accumulation::floating,
                         .accumulator = accumulator,
                         .output = DType::f32};
    return carrier_of(name, {{op_dot_general, {plan}, name, prepare_faulty}});
  };
  static const Carrier& one = made("dot", DType::f32);
  static const Carrier& two = made("wide_dot", DType::f64);
  return other ? two : one;
}

int call_built_in(const std::set<int>& wanted) {
  using Axes = std::vector<std::int64_t>;
  faults = wanted;
  const TensorOptions own{.dtype = faulty(14) ? DType::boolean : DType::f32,
                          .carrier = dot_carrier(faulty(21)).name};
  TensorOptions other = own;
  if (faulty(9)) other.carrier = "cpu";
  const Tensor x = zeros({faulty(20) ? 0 : 2, 3}, own);
  const Tensor y = zeros({faulty(15) ? 4 : 3, 2}, other);
  if (faulty(18)) release(x);
  std::vector<Operand> operands{x, faulty(4) ? Operand(1.0) : Operand(y)};
  if (faulty(1)) operands.emplace_back(y);
  std::vector<Attributes::Entry> options{
      {"lhs_batch", Axes{}}, {"rhs_batch", Axes{}}, {"lhs_contract", Axes{1}}};
  if (faulty(2)) options.push_back({"unknown", true});
  if (!faulty(3)) options.push_back({"rhs_contract", Axes{0}});
  return step_of(op_dot_general, operands, std::move(options));
}

void expect_each_alone(Call call, std::span<const int> steps) {
  EXPECT_EQ(call({}), 0);
  for (const int step : steps) EXPECT_EQ(call({step}), step == 20 ? 0 : step);
}
// `steps` in the order in which they are taken.
void expect_the_earlier(Call call, std::span<const int> steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t j = i + 1; j < steps.size(); ++j) {
      const int first = steps[i], second = steps[j];
      SCOPED_TRACE("steps " + std::to_string(first) + " and " + std::to_string(second));
      provider_calls = 0;
      EXPECT_EQ(call({first, second}), first == 20 ? 0 : first);
      EXPECT_EQ(provider_calls, first < 22 ? 0 : 1);
    }
  }
}

TEST(Steps, EachFaultIsReportedAlone) {
  expect_each_alone(call_extension, kExtensionSteps);
  expect_each_alone(call_built_in, kBuiltInSteps);
}

TEST(Steps, OfTwoFaultsTheEarlierIsReported) {  // A4.7 A3.6
  expect_the_earlier(call_extension, kExtensionSteps);
  expect_the_earlier(call_built_in, kBuiltInSteps);
}

TEST(Steps, OnACompositeToo) {  // A10.1 A10.2
  expect_each_alone(call_on_composite, kCompositeSteps);
  expect_the_earlier(call_on_composite, kCompositeSteps);
}

}  // namespace
}  // namespace heddle
