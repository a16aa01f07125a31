// What an error says to do: names, values and kinds as the caller wrote them.
#include "heddle/frontend/heddle.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;

// Runs `f` on a traced tensor.
template <class F>
void in_a_trace(const F& f) {
  trace([&](const Tensor& x) { return f(x), x; }, {f32({3})});
}

TEST(Advice, MissingParametersAreAllNamed) {
  Params params;
  const TensorOptions there{.carrier = "reference"};
  const Tensor x = zeros({2, 3}, there);
  const auto linear = [&] { nn::linear(params, "layer", x); };
  expect_error<ValueError>(linear, "no parameters 'layer.w', 'layer.b'; there are: none");
  params["layer.b"] = zeros({4}, there);
  expect_error<ValueError>(linear, "no parameter 'layer.w'; there are: layer.b");
  params["layer.w"] = zeros({3, 4}, there);
  linear();
}

TEST(Advice, OfWhatATracedTensorHasNot) {
  in_a_trace([](const Tensor& x) {
    expect_error<ValueError>([&] { backward(x); }, "hd::grad(hd::trace(...)");
    expect_error<ValueError>([&] { gradients(x, std::span(&x, 1)); }, "hd::grad(hd::trace(...)");
    expect_error<ValueError>([&] { assign(x, x); }, "a new value: in a trace nothing is changed");
    expect_error<ValueError>([&] { release(x); }, "found a traced tensor f32[3]");
    expect_error<ValueError>([&] { elements(x); }, "a program's values come when it is run");
    expect_error<ValueError>([&] { on(x, "cpu"); }, "a program's values come when it is run");
    Tensor t = x;
    expect_error<ValueError>([&] { require_gradient(t); }, "hd::grad(program, \"x\")");
  });
  expect_error<ValueError>([] { assign(Tensor(), zeros({1})); },
                           "hd::tensor, hd::full or hd::empty");
  const Tensor literal = make_tensor(splat(f32({1}), 1));
  expect_error<ValueError>([&] { assign(literal, zeros({1})); }, "hd::on(it, \"cpu\")");
}

TEST(Advice, TypesAreTheCallersNotThePromotedOnes) {
  const Tensor a = zeros({2, 3}, {.dtype = DType::i32}), b = zeros({2, 4}),
               u = zeros({2, 4}, {.dtype = DType::u8});
  const std::string text = expect_error<ValueError>([&] { concatenate({b, a}, 0); });
  EXPECT_NE(text.find("found i32[2,3]"), std::string::npos) << text;
  EXPECT_NE(text.find("x0 is f32[2,4], x1 is i32[2,3]"), std::string::npos) << text;
  const std::string other = expect_error<ValueError>([&] { concatenate({u, a}, 0); });
  EXPECT_NE(other.find("x0 is u8[2,4], x1 is i32[2,3]"), std::string::npos) << other;
  const std::string same = expect_error<ValueError>([&] { concatenate({b, zeros({2, 3})}, 0); });
  EXPECT_EQ(same.find("x0 is"), std::string::npos) << same;
}

TEST(Advice, GradientsStartWhereTheTensorIs) {
  Tensor x = tensor({1, 2}, {2});
  require_gradient(x);
  const Tensor y = x * x;
  expect_error<ValueError>(
      [&] { backward(y, {.cotangent = full({2}, 1, {.carrier = "reference"})}); },
      "found reference, needed cpu: hd::on(it, \"cpu\")");
  EXPECT_FALSE(gradient(x).has_value());
  backward(y, {.cotangent = make_tensor(splat(f32({2}), 1))});  // a literal is everywhere
  EXPECT_EQ(elements(*gradient(x)), (std::vector<double>{2, 4}));
  Tensor gone = tensor({1, 2}, {2});
  release(gone);
  expect_error<ReleasedError>([&] { require_gradient(gone); }, "was released");
}

TEST(Advice, NumbersAreDecimal) {
  expect_error<ValueError>(
      [] { full({2}, 1.5, {.dtype = DType::i32}); },
      "found 1.5, needed a whole number from -2147483648 to 2147483647, as i32");
  expect_error<ValueError>([] { splat({DType::u8, {}}, 1e20); }, "found 1e+20, needed a whole");
  expect_error<ValueError>([] { optim::adam(-0.001); }, "[adam] advice.cpp:");
  expect_error<ValueError>([] { optim::adam(-0.001); },
                           "rate: found -0.001, needed a finite number");
}

}  // namespace
}  // namespace heddle
