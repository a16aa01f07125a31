// Convolutions, pooling, scans, sorts and random numbers from C++ to compiled results, with their
// derivatives, against the interpreter.
#include "heddle/frontend/heddle.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "ops/support.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

void expect_compiled_as_interpreted(const Program& p, const std::vector<Literal>& arguments) {
  const std::string& name = p.entry().name;
  const std::vector<Literal> want = interpret(p, name, arguments);
  CompileOptions one, two;
  one.threads = 1, two.threads = 2;
  const std::vector<Literal> got = compile(p, one)->run(name, arguments);
  const std::vector<Literal> again = compile(p, two)->run(name, arguments);
  for (std::size_t o = 0; o < want.size(); ++o) {
    const std::string& what = p.entry().outputs[o].name;
    ops_test::expect_near(got[o], to_doubles(want[o]), 2e-4, 2e-4, what);
    EXPECT_EQ(got[o], again[o]) << what << ": two threads give other bits";
  }
}

std::vector<Literal> random_arguments(const Program& p, double low, double high) {
  std::mt19937_64 random(5);
  std::vector<Literal> all;
  for (const Input& in : p.entry().inputs) {
    all.push_back(ops_test::random_literal(p.entry().type(in.value), low, high, random));
  }
  return all;
}

Tensor network(const Tensor& x, const Tensor& w1, const Tensor& w2) {
  const Tensor a = relu(conv(x, w1, {.low = {1, 1}}));
  const Tensor b = max_pool(a, {3, 3}, {.strides = {2, 2}, .low = {1, 1}});
  const Tensor c = conv(b, w2, {.strides = {2, 1}, .low = {0, 1}, .groups = 2});
  const Tensor d = avg_pool(c, {2, 2}, {.low = {1, 0}, .high = {0, 1}, .ceil = true});
  return sum(d * d);
}

TEST(Windows, a_convolutional_network_and_its_gradient) {
  const Program loss = trace(network, {f32({2, 3, 17, 19}), f32({8, 3, 3, 3}), f32({6, 4, 2, 3})},
                             {.name = "loss", .inputs = {"x", "w1", "w2"}});
  const std::vector<Literal> arguments = random_arguments(loss, -1, 1);
  expect_compiled_as_interpreted(loss, arguments);
  const std::vector<std::string> wrt = {"x", "w1", "w2"};
  expect_compiled_as_interpreted(grad(loss, wrt), arguments);
}

TEST(Windows, a_long_pooling_window_and_its_gradient) {
  const Program loss = trace(
      [](const Tensor& x) { return sum(exp(max_pool(x, {40}, {.strides = {3}, .low = {5}}))); },
      {f32({3, 100})}, {.name = "loss", .inputs = {"x"}});
  const std::vector<Literal> arguments = random_arguments(loss, -1, 1);
  expect_compiled_as_interpreted(grad(loss, std::vector<std::string>{"x"}), arguments);
}

TEST(Windows, a_large_window_is_taken_axis_by_axis) {
  const Program p = trace(
      [](const Tensor& x) {
        return avg_pool(x, {9, 7}, {.strides = {2, 1}, .low = {4, 3}}, true) +
               max_pool(x, {9, 7}, {.strides = {2, 1}, .low = {4, 3}});
      },
      {f32({2, 33, 40})}, {.name = "f", .inputs = {"x"}});
  expect_compiled_as_interpreted(p, random_arguments(p, -1, 1));
}

TEST(Windows, scans_and_their_gradients) {
  const Program loss = trace(
      [](const Tensor& x) {
        const Tensor a = cumsum(exp(x), 0) + cumprod(x, 1, true) * cummax(x, -1);
        return sum(a * cummin(x, 0) + a * a) + sum(cumprod(x, 0));
      },
      {f32({7, 50})}, {.name = "loss", .inputs = {"x"}});
  const std::vector<Literal> arguments = random_arguments(loss, -1.2, 1.2);
  const std::vector<std::string> wrt = {"x"};
  expect_compiled_as_interpreted(grad(loss, wrt), arguments);
}

TEST(Windows, sorted_values_and_their_gradients) {
  const Program loss = trace(
      [](const Tensor& x) {
        const TopK best = top_k(x, 3);
        const Tensor picked = take_along_axis(x * x, best.indices);
        return sum(sort(x, 0, true) * x) + sum(best.values * picked);
      },
      {f32({9, 33})}, {.name = "loss", .inputs = {"x"}});
  const std::vector<Literal> arguments = random_arguments(loss, -2, 2);
  expect_compiled_as_interpreted(loss, arguments);
  expect_compiled_as_interpreted(grad(loss, std::vector<std::string>{"x"}), arguments);
}

TEST(Windows, slices_at_computed_places) {
  const Program p = trace(
      [](const Tensor& x, const Tensor& starts) {
        const Tensor part = dynamic_slice(x, starts, {2, 5});
        return dynamic_update_slice(x, starts * 2, exp(part));
      },
      {f32({6, 20}), i32({2})}, {.name = "f"});
  for (const std::vector<double>& starts : {std::vector<double>{1, 3}, {-4, 100}, {4, 15}}) {
    std::vector<Literal> arguments = random_arguments(p, -1, 1);
    arguments[1] = ops_test::ints(starts);
    expect_compiled_as_interpreted(p, arguments);
  }
}

TEST(Windows, random_numbers_are_those_of_the_reference) {
  const Type key{DType::u32, {2}}, counter{DType::u32, {4}};
  const Program p = trace(
      [](const Tensor& k, const Tensor& c) {
        const Tensor bits = convert(rng_bits(k, c, {31}), DType::i32);
        return sum(random_uniform(k, c, {7, 13})) + sum(random_normal(k, c, {1000})) * 0.01 +
               convert(sum(bits), DType::f32) * 0.0;
      },
      {key, counter}, {.name = "f"});
  expect_compiled_as_interpreted(p, random_arguments(p, 0, 4294967295.0));
}

TEST(Windows, a_wrong_call_names_the_line_and_both_shapes) {
  const std::string text = testing::expect_error<ValueError>([] {
    trace([](const Tensor& x, const Tensor& w) { return conv(x, w); },
          {f32({1, 3, 8, 8}), f32({4, 2, 3, 3})});
  });
  EXPECT_NE(text.find("windows.cpp"), std::string::npos) << text;
  EXPECT_NE(text.find("f32[1,3,8,8]"), std::string::npos) << text;
  EXPECT_NE(text.find("f32[4,2,3,3]"), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle
