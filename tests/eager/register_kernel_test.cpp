// Kernels registered while the program starts, and the one place where a call finds its kernel.
#include "heddle/backends/register_kernel.h"

#include <gtest/gtest.h>

#include "eager/extension_support.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/resolution_cache.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

int prepared = 0, ran = 0;

Prepared prepare_doubled(const Invocation& inv) {
  ++prepared;
  return host_kernel([](const Invocation& i, std::span<const std::byte* const> in,
                        std::span<std::byte* const> out) {
    ++ran;
    // The key has no dtype: the kernel expands it once, before its loop.
    const auto twice = [&](auto t) {
      using T = typename decltype(t)::type;
      const T* x = reinterpret_cast<const T*>(in[0]);
      T* y = reinterpret_cast<T*>(out[0]);
      for (std::int64_t e = 0; e < element_count(i.results[0].type); ++e) y[e] = x[e] + x[e];
    };
    const DType dtype = i.plan.compute;
    if (dtype == DType::f32) twice(std::type_identity<float>());
    if (dtype == DType::f64) twice(std::type_identity<double>());
    return dtype == DType::f32 || dtype == DType::f64 ? 0 : 1;
  })(inv);
}

HEDDLE_REGISTER_OP(doubled, "starting.doubled", {.operands = {{"x", OperandKind::tensor, true}}},
                   like_first, {.vjp = kNonDifferentiable});
const Carrier& starting = define_carrier("starting", BuiltInKernels::none);
HEDDLE_REGISTER_KERNEL("starting.doubled", "starting", prepare_doubled);

// req C6: one kernel for every dtype, there before main.
TEST(RegisterKernel, ServesItsOperationInEveryDtype) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = tensor({1, -2}, {2}, {.dtype = dtype, .carrier = "starting"});
    EXPECT_EQ(elements(doubled({x})), (Elements{2, -4})) << name_of(dtype);
  }
  const Tensor whole = tensor({1}, {1}, {.dtype = DType::i32, .carrier = "starting"});
  expect_error<RuntimeError>([&] { doubled({whole}); }, "status 1", 27);
}

void expect_refusal(const char* operation, const char* carrier, const char* words) {
  EXPECT_DEATH(internal::register_kernel_or_abort(
                   operation, carrier, []() -> PrepareFunction { return prepare_doubled; }),
               words);
}

// req C6 req C9, ruling 2
TEST(RegisterKernelDeathTest, EndsTheProcessWithNameAndReason) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  expect_refusal("starting.nothing", "starting",
                 "the kernel for 'starting.nothing' on 'starting' cannot be registered: .*no such "
                 "operation: found 'starting.nothing'");
  expect_refusal("starting.doubled", "abacus",
                 "for 'starting.doubled' on 'abacus' .*no such carrier: found 'abacus'");
  expect_refusal("starting.doubled", "starting",
                 "for 'starting.doubled' on 'starting' .*it is registered already");
  EXPECT_DEATH(
      {
        tensor({1}, {1}, {.carrier = "starting"});
        HEDDLE_REGISTER_KERNEL("relu", "starting", prepare_doubled);
      },
      "for 'relu' on 'starting' .*it comes too late: the carrier is in use");
  EXPECT_DEATH({ HEDDLE_REGISTER_KERNEL("relu", "starting", nullptr); },
               "for 'relu' on 'starting' .*it cannot be prepared");
}

TEST(RegisterKernel, AtRunTimeTheSameIsAnError) {
  const Carrier& mine = define_carrier("mine", BuiltInKernels::compiled);
  register_kernel("neg", "mine", prepare_doubled);
  expect_error<ValueError>([] { register_kernel("neg", "mine", prepare_doubled); },
                           "kernel pack 'neg' 1: it is registered already");
  expect_error<ValueError>([] { register_kernel("no_such", "mine", prepare_doubled); },
                           "no such operation: found 'no_such'");
  expect_error<NotAvailableError>([] { register_kernel("neg", "no_such", prepare_doubled); },
                                  "no such carrier: found 'no_such'");
  expect_error<TypeError>([] { register_kernel("abs", "mine", nullptr); }, "it cannot be prepared");
  const Tensor x = tensor({3}, {1}, {.carrier = mine.name});
  EXPECT_EQ(item(-x), 6) << "before the carrier's own";
  EXPECT_EQ(item(abs(x)), 3) << "the carrier's own";
  expect_error<TypeError>([] { register_kernel("abs", "mine", prepare_doubled); },
                          "it comes too late");
}

// B2.5: a call is what its operation says; what a kernel cannot do, the kernel says.
TEST(Limits, BelongToTheKernelAlone) {
  const auto fours = [](const Invocation& inv) -> Prepared {
    if (element_count(inv.results[0].type) % 4 != 0) return Unsupported("it takes four at a time");
    return prepare_doubled(inv);
  };
  define_carrier("fours", BuiltInKernels::none);
  define_carrier("fours_or_any", BuiltInKernels::compiled);
  register_kernel("neg", "fours", fours);
  register_kernel("neg", "fours_or_any", fours);
  const std::vector<Operand> three{Tensor(f32({3}), nullptr)};
  BoundOperationCall bound = bind_types(op_neg, three, {}, {});
  const DtypePlan dtypes = plan(bound);
  EXPECT_EQ(resolve(std::move(bound), dtypes).results[0].type, f32({3})) << "it resolves as ever";
  const auto negated = [](std::string_view carrier, std::initializer_list<double> v) {
    return elements(-tensor(v, {static_cast<std::int64_t>(v.size())}, {.carrier = carrier}));
  };
  EXPECT_EQ(negated("fours", {1, 2, 3, 4}), (Elements{2, 4, 6, 8}));
  const std::string text = expect_error<UnsupportedOperationPlan>([&] {
    negated("fours", {1, 2, 3});
  });
  EXPECT_NE(text.find("neg.fours: it takes four at a time"), std::string::npos) << text;
  EXPECT_EQ(negated("fours_or_any", {1, 2, 3, 4}), (Elements{2, 4, 6, 8}));
  EXPECT_EQ(negated("fours_or_any", {1, 2, 3}), (Elements{-1, -2, -3})) << "the carrier's own";
  EXPECT_EQ(negated("cpu", {1, 2, 3}), (Elements{-1, -2, -3}));
}

// Ruling 28: a plan that says the order of its sums is for kernels that keep it: a reference, a
// pack's.
TEST(Limits, SequentialPlansAreForKernelsThatKeepTheOrder) {
  const OperationDefinition& d =
      define_operation("starting.in_order", {.operands = {{"x", OperandKind::tensor, true}}},
                       [](const BoundOperationCall& call) {
                         DtypePlan plan = uniform_plan(call, DType::f32);
                         plan.accumulation = Accumulation::sequential;
                         return Invocation(call, plan, {{f32({})}});
                       },
                       {.vjp = kByDecomposition, .decompose = [](const NodeContext& at) {
                          Builder b("in_order");
                          b.output("y", emit::reduce_sum(b, b.input("x", at.operands[0]), {0}));
                          return b.finish();
                        }});
  const Carrier& carrier = define_carrier("in_order", BuiltInKernels::compiled);
  register_kernel("starting.in_order", carrier.name,
                  host_kernel([](const Invocation& inv, auto in, auto out) {
                    float sum = 0;
                    for (std::int64_t i = 0; i < element_count(inv.call.tensor(0).type()); ++i) {
                      sum += reinterpret_cast<const float*>(in[0])[i];
                    }
                    *reinterpret_cast<float*>(out[0]) = sum;
                    return 0;
                  }));
  const auto of = [&](std::string_view c) {
    return item(d({tensor({1 << 24, 1, 1, 1}, {4}, {.carrier = c})}));
  };
  EXPECT_EQ(of(carrier.name), 1 << 24) << "each 1 is lost, one by one";
  for (const std::string_view c : {"cpu", "reference"}) {
    expect_error<UnsupportedOperationPlan>([&] { of(c); }, "it sums in an order of its own", 23);
  }
}

// req C12: one look-up per call, at its boundary, by operation and carrier (and what the call is
// made of); the kernel behind it is chosen and prepared once.
TEST(Dispatch, IsOneLookUpPerCall) {
  const Tensor x = tensor({1, 2, 3}, {3}, {.carrier = "starting"});
  resolution_cache().clear();
  prepared = ran = 0;
  constexpr int kCalls = 20;
  for (int i = 0; i < kCalls; ++i) doubled({x});
  const CacheStatistics s = resolution_cache().statistics();
  EXPECT_EQ(s.misses, 1u);
  EXPECT_EQ(s.hits, kCalls - 1u);
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(ran, kCalls);
  // Another carrier, another operation: another entry.
  const Tensor other = tensor({1, 2, 3}, {3}, {.carrier = "reference"});
  relu(other);
  relu(tensor({1, 2, 3}, {3}));
  EXPECT_EQ(resolution_cache().statistics().entries, 3u);
  for (int i = 0; i < 3; ++i) relu(other);
  EXPECT_EQ(resolution_cache().statistics().hits, kCalls - 1u + 3u);
  EXPECT_EQ(resolution_cache().statistics().misses, 3u);
}

}  // namespace
}  // namespace heddle
