// Tensors on the carrier of the test device: operations by the rows of their records, gradients,
// lifetimes and errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "backends/operation_rows.h"
#include "heddle/backends/graph_runtime.h"
#include "heddle/backends/on_device/carrier.h"
#include "heddle/frontend/heddle.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/carrier_types.h"
#include "support/expect_error.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

const std::string kCarrier = device::target().carrier;
const TensorOptions kThere{.carrier = kCarrier}, kThereInts{DType::i32, kCarrier};

Tensor random_there(const Type& type, unsigned seed, double low = -2, double high = 2) {
  return tensor(random_literal(type, seed, low, high), kCarrier);
}

const Carrier* there() { return kCarrier == "metal" ? &metal_carrier() : &opencl_carrier(); }

class DeviceTensors : public ::testing::Test {
 protected:
  void SetUp() override { device::prepare({}); }
};

// A row of every sixth operation that can be called: in turn of f32, of i32, of bool, where it has
// them. All of them are in DeviceOperations.
std::vector<Row> rows_of_calls() {
  constexpr DType kUsual[] = {DType::f32, DType::i32, DType::boolean};
  std::map<const Operation*, std::vector<Row>> of;
  for (const Row& r : compiled_rows()) {
    const std::vector<Type>& types = r.workload.operands;
    const bool usual = std::all_of(types.begin(), types.end(), [&](const Type& t) {
      return std::count(std::begin(kUsual), std::end(kUsual), t.dtype) != 0;
    });
    if (usual && !types.empty() && !r.op->surface.overloads.empty()) of[r.op].push_back(r);
  }
  std::vector<Row> rows;
  for (const Operation* op : built_in_operations()) {
    const std::vector<Row>& own = of[op];
    if (own.empty()) continue;
    const auto wanted = std::find_if(own.begin(), own.end(), [&](const Row& r) {
      return r.workload.operands[0].dtype == kUsual[rows.size() % 3];
    });
    rows.push_back(wanted == own.end() ? own.front() : *wanted);
  }
  std::vector<Row> some;
  for (std::size_t r = 0; r < rows.size(); r += 6) some.push_back(rows[r]);
  return some;
}

std::vector<Tensor> run_row(const Row& row, const std::vector<Literal>& literals,
                            std::string_view carrier) {
  std::vector<Operand> operands;
  for (const Literal& l : literals) operands.emplace_back(tensor(l, carrier));
  return call(*row.op, operands, row.workload.attributes, {});
}

TEST_F(DeviceTensors, OperationsAgreeWithTheReference) {
  std::mt19937_64 random(20240607);
  const std::vector<Row> rows = rows_of_calls();
  EXPECT_GT(rows.size(), 10u);
  std::string missing;  // what is computed in types that the carrier has not
  for (const Row& r : rows) {
    const auto literals = ops_test::random_operands(r.workload, r.workload.operands, random);
    const auto want = run_row(r, literals, "reference");
    std::vector<Tensor> got;
    try {
      got = run_row(r, literals, kCarrier);
    } catch (const UnsupportedOperationPlan& e) {
      missing += std::string(r.op->name) + ": " + e.what() + "\n";
      EXPECT_NE(std::string(e.what()).find("it has no "), std::string::npos) << e.what();
      continue;
    }
    for (std::size_t o = 0; o < want.size(); ++o) {
      EXPECT_EQ(got[o].storage()->carrier(), there());
      const double tolerance = tolerance_of(*r.op, want[o].type().dtype);
      expect_close(to_literal(got[o]), to_literal(want[o]), tolerance, tolerance,
                   std::string(r.op->name) + " output " + std::to_string(o));
    }
  }
  const auto count = std::count(missing.begin(), missing.end(), '\n');
  EXPECT_LE(count, kCarrier == "metal" ? 2 : 0) << missing;
}

TEST_F(DeviceTensors, OddSizesAndEmptyOnes) {
  for (std::int64_t n : {0, 1, 7, 1023}) {
    const Tensor x = random_there(heddle::f32({3, n}), 1), y = random_there(heddle::f32({n}), 2);
    const Tensor a = on(x, "cpu"), b = on(y, "cpu");
    const std::string size = std::to_string(n);
    expect_close(to_literal(x * y + 1.0f), to_literal(a * b + 1.0f), 1e-6, 1e-6, size);
    expect_close(to_literal(sum(x, {1})), to_literal(sum(a, {1})), 1e-5, 1e-4, size);
    expect_close(to_literal(transpose(x)), to_literal(transpose(a)), 0, 0, size);
  }
  const Tensor i = random_there(heddle::i32({2, 5}), 3, -100, 100);
  expect_close(to_literal(i * i), to_literal(on(i, "cpu") * on(i, "cpu")), 0, 0, "i32");
  expect_close(to_literal(i < 3), to_literal(on(i, "cpu") < 3), 0, 0, "bool");
}

TEST_F(DeviceTensors, GradientsFlowOnTheDevice) {
  std::vector<Tensor> results;
  for (const std::string& carrier : {std::string("cpu"), kCarrier}) {
    const Tensor x = tensor(random_literal(heddle::f32({5, 9}), 1), carrier);
    Tensor w = tensor(random_literal(heddle::f32({9, 4}), 2), carrier);
    Tensor b = tensor(random_literal(heddle::f32({4}), 3), carrier);
    require_gradient(w);
    require_gradient(b);
    const Tensor loss = sum(softmax(tanh(matmul(x, w) + b)) * 0.5f + relu(matmul(x, w)));
    backward(loss);
    results.insert(results.end(), {loss, *gradient(w), *gradient(b)});
  }
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(results[3 + r].storage()->carrier(), there());
    expect_close(to_literal(results[3 + r]), to_literal(results[r]), 2e-5, 2e-5, std::to_string(r));
  }
}

TEST_F(DeviceTensors, AttentionAndItsGradient) {
  std::vector<Tensor> results;
  for (const std::string& carrier : {std::string("cpu"), kCarrier}) {
    std::vector<Tensor> x;
    for (unsigned seed : {1u, 2u, 3u}) {
      x.push_back(tensor(random_literal(heddle::f32({2, 3, 20, 16}), seed), carrier));
      require_gradient(x.back());
    }
    const Tensor y = attention(x[0], x[1], x[2], true);
    backward(sum(y * y));
    results.push_back(y);
    for (const Tensor& t : x) results.push_back(*gradient(t));
  }
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(results[4 + r].storage()->carrier(), there());
    expect_close(to_literal(results[4 + r]), to_literal(results[r]), 2e-5, 2e-5, std::to_string(r));
  }
}

TEST_F(DeviceTensors, ElementsGoForthAndBack) {
  const Tensor x = empty({4}, kThere);
  assign(x, tensor({1, 2, 3, 4}, {4}));
  const std::vector<double> two{9, 8};
  assign(x, 1, two);
  EXPECT_EQ(elements(x), (std::vector<double>{1, 9, 8, 4}));
  EXPECT_EQ(elements(x, 2, 2), (std::vector<double>{8, 4}));
  EXPECT_EQ(elements(full({3}, 7, kThereInts)), (std::vector<double>{7, 7, 7}));
  EXPECT_EQ(item(sum(on(on(x, "cpu"), kCarrier))), 22);
}

TEST_F(DeviceTensors, MemoryIsGivenBack) {
  const Tensor x = full({64}, 1, kThere);
  exp(x);  // what its program keeps
  const auto before = device::live_allocations();
  {
    const Tensor y = exp(x);
    EXPECT_EQ(device::live_allocations(), before + 1);
    release(y);
    EXPECT_EQ(device::live_allocations(), before);
    expect_error<ReleasedError>([&] { release(y); });
    expect_error<ReleasedError>([&] { exp(y); }, "released", 18);
    expect_error<ReleasedError>([&] { elements(y); }, "released");
  }
  EXPECT_EQ(device::live_allocations(), before);
}

TEST_F(DeviceTensors, CarriersDoNotMix) {
  const Tensor x = full({4}, 1, kThere), y = full({4}, 1);
  const std::string text = expect_error<Error>([&] { x + y; }, "carrier");
  EXPECT_NE(text.find("eager_test.cpp"), std::string::npos) << text;
}

TEST_F(DeviceTensors, FaultsNameTheOperation) {
  const Tensor x = full({4}, 2000000000, kThereInts);
  if (!carrier_has(DType::i64, device::target())) {  // checked arithmetic takes i64
    expect_error<Error>([&] { checked::add(x, x); }, "i64");
    return;
  }
  expect_error<OverflowError>([&] { checked::add(x, x); }, "eager_test.cpp", 27);
  EXPECT_EQ(item(sum(checked::add(full({4}, 2, kThereInts), full({4}, 3, kThereInts)))), 20);
}

TEST_F(DeviceTensors, TooLargeIsAnErrorAndOperandsStay) {
  const Tensor x = full({1 << 20}, 2, kThere);
  const auto before = device::live_allocations();
  expect_error<RuntimeError>(
      [&] {
        empty({1 << 20, 1 << 20}, kThere);
      },
      "no memory on " + kCarrier);
  expect_error<RuntimeError>(
      [&] {
        broadcast_to(x, {1 << 19, 1 << 20});
      },
      "no memory on " + kCarrier);
  EXPECT_EQ(device::live_allocations(), before);
  EXPECT_EQ(item(reduce_max(x)), 2);
}

TEST_F(DeviceTensors, SeveralThreads) {
  const Tensor x = random_there(heddle::f32({33, 65}), 5);
  const Literal want = to_literal(softmax(on(x, "cpu")));
  std::vector<std::thread> threads;
  std::vector<Literal> got(2 * 20);
  for (std::size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 20; ++i) got[20 * t + i] = to_literal(softmax(x));
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Literal& g : got) expect_close(g, want, 2e-5, 1e-6, "softmax");
}

TEST_F(DeviceTensors, TheGraphRuntimeRunsWholeAndByOperations) {
  const Program program =
      trace([](const Tensor& x) { return sum(exp(x) * 2.0f, {1}); }, {heddle::f32({5, 9})});
  const std::vector<Literal> inputs{random_literal(heddle::f32({5, 9}), 7)};
  const Literal want = interpret(program, "main", inputs)[0];
  std::vector<std::string> warnings;
  GraphRuntime runtime([&](std::string_view line) { warnings.emplace_back(line); });
  for (bool whole : {true, false}) {
    const auto run =
        runtime.compile(program, {.carrier = device::target().carrier, .whole = whole});
    expect_close(run->run(inputs)[0], want, 2e-5, 1e-5, whole ? "whole" : "by operations");
  }
  EXPECT_EQ(warnings, std::vector<std::string>{});
}

}  // namespace
}  // namespace heddle::testing
