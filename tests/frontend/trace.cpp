// Tracing: what a C++ function does becomes the program it says.
#include <cmath>

#include "heddle/frontend/heddle.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

TEST(Trace, names_inputs_and_outputs) {
  const Program p =
      trace([](const Tensor& x, const Tensor& w) { return relu(matmul(x, w)); },
            {f32({2, 3}), f32({3, 4})}, {.name = "layer", .inputs = {"x", "w"}, .outputs = {"y"}});
  EXPECT_EQ(to_text(expand_composites(p)).substr(0, 58),
            "func @layer(x: f32[2,3], w: f32[3,4]) -> (y: f32[2,4]) {\n ");
}

TEST(Trace, functions_of_one_span_return_a_tensor_or_several) {
  const auto one = [](std::span<const Tensor> x) { return x[0] + x[1]; };
  const auto several = [](std::span<const Tensor> x) { return std::vector<Tensor>{x[1], x[0]}; };
  EXPECT_EQ(trace(one, {f32({2}), f32({2})}).entry().outputs.size(), 1u);
  EXPECT_EQ(trace(several, {f32({2}), f32({3})}).entry().outputs.size(), 2u);
  Params params;
  params["w"] = tensor({1.0f, 2.0f}, {2});
  const auto model = [](const Params& p, std::span<const Tensor> x) { return p["w"] * x[0]; };
  EXPECT_EQ(trace(model, params, {f32({2})}).entry().outputs.size(), 1u);
}

TEST(Trace, nodes_know_the_line_that_made_them) {
  const unsigned line = __LINE__ + 1;
  const Program p = trace([](const Tensor& x) { return exp(x) * 2.0f; }, {f32({3})});
  for (const Node& n : p.entry().nodes) {
    EXPECT_EQ(n.where.line, line) << n.op->name;
    EXPECT_EQ(to_text(n.where), "trace.cpp:" + std::to_string(line));
  }
}

TEST(Trace, extents_are_those_of_tensors) {
  const auto same = [](const Tensor& x) { return x; };
  const std::string negative = testing::expect_error<ValueError>([&] {
    trace(same, {f32({3, -2})});
  });
  EXPECT_EQ(testing::after_place(negative),
            "@main: input 'x0': a negative extent: found f32[3,-2], needed extents of 0 and more");
  const std::int64_t huge = std::int64_t{1} << 40;
  const std::string large = testing::expect_error<ValueError>([&] {
    trace(same, {f32({huge, huge})});
  });
  EXPECT_NE(large.find("a type larger than memory"), std::string::npos) << large;
  const std::string repeated = testing::expect_error<ValueError>([&] {
    trace([&](const Tensor& x) { return broadcast_to(x, {huge, huge}); }, {f32({})});
  });
  EXPECT_EQ(repeated.find("[broadcast_in_dim] trace.cpp:"), 0u) << repeated;
}

TEST(Trace, concrete_tensors_are_constants_as_they_are_then) {
  const Tensor w = tensor({1.0f, 2.0f}, {2});
  const Program p = trace([&](const Tensor& x) { return x * constant(w); }, {f32({2})});
  const std::vector<Literal> x{make_literal<float>({2}, {3, 5})};
  EXPECT_EQ(view<float>(interpret(p, p.entry().name, x)[0])[1], 10);
  EXPECT_THROW(constant(w), ValueError) << "outside a trace";
}

TEST(Trace, numbers_are_weak) {
  const Program p = trace(
      [](const Tensor& x, const Tensor& i) {
        return std::vector<Tensor>{x * 2.5, i * 2, i * 2.5};
      },
      {f32({3}), i32({3})});
  EXPECT_EQ(p.entry().type(p.entry().outputs[0].value), f32({3}));
  EXPECT_EQ(p.entry().type(p.entry().outputs[1].value), i32({3}));
  EXPECT_EQ(p.entry().type(p.entry().outputs[2].value), f32({3}));
}

TEST(Trace, takes_parameters_in_their_order) {
  Params params;
  nn::init_linear(params, "a", 3, 4, 1);
  const Program p = trace([](const Params& q, const Tensor& x) { return nn::linear(q, "a", x); },
                          params, {f32({2, 3})}, {.inputs = {"x"}});
  ASSERT_EQ(p.entry().inputs.size(), 3u);
  EXPECT_EQ(p.entry().inputs[1].name, "params.a.w");
  EXPECT_EQ(p.entry().inputs[2].name, "params.a.b");
}

TEST(TrainStep, donates_parameters_and_state) {
  Params params;
  nn::init_linear(params, "a", 3, 2, 1);
  auto loss = [](const Params& q, const Tensor& x, const Tensor& y) {
    return cross_entropy(nn::linear(q, "a", x), y);
  };
  const Program p = train_step(loss, params, optim::momentum(0.1), {f32({4, 3}), i32({4})},
                               {.inputs = {"x", "y"}});
  std::string names;
  for (const Input& in : p.entry().inputs) names += in.name + (in.donate ? "! " : " ");
  EXPECT_EQ(names, "x y params.a.w! params.a.b! momentum.v.a.w! momentum.v.a.b! ");
  names.clear();
  for (const Output& out : p.entry().outputs) names += out.name + " ";
  EXPECT_EQ(names, "loss params.a.w params.a.b momentum.v.a.w momentum.v.a.b ");
}

// The update rules against the formulas of their papers, written out with numbers.
std::vector<double> one_step(const Optimizer& optimizer, const std::vector<double>& state) {
  Params params;
  params["w"] = make_tensor(make_literal<float>({2}, {1.0f, -2.0f}));
  auto loss = [](const Params& q, const Tensor& x) { return sum(q["w"] * x); };  // gradient: x
  const Program p = train_step(loss, params, optimizer, {f32({2})}, {.inputs = {"x"}});
  std::vector<Literal> inputs{make_literal<float>({2}, {0.5f, 3.0f}),
                              make_literal<float>({2}, {1.0f, -2.0f})};
  for (std::size_t i = 2; i < p.entry().inputs.size(); ++i) {
    inputs.push_back(splat(p.entry().type(p.entry().inputs[i].value), state[i - 2]));
  }
  return to_doubles(interpret(p, p.entry().name, inputs)[1]);
}

TEST(Optimizers, follow_their_formulas) {
  EXPECT_NEAR(one_step(optim::sgd(0.1), {})[0], 1 - 0.1 * 0.5, 1e-6);
  EXPECT_NEAR(one_step(optim::momentum(0.1, 0.9), {2.0})[1], -2 - 0.1 * (0.9 * 2 + 3), 1e-6);
  // Adam, third step: m = .9 * .2 + .1 g, v = .999 * .3 + .001 g^2, corrected by 1 - beta^3.
  const double g = 3, m = 0.9 * 0.2 + 0.1 * g, v = 0.999 * 0.3 + 0.001 * g * g;
  const double step =
      0.01 * (m / (1 - std::pow(0.9, 3))) / (std::sqrt(v / (1 - std::pow(0.999, 3))) + 1e-8);
  EXPECT_NEAR(one_step(optim::adam(0.01), {0.2, 0.3, 2.0})[1], -2 - step, 1e-6);
}

}  // namespace
}  // namespace heddle
