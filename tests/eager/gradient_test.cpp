// Gradients of concrete tensors: values, accumulation, lifetimes, versions.
#include <gtest/gtest.h>

#include <cmath>

#include "heddle/frontend/heddle.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;
using Doubles = std::vector<double>;

Tensor marked(Tensor t) { return require_gradient(t); }

// A9.1, A9.3, 2A.4: the six operations' own reverses.
TEST(Gradient, OfTheSixOperations) {
  const Tensor x = marked(tensor({1, -2, 3, -4}, {2, 2})), y = marked(tensor({5, 6, 7, 8}, {2, 2}));
  backward(sum(x * y + x, {0, 1}));
  EXPECT_EQ(elements(*gradient(x)), (Doubles{6, 7, 8, 9}));
  EXPECT_EQ(elements(*gradient(y)), (Doubles{1, -2, 3, -4}));
  const Tensor z = marked(tensor({1, 0, -1, 2}, {2, 2}));
  backward(sum(relu(z), {0, 1}));
  EXPECT_EQ(elements(*gradient(z)), (Doubles{1, 0, 0, 1})) << "0 at 0";
  clear_gradient(x);
  backward(sum(matmul(x, y), {0, 1}));
  EXPECT_EQ(elements(*gradient(x)), (Doubles{11, 15, 11, 15}));
}

TEST(Gradient, BroadcastsAreSummed) {
  const Tensor x = marked(tensor({1, 2, 3}, {3})), y = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  backward(sum(x * y, {0, 1}));
  EXPECT_EQ(elements(*gradient(x)), (Doubles{5, 7, 9}));
}

// A9.5
TEST(Gradient, Accumulates) {
  const Tensor x = marked(tensor({2}, {1}));
  for (int i = 1; i <= 3; ++i) {
    backward(x * x);
    EXPECT_EQ(elements(*gradient(x)), (Doubles{4.0 * i}));
  }
  clear_gradient(x);
  EXPECT_FALSE(gradient(x).has_value());
}

TEST(Gradient, EachCallIsVisitedOnceWithTheSum) {
  const Tensor x = marked(tensor({3}, {1}));
  Tensor y = x;
  for (int i = 0; i < 40; ++i) y = y + y;  // 2^40 paths
  backward(y);
  EXPECT_EQ(elements(*gradient(x)), (Doubles{std::pow(2.0, 40)}));
}

TEST(Gradient, LongChainsNeedNoStack) {
  const Tensor x = marked(tensor({1}, {1}));
  {
    Tensor y = x;
    for (int i = 0; i < 50000; ++i) y = y + 0.0;
    backward(y);
  }
  EXPECT_EQ(elements(*gradient(x)), (Doubles{1}));
}

TEST(Gradient, AgreesWithTheDerivedProgram) {
  Doubles xs, ws;
  for (int i = 0; i < 12; ++i) xs.push_back(std::sin(i)), ws.push_back(std::cos(2 * i));
  const Tensor x = tensor(xs, {4, 3}), w = marked(tensor(ws, {3, 4}));
  auto loss = [](const Tensor& in, const Tensor& weights) {
    const Tensor p = softmax(tanh(matmul(in, weights)), 1);
    return mean(p * p, {0, 1});
  };
  backward(loss(x, w));
  const Program p = trace(loss, {f32({4, 3}), f32({3, 4})}, {.name = "loss", .inputs = {"x", "w"}});
  const Program g = grad(p, "w");
  const std::vector<Literal> arguments{to_literal(x), to_literal(w)};
  const Doubles want = to_doubles(interpret(g, g.entry().name, arguments)[0]);
  const Doubles got = elements(*gradient(w));
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-7);
}

TEST(Gradient, ModeIsRestored) {  // 2A.6
  const Tensor x = marked(tensor({2}, {1}));
  {
    const GradientMode off(false);
    EXPECT_FALSE(requires_gradient(x * x));
    {
      const GradientMode inner(true);
      EXPECT_TRUE(requires_gradient(x * x));
    }
    EXPECT_FALSE(gradients_enabled());
  }
  EXPECT_TRUE(requires_gradient(x * x));
  EXPECT_FALSE(requires_gradient(detach(x) * 2.0));
}

TEST(Gradient, Functional) {  // 2A.6: None for what is not reached; gradients stay untouched
  const Tensor x = marked(tensor({2}, {1})), u = marked(tensor({5}, {1}));
  const Tensor y = x * x;
  const Tensor inputs[] = {x, u, y};
  const auto g = gradients(y * 3.0, inputs);
  EXPECT_EQ(elements(*g[0]), (Doubles{12}));
  EXPECT_FALSE(g[1].has_value());
  EXPECT_EQ(elements(*g[2]), (Doubles{3}));
  EXPECT_FALSE(gradient(x).has_value());
}

TEST(Gradient, OfNoElements) {
  const Tensor x = marked(tensor({}, {2, 0}));
  const Tensor inputs[] = {x};
  const auto g = gradients(sum(x * x, {0, 1}), inputs);
  ASSERT_TRUE(g[0].has_value());
  EXPECT_EQ(g[0]->type(), x.type());
  const auto given = gradients(x * x, inputs, {.cotangent = tensor({}, {2, 0})});
  ASSERT_TRUE(given[0].has_value());
  EXPECT_EQ(given[0]->type(), x.type());
}

TEST(Gradient, EmptyTensorsAreRefused) {
  const Tensor x = marked(tensor({2}, {1}));
  const Tensor inputs[] = {x, Tensor()};
  const std::string text = expect_error<ValueError>([&] { gradients(x * x, inputs); });
  EXPECT_TRUE(text.starts_with("[gradients] gradient_test.cpp:")) << text;
  EXPECT_EQ(testing::after_place(text),
            "there is no gradient for an empty tensor; inputs[1]: found an empty tensor, needed a "
            "concrete one");
  expect_error<ValueError>([&] { gradients(Tensor(), {}); }, "found an empty tensor");
}

TEST(Gradient, CotangentsOfSeveralElements) {
  const Tensor x = marked(tensor({1, 2, 3}, {3}));
  const Tensor y = x * x;
  expect_error<ValueError>([&] { backward(y); }, "[backward] gradient_test.cpp:");
  expect_error<ValueError>(
      [&] {
        backward(y, {.cotangent = tensor({1, 2}, {2})});
      },
      "found f32[2], needed f32[3]");
  backward(y, {.cotangent = tensor({1, 0, 10}, {3})});
  EXPECT_EQ(elements(*gradient(x)), (Doubles{2, 0, 60}));
}

// A9.12, 2A.6: freed before version; retained passes repeat.
TEST(Gradient, Lifetimes) {
  const Tensor x = marked(tensor({3}, {1}));
  const Tensor y = x * x;
  backward(y, {.retain_graph = true});
  backward(y);
  EXPECT_EQ(elements(*gradient(x)), (Doubles{12}));
  assign(x, tensor({4}, {1}));
  const std::string freed = expect_error<GraphFreedError>([&] { backward(y); });
  EXPECT_NE(freed.find("retain_graph"), std::string::npos) << freed;
  const Tensor z = x * x;
  assign(x, tensor({5}, {1}));
  const std::string changed = expect_error<SavedVersionError>([&] { backward(z); });
  EXPECT_NE(changed.find("modified in-place"), std::string::npos) << changed;
  EXPECT_EQ(elements(*gradient(x)), (Doubles{12})) << "a refused pass changes nothing";
}

TEST(Gradient, WhatIsNotSavedMayChange) {  // add saves nothing
  const Tensor x = marked(tensor({3}, {1}));
  const Tensor y = x + x;
  assign(x, tensor({4}, {1}));
  backward(y);
  EXPECT_EQ(elements(*gradient(x)), (Doubles{2}));
}

TEST(Gradient, MarksAreOfFloatingLeaves) {
  Tensor whole = tensor({1, 2}, {2}, {.dtype = DType::i32});
  expect_error<TypeError>([&] { require_gradient(whole); },
                          "found i32[2], needed a floating dtype");
  const Tensor x = marked(tensor({1}, {1}));
  Tensor y = x * x;
  expect_error<ValueError>([&] { require_gradient(y); },
                           "a recorded call made this tensor: found a result of mul");
  expect_error<ValueError>([&] { backward(tensor({1}, {1})); }, "[backward] gradient_test.cpp:");
}

TEST(Gradient, OnTheReferenceCarrier) {
  const Tensor x = marked(on(tensor({1, 2}, {2}), "reference"));
  backward(sum(x * x, {0}));
  EXPECT_EQ(elements(*gradient(x)), (Doubles{2, 4}));
}

}  // namespace
}  // namespace heddle
