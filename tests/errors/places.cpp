// Errors of what is called with whole programs, trees and options carry the caller's line.
#include <cmath>
#include <limits>

#include "heddle/frontend/heddle.h"
#include "heddle/graph/binary.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

// The misuse stands on the line of the macro, and so does the error.
#define EXPECT_AT_THIS_LINE(error, misuse)                                                   \
  do {                                                                                       \
    const std::string text = testing::expect_error<error>([&] { misuse; });                  \
    EXPECT_NE(text.find("places.cpp:" + std::to_string(__LINE__) + ": "), std::string::npos) \
        << #misuse << "\n"                                                                   \
        << text;                                                                             \
  } while (false)

Program square() {
  return trace([](const Tensor& x) { return sum(x * x); }, {f32({3})}, {.inputs = {"x"}});
}
Program row() {
  return trace([](const Tensor& x) { return x * x; }, {f32({3})}, {.inputs = {"x"}});
}

TEST(Places, OfTraces) {
  const auto same = [](const Tensor& x) { return x; };
  const auto model = [](const Params& p, const Tensor& x) { return p["w"] * x; };
  const auto nothing = [](const Tensor&) { return Tensor(); };
  Params hollow;
  hollow["w"];
  EXPECT_AT_THIS_LINE(ValueError, trace(same, {f32({}), f32({})}));
  EXPECT_AT_THIS_LINE(ValueError, trace(same, {f32({})}, {.inputs = {"x", "y"}}));
  EXPECT_AT_THIS_LINE(ValueError, trace(same, {f32({})}, {.inputs = {"two words"}}));
  EXPECT_AT_THIS_LINE(ValueError, trace(same, {f32({})}, {.name = "1"}));
  EXPECT_AT_THIS_LINE(ValueError, trace(same, {f32({-1})}));
  EXPECT_AT_THIS_LINE(ValueError, trace(nothing, {f32({})}));
  EXPECT_AT_THIS_LINE(ValueError, trace(model, hollow, {f32({})}));
  EXPECT_AT_THIS_LINE(ValueError, train_step(model, hollow, optim::sgd(1), {f32({})}));
}

TEST(Places, OfDerivatives) {
  const Program p = square(), r = row();
  EXPECT_AT_THIS_LINE(ValueError, grad(p, "q"));
  EXPECT_AT_THIS_LINE(ValueError, grad(r, "x"));
  EXPECT_AT_THIS_LINE(ValueError, grad(p, {"x", "x"}));
  EXPECT_AT_THIS_LINE(ValueError, grad(p, std::vector<std::string>()));
  EXPECT_AT_THIS_LINE(ValueError, value_and_grad(p, "q"));
  EXPECT_AT_THIS_LINE(ValueError, build_backward_graph(p, 2, "x"));
  EXPECT_AT_THIS_LINE(ValueError, jvp(p, "q"));
  EXPECT_AT_THIS_LINE(ValueError, vjp(p, "q"));
  EXPECT_AT_THIS_LINE(ValueError, hvp(p, "q"));
  EXPECT_AT_THIS_LINE(ValueError, linearize(p, "q"));
  // The name is looked at before the outputs are.
  EXPECT_NE(testing::expect_error<ValueError>([&] { grad(r, "q"); }).find("'q'"),
            std::string::npos);
}

TEST(Places, OfPrograms) {
  const Program p = square();
  const std::vector<Literal> wrong{splat(f32({4}), 0)};
  EXPECT_AT_THIS_LINE(ParseError, parse("func", "p.heddle"));
  EXPECT_AT_THIS_LINE(ParseError, read_program("/nowhere/p.heddle"));
  EXPECT_AT_THIS_LINE(ValueError, interpret(p, "g", {}));
  EXPECT_AT_THIS_LINE(ValueError, interpret(p, "main", wrong));
  EXPECT_AT_THIS_LINE(ValueError, compile(p, {.threads = -1}));
  EXPECT_AT_THIS_LINE(ValueError, export_library({}, {.name = "x"}));
  EXPECT_AT_THIS_LINE(ValueError, export_library({{"f", p}}, {.name = "x y"}));
  EXPECT_AT_THIS_LINE(ValueError, Library().add("x y", p));
}

TEST(Places, OfLiteralsTreesAndOptimizers) {
  const Params empty;
  Params params;
  EXPECT_AT_THIS_LINE(ValueError, splat(i32({2}), 1.5));
  EXPECT_AT_THIS_LINE(ValueError, scalar(DType::u8, -1));
  EXPECT_AT_THIS_LINE(ValueError, make_literal<float>({3}, {1, 2}));
  EXPECT_AT_THIS_LINE(ValueError, full({2}, 1.5, {.dtype = DType::i32}));
  EXPECT_AT_THIS_LINE(ValueError, empty["w"]);
  EXPECT_AT_THIS_LINE(ValueError, params[".w"]);
  EXPECT_AT_THIS_LINE(ValueError, nn::linear(empty, "layer", zeros({2, 3})));
  EXPECT_AT_THIS_LINE(ValueError, optim::sgd(-1));
  EXPECT_AT_THIS_LINE(ValueError, optim::sgd(std::numeric_limits<double>::infinity()));
  EXPECT_AT_THIS_LINE(ValueError, optim::momentum(-1));
  EXPECT_AT_THIS_LINE(ValueError, optim::momentum(1, 1));
  EXPECT_AT_THIS_LINE(ValueError, optim::adam(-1));
  EXPECT_AT_THIS_LINE(ValueError, optim::adam(1, 1));
  EXPECT_AT_THIS_LINE(ValueError, optim::adam(1, 0.9, -0.1));
  EXPECT_AT_THIS_LINE(ValueError, optim::adam(1, 0.9, 0.9, -1e-8));
  EXPECT_AT_THIS_LINE(ValueError, optim::adam(1, 0.9, 0.9, NAN));
}

}  // namespace
}  // namespace heddle
