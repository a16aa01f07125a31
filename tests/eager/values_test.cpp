// Concrete calls: values on both carriers, new extents, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "heddle/backends/eager/pack.h"
#include "heddle/backends/tiled/carrier.h"
#include "heddle/frontend/heddle.h"
#include "heddle/graph/resolution_cache.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;

std::vector<double> ramp(std::int64_t count, double step) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(std::sin(step * static_cast<double>(i)));
  return v;
}

void expect_near(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(to_text(got.type()), to_text(want.type()));
  const std::vector<double> g = elements(got), w = elements(want);
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(g[i], w[i], tolerance) << "element " << i;
}

// Not wrapped round to an element that is there.
TEST(Eager, IndicesOfWideDtypesBeyondI32AreOutside) {
  const double beyond = 4294967296.0 + 1, last = 4294967295.0;
  for (const Carrier* carrier : {&cpu_carrier(), &reference_carrier()}) {
    const auto at = [&](double i, DType d) {
      return tensor({i}, {1}, {.dtype = d, .carrier = carrier->name});
    };
    const Tensor x = tensor({1, 2, 3}, {3}, {.carrier = carrier->name});
    for (const Tensor& i : {at(beyond, DType::i64), at(-beyond, DType::i64), at(last, DType::u32),
                            at(beyond, DType::u64)}) {
      EXPECT_EQ(elements(take(x, i)), std::vector<double>{0}) << to_text(i.type());
      const Tensor one = tensor({7}, {1}, {.carrier = carrier->name});
      EXPECT_EQ(elements(scatter_add(x, i, one)), (std::vector<double>{1, 2, 3}));
    }
    EXPECT_EQ(elements(take(x, at(-1, DType::i64))), std::vector<double>{3});
    EXPECT_EQ(elements(dynamic_slice(x, at(beyond, DType::i64), {2})), (std::vector<double>{2, 3}));
  }
}

TEST(Eager, OperatorsRunAtOnce) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2}), y = tensor({10, 20}, {2});
  EXPECT_EQ(elements(x + y), (std::vector<double>{11, 22, 13, 24}));
  EXPECT_EQ(elements(x * 2.0 - 1.0), (std::vector<double>{1, 3, 5, 7}));
  EXPECT_EQ(elements(matmul(x, x)), (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(elements(sum(x, {0})), (std::vector<double>{4, 6}));
  EXPECT_EQ(elements(transpose(x, {1, 0})), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(elements(reshape(x, {4})), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_TRUE(static_cast<bool>(sum(x, {0, 1}) > 9.5));
  EXPECT_EQ(elements(x * x), (std::vector<double>{1, 4, 9, 16})) << "one tensor twice";
}

// A model of several operations, on both carriers and at several sizes.
TEST(Eager, CarriersAgree) {
  for (const std::int64_t n : {1, 3, 16, 65}) {
    const Tensor x = tensor(ramp(n * 7, 0.7), {n, 7}), w = tensor(ramp(7 * 5, 0.3), {7, 5});
    const Tensor b = tensor(ramp(5, 1.1), {5});
    auto model = [](const Tensor& in, const Tensor& weights, const Tensor& bias) {
      const Tensor h = gelu(matmul(in, weights) + bias);
      return log_softmax(layer_norm(h, tensor({1, 1, 1, 1, 1}, {5}), tensor({0, 0, 0, 0, 0}, {5})),
                         1);
    };
    auto on_reference = [](const Tensor& t) { return on(t, "reference"); };
    const Tensor got = model(x, w, b);
    auto reference_model = [&](const Tensor& in, const Tensor& weights, const Tensor& bias) {
      const Tensor h = gelu(matmul(in, weights) + bias);
      return log_softmax(layer_norm(h, on_reference(tensor({1, 1, 1, 1, 1}, {5})),
                                    on_reference(tensor({0, 0, 0, 0, 0}, {5}))),
                         1);
    };
    expect_near(got, reference_model(on_reference(x), on_reference(w), on_reference(b)), 2e-5);
  }
}

TEST(Eager, EmptyTensorsRunNothing) {
  const Tensor none = zeros({0, 3});
  EXPECT_EQ(to_text((none + 1.0).type()), "f32[0,3]");
  EXPECT_EQ(elements(sum(none, {0})), (std::vector<double>{0, 0, 0}));
}

TEST(Eager, RepeatedCallsAreLookedUp) {
  const Tensor x = tensor({1, 2, 3}, {3});
  const Tensor y = x + x;
  const CacheStatistics before = resolution_cache().statistics();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(elements(x + x), elements(y));
  const CacheStatistics after = resolution_cache().statistics();
  EXPECT_EQ(after.hits - before.hits, 10u);
  EXPECT_EQ(after.misses, before.misses);
}

TEST(Eager, WeakScalarsArePartOfTheCall) {
  const Tensor x = tensor({1, -1}, {2});
  EXPECT_EQ(elements(x * 2.0), (std::vector<double>{2, -2}));
  EXPECT_EQ(elements(x * 3.0), (std::vector<double>{3, -3}));
  EXPECT_TRUE(std::signbit(elements(x * -0.0)[0]));
  EXPECT_FALSE(std::signbit(elements(x * 0.0)[0]));
}

TEST(Eager, ManyThreads) {
  const Tensor x = tensor(ramp(1000, 0.1), {10, 100});
  const std::vector<double> want = elements(softmax(x, 1));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) wrong += elements(softmax(x, 1)) != want;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(EagerErrors, TwoCarriersDoNotMix) {  // A5.14
  const Tensor x = tensor({1, 2}, {2}), y = on(x, "reference");
  const std::string text = expect_error<TypeError>([&] { x + y; });
  EXPECT_NE(text.find("two carriers"), std::string::npos) << text;
  EXPECT_NE(text.find("values_test.cpp"), std::string::npos) << text;
  expect_error<NotAvailableError>([&] { on(x, "gpu"); });
}

TEST(EagerErrors, ReleasedTensorsAreRefused) {  // A9.7
  const Tensor x = tensor({1, 2}, {2});
  const Tensor y = x + x;
  release(x);
  const std::string text = expect_error<ReleasedError>([&] { x + x; });
  EXPECT_NE(text.find("operands[0]"), std::string::npos) << text;
  EXPECT_EQ(elements(y), (std::vector<double>{2, 4}));
  expect_error<ReleasedError>([&] { elements(x); });
  expect_error<ReleasedError>([&] { assign(x, y); });
}

TEST(EagerErrors, ImpossibleTypes) {
  for (auto make : {+[] {
                      zeros({2, -1});
                    },
                    +[] { empty({-1}); },
                    +[] {
                      full({-2, -3}, 1);
                    },
                    +[] {
                      tensor({1}, {-1, -1});
                    }}) {
    EXPECT_NE(expect_error<ValueError>(make).find("negative extent"), std::string::npos);
  }
  for (auto make : {+[] {
                      zeros({std::int64_t{1} << 40, std::int64_t{1} << 40});
                    },
                    +[] { empty({std::int64_t{1} << 61}, {.carrier = "tiled"}); }}) {
    EXPECT_NE(expect_error<ValueError>(make).find("larger than memory"), std::string::npos);
  }
  EXPECT_EQ(element_count(zeros({0, std::int64_t{1} << 40}).type()), 0);
  expect_error<TypeError>([] { zeros({1}, {.dtype = static_cast<DType>(99)}); });
}

TEST(EagerErrors, NamesOfCarriersThatAreOurs) {
  for (const char* name : {"cpu", "reference", "tiled"}) {
    expect_error<ValueError>([&] { define_carrier(name, BuiltInKernels::none); });
    expect_error<ValueError>([&] { define_tiled_carrier(name); });
  }
}

TEST(EagerErrors, ShapesAndCounts) {
  expect_error<ValueError>([] { tensor({1, 2, 3}, {2}); });
  const Tensor x = tensor({1, 2, 3}, {3}), y = tensor({1, 2}, {2});
  const std::string text = expect_error<ValueError>([&] { x + y; });
  EXPECT_NE(text.find("[add]"), std::string::npos) << text;
  expect_error<ValueError>([&] { item(x); });
  expect_error<ValueError>([&] { assign(x, y); });
}

TEST(EagerErrors, InsideATraceTheyAreNamed) {
  const Tensor captured = tensor({1, 2}, {2});
  expect_error<ValueError>(
      [&] { trace([&](const Tensor& x) { return x + captured; }, {f32({2})}); });
}

}  // namespace
}  // namespace heddle
